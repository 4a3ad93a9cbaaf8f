package io.plumbline.topology.adaptation;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Says what became of a request, with its numbers. On the {@code adaptation-reports} topic: JSON with snake-case keys.
 *
 * @param windowStartMs of the window that asked; 0 for a revert
 * @param outcome what became of it
 * @param version of the decoder published, or of the candidate that is proposed or withdrawn, else 0
 * @param rows rows in the window
 * @param pooledWindows drifted windows whose rows are pooled, this one among them
 * @param pooledRows distinct rows of these windows: what a refit is made of and judged on
 * @param fitRows sampled rows that the judged decoder was fitted on
 * @param validationRows sampled rows of other requests, judged on
 * @param faithfulnessGapBefore of the decoder in service on the validation rows, likewise the three below
 * @param candidates every candidate with its figures
 * @param gate what the gate found, test by test; null when nothing came to the gate
 */
public record AdaptationReport(
        String site,
        long windowStartMs,
        long windowEndMs,
        Outcome outcome,
        String reason,
        long version,
        long rows,
        int pooledWindows,
        int pooledRows,
        int fitRows,
        int validationRows,
        @Nullable String candidate,
        @Nullable Double faithfulnessGapBefore,
        @Nullable Double faithfulnessGapAfter,
        @Nullable Double fvuBefore,
        @Nullable Double fvuAfter,
        List<CandidateFigures> candidates,
        @Nullable GateVerdict gate,
        double seconds) {

    /**
     * The figures of one candidate: FVU where it was fitted, where it was chosen by and on rows of the baseline, or why
     * it could not be fitted or was passed over. A single candidate is not chosen, and has the first only.
     *
     * @param klValidation nats a row, where candidates are chosen by it
     */
    public record CandidateFigures(
            String candidate,
            @Nullable Double fvuFit,
            @Nullable Double fvuValidation,
            @Nullable Double fvuInDistribution,
            @Nullable Double klValidation,
            @Nullable String refusal) {}

    /** Returns a report without figures. */
    static AdaptationReport plain(String site, long windowEndMs, Outcome outcome, String reason, long version) {
        return new AdaptationReport(
                site,
                0,
                windowEndMs,
                outcome,
                reason,
                version,
                0,
                0,
                0,
                0,
                0,
                null,
                null,
                null,
                null,
                null,
                List.of(),
                null,
                0.0);
    }

    /** Returns this report of a decoder that got a version. */
    public AdaptationReport published(long newVersion) {
        return with(outcome, reason, newVersion);
    }

    /** Returns the same figures with another end. */
    AdaptationReport with(Outcome newOutcome, String newReason, long newVersion) {
        return with(newOutcome, newReason, newVersion, pooledWindows, pooledRows);
    }

    /** Returns this report with what is pooled. */
    AdaptationReport pooled(PooledRows pool) {
        return with(outcome, reason, version, pool.windows(), pool.size());
    }

    private AdaptationReport with(
            Outcome newOutcome, String newReason, long newVersion, int newPooledWindows, int newPooledRows) {
        return new AdaptationReport(
                site,
                windowStartMs,
                windowEndMs,
                newOutcome,
                newReason,
                newVersion,
                rows,
                newPooledWindows,
                newPooledRows,
                fitRows,
                validationRows,
                candidate,
                faithfulnessGapBefore,
                faithfulnessGapAfter,
                fvuBefore,
                fvuAfter,
                candidates,
                gate,
                seconds);
    }
}
