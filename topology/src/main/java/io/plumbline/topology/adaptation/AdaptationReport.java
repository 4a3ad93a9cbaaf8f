package io.plumbline.topology.adaptation;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.plumbline.topology.assessment.AdaptationMessage.Adapt;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Says what became of a request, with its numbers. On the {@code adaptation-reports} topic: JSON with snake-case keys.
 */
public record AdaptationReport(
        @JsonPropertyDescription("the site") String site,

        @JsonPropertyDescription(
                "event time at which the window that asked begins; 0 for a return of the trained decoder")
        long windowStartMs,

        @JsonPropertyDescription("event time at which it ends")
        long windowEndMs,

        @JsonPropertyDescription("how the request ended ([all outcomes](../concepts/swaps.md#reports))")
        Outcome outcome,

        @JsonPropertyDescription("a sentence for it") String reason,

        @JsonPropertyDescription("version of the decoder that was published, or of the candidate; otherwise 0")
        long version,

        @JsonPropertyDescription("rows in the window") long rows,

        @JsonPropertyDescription("drifted windows whose rows are pooled")
        int pooledWindows,

        @JsonPropertyDescription("distinct rows of these windows")
        int pooledRows,

        @JsonPropertyDescription("rows that the judged decoder was fitted on")
        int fitRows,

        @JsonPropertyDescription("rows of other requests, judged on")
        int validationRows,

        @JsonPropertyDescription("what was chosen") @Nullable
        String candidate,

        @JsonPropertyDescription("gap of the decoder in service, on the validation rows") @Nullable
        Double faithfulnessGapBefore,

        @JsonPropertyDescription("gap of the refit on the same rows") @Nullable
        Double faithfulnessGapAfter,

        @JsonPropertyDescription("FVU of the decoder in service on the same rows") @Nullable
        Double fvuBefore,

        @JsonPropertyDescription("FVU of the refit on the same rows") @Nullable
        Double fvuAfter,

        @JsonPropertyDescription("every candidate with its figures")
        List<CandidateFigures> candidates,

        @JsonPropertyDescription("what the gate found, test by test, with its figures; `kl_*` where the model was run; "
                + "null when nothing came to the gate")
        @Nullable
        GateVerdict gate,

        @JsonPropertyDescription("how long it took") double seconds) {

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
        return of(site, 0, windowEndMs, outcome, reason, version, 0, List.of(), 0.0);
    }

    /**
     * Returns a report on a request without the figures of a gate.
     *
     * @param blocks the reports on the blocks that were refitted, whose rows are added up
     */
    static AdaptationReport of(
            String site, Adapt request, Outcome outcome, String reason, List<AdaptationReport> blocks, double seconds) {
        return of(
                site,
                request.windowStartMs(),
                request.windowEndMs(),
                outcome,
                reason,
                0,
                request.rows(),
                blocks,
                seconds);
    }

    private static AdaptationReport of(
            String site,
            long windowStartMs,
            long windowEndMs,
            Outcome outcome,
            String reason,
            long version,
            long rows,
            List<AdaptationReport> blocks,
            double seconds) {
        return new AdaptationReport(
                site,
                windowStartMs,
                windowEndMs,
                outcome,
                reason,
                version,
                rows,
                blocks.stream().mapToInt(AdaptationReport::pooledWindows).max().orElse(0),
                blocks.stream().mapToInt(AdaptationReport::pooledRows).sum(),
                blocks.stream().mapToInt(AdaptationReport::fitRows).sum(),
                blocks.stream().mapToInt(AdaptationReport::validationRows).sum(),
                null,
                null,
                null,
                null,
                null,
                List.of(),
                null,
                seconds);
    }

    /** Returns this report of a decoder that got a version. */
    public AdaptationReport published(long newVersion) {
        return with(outcome, reason, newVersion);
    }

    /** Returns the same figures with another end. */
    AdaptationReport with(Outcome newOutcome, String newReason, long newVersion) {
        return with(newOutcome, newReason, newVersion, pooledWindows, pooledRows);
    }

    /** Returns this report with what is pooled of each block. */
    AdaptationReport pooled(List<PooledRows> pools) {
        int windows = pools.stream().mapToInt(PooledRows::windows).max().orElse(0);
        return with(
                outcome,
                reason,
                version,
                windows,
                pools.stream().mapToInt(PooledRows::size).sum());
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
