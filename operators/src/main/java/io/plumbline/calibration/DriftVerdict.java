package io.plumbline.calibration;

/** What one window says about its site. */
public sealed interface DriftVerdict {

    /** The site is as the baseline has it, or not yet for long enough above the threshold. */
    record Aligned(double value, double threshold) implements DriftVerdict {}

    /** The site has drifted and not come back below the clear level. */
    record Drifted(double value, double threshold) implements DriftVerdict {}

    /** The window cannot be judged: too few rows, no eigengap, no baseline. Neither good nor bad news. */
    record Undecided(String reason) implements DriftVerdict {}
}
