package io.plumbline.topology.adaptation;

import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * What became of a request, with its numbers. On the {@code adaptation-reports} topic: JSON with snake-case keys.
 *
 * @param windowStartMs of the window that asked; 0 for a revert
 * @param outcome {@code published}, {@code kept} (no candidate was better), {@code refused} (by the gate),
 *     {@code reverted} or {@code failed}
 * @param version of the decoder published, else 0
 * @param rows rows in the window
 * @param fitRows sampled rows fitted on
 * @param validationRows sampled rows of other requests, judged on
 * @param faithfulnessGapBefore of the decoder in service on the validation rows, likewise the three below
 * @param candidates every candidate with its figures
 */
public record AdaptationReport(
        String site,
        long windowStartMs,
        long windowEndMs,
        String outcome,
        String reason,
        long version,
        long rows,
        int fitRows,
        int validationRows,
        @Nullable String candidate,
        @Nullable Double faithfulnessGapBefore,
        @Nullable Double faithfulnessGapAfter,
        @Nullable Double fvuBefore,
        @Nullable Double fvuAfter,
        List<CandidateFigures> candidates,
        double seconds) {

    public static final String PUBLISHED = "published";
    public static final String KEPT = "kept";
    public static final String REFUSED = "refused";
    public static final String REVERTED = "reverted";
    public static final String FAILED = "failed";

    /** Every outcome there is. */
    public static final List<String> OUTCOMES = List.of(PUBLISHED, KEPT, REFUSED, REVERTED, FAILED);

    /** One candidate: FVU where it was fitted and where it was judged, or why it could not be fitted. */
    public record CandidateFigures(
            String candidate,
            @Nullable Double fvuFit,
            @Nullable Double fvuValidation,
            @Nullable String refusal) {}

    /** The same report of a decoder that got this version. */
    public AdaptationReport published(long newVersion) {
        return new AdaptationReport(
                site,
                windowStartMs,
                windowEndMs,
                outcome,
                reason,
                newVersion,
                rows,
                fitRows,
                validationRows,
                candidate,
                faithfulnessGapBefore,
                faithfulnessGapAfter,
                fvuBefore,
                fvuAfter,
                candidates,
                seconds);
    }
}
