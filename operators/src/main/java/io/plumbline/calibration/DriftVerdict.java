package io.plumbline.calibration;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** The verdict of one window about its site. */
public sealed interface DriftVerdict {

    /** Returns which of the three it is. */
    Verdict kind();

    /** Returns its name in reports and metrics: {@code aligned}, {@code drifted} or {@code undecided}. */
    default String label() {
        return kind().label();
    }

    /**
     * Returns the one clause that goes with the verdict, about the statistic of this name. What its threshold rests on
     * is the {@link Basis}.
     */
    String reason(String statistic);

    /** Says that the site is as the baseline has it, or not yet for long enough above the threshold. */
    record Aligned(double value, double threshold, @Nullable Basis basis) implements DriftVerdict {
        @Override
        public Verdict kind() {
            return Verdict.ALIGNED;
        }

        @Override
        public String reason(String statistic) {
            return compared(statistic, value, threshold);
        }
    }

    /** Says that the site has drifted and not come back below the clear level. */
    record Drifted(double value, double threshold, @Nullable Basis basis) implements DriftVerdict {
        @Override
        public Verdict kind() {
            return Verdict.DRIFTED;
        }

        @Override
        public String reason(String statistic) {
            return compared(statistic, value, threshold);
        }
    }

    /** Says that the window cannot be judged: too few rows, no eigengap, no baseline. Neither good nor bad news. */
    record Undecided(String reason) implements DriftVerdict {
        @Override
        public Verdict kind() {
            return Verdict.UNDECIDED;
        }

        @Override
        public String reason(String statistic) {
            return reason;
        }
    }

    private static String compared(String statistic, double value, double threshold) {
        return String.format(
                Locale.ROOT,
                "%s = %.4g is %s the threshold %.4g",
                statistic,
                value,
                value > threshold ? "above" : "not above",
                threshold);
    }
}
