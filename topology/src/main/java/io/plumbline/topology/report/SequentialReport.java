package io.plumbline.topology.report;

import org.jspecify.annotations.Nullable;

/**
 * Says what one statistic's windows say together, see {@link io.plumbline.judgement.SequentialDetector}.
 *
 * @param statistic its name
 * @param evidence after this window; null where the window was not taken
 * @param level evidence at which there is an alarm: its average run length in windows
 * @param alarm whether this window brought one; null where it was not taken
 * @param windows windows taken since the detector started
 * @param mode what an alarm over requests supposes, see {@link io.plumbline.judgement.RequestDetector.Mode}:
 *     {@code conformal}, or {@code tail_model}, which is a warning; null for statistics of whole windows
 * @param passedOver why the window was not taken; null where it was
 */
public record SequentialReport(
        String statistic,
        @Nullable Double evidence,
        double level,
        @Nullable Boolean alarm,
        long windows,
        @Nullable String mode,
        @Nullable String passedOver) {

    /**
     * Returns {@code log(1 + evidence) / log(1 + level)} in [0, 1], 1 being an alarm; null where the window was not
     * taken.
     */
    public @Nullable Double share() {
        return evidence == null ? null : Double.valueOf(Math.min(1.0, Math.log1p(evidence) / Math.log1p(level)));
    }
}
