package io.plumbline.adaptation;

import org.jspecify.annotations.Nullable;

/** Whether a refitted decoder may replace the one in service, with the numbers the answer rests on. */
public sealed interface GateDecision {

    Figures figures();

    /** The refit goes into service. */
    record Publish(Figures figures) implements GateDecision {}

    /** The decoder in service stays. */
    record Refuse(Figures figures, String reason) implements GateDecision {}

    /**
     * Measured on held-out rows.
     *
     * @param before the decoder in service
     * @param after the proposed decoder
     * @param gapBefore gap of the decoder in service to the active subspace of the held-out rows; null where that is not
     *     identified
     * @param gapAfter the same of the proposed decoder
     */
    record Figures(
            int rank,
            Reconstruction before,
            Reconstruction after,
            @Nullable Double gapBefore,
            @Nullable Double gapAfter) {

        /** The share of the FVU taken away, {@code (before - after) / before}; 0 when there was nothing to improve. */
        public double improvement() {
            return before.fvu() > 0.0 ? (before.fvu() - after.fvu()) / before.fvu() : 0.0;
        }
    }
}
