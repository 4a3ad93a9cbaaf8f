package io.plumbline.topology.report;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import com.fasterxml.jackson.annotation.JsonValue;
import io.plumbline.causal.Figure;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Says how the explainer that is in no service does on the rows of the window, beside the one that is. */
public record CandidateReport(
        @JsonPropertyDescription("`candidate`, or once that serves `trained`: the explainer whose place it took")
        String explainer,

        @JsonPropertyDescription("SHA-256 of its trained decoder")
        String explainerSha256,

        @JsonPropertyDescription("whether it reconstructs `better` or `worse` than the one in service beyond chance, "
                + "else `alike`; `unknown` with fewer than 10 requests")
        Standing standing,

        @JsonPropertyDescription("rows that both explained") int rows,

        @JsonPropertyDescription("requests of these rows") int requests,

        @JsonPropertyDescription("its FVU on these rows; null where they do not vary") @Nullable
        Double fvu,

        @JsonPropertyDescription("that of the explainer in service, with the decoder in service") @Nullable
        Double fvuInService,

        @JsonPropertyDescription("half the 95 % interval of their difference, over requests") @Nullable
        Double fvuHalfWidth,

        @JsonPropertyDescription("of a site with `downstream`: its figures as under `downstream`, on the same requests")
        @Nullable
        Map<String, Figure> downstream,

        @JsonPropertyDescription("its active features a row, as a mean")
        double activePerRow,

        @JsonPropertyDescription("those of the explainer in service")
        double activePerRowInService,

        @JsonPropertyDescription("how many of its features are active on any of the rows")
        int featuresSeen,

        @JsonPropertyDescription("those of the explainer in service")
        int featuresSeenInService,

        @JsonPropertyDescription("the last windows that were compared, as far as `better` looks back")
        int windows,

        @JsonPropertyDescription("those of them in which it reconstructed better")
        int windowsBetter,

        @JsonPropertyDescription("whether this window asks to propose it")
        boolean proposes,

        @JsonPropertyDescription("watched features of the site's own explainer that the candidate has no column for, "
                + "with a cosine of .9 or more")
        List<Integer> lostWatched) {

    /** Says how it stands beside the explainer in service. */
    public enum Standing {
        BETTER,
        WORSE,
        ALIKE,
        UNKNOWN;

        /** Returns the name in JSON. */
        @JsonValue
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    private static final WindowMetric FVU = WindowMetric.family(
            "plumbline_candidate_fraction_of_variance_unexplained",
            "FVU of the explainer that is measured beside the one in service; may exceed 1");
    private static final WindowMetric FVU_IN_SERVICE = WindowMetric.family(
            "plumbline_candidate_in_service_fraction_of_variance_unexplained",
            "FVU of the explainer in service, on the rows on which another is measured beside it; may exceed 1");
    private static final WindowMetric WINDOWS_BETTER = WindowMetric.family(
            "plumbline_candidate_better_windows",
            "Of the last windows those in which the explainer that is measured beside the one in service reconstructed"
                    + " better beyond chance");
    private static final WindowMetric ACTIVE = WindowMetric.family(
            "plumbline_candidate_active_features",
            "Mean number of active features a row of the explainer that is measured beside the one in service");

    static final BiConsumer<CandidateReport, Samples> SAMPLES =
            (candidate, samples) -> samples.set(FVU, candidate.fvu())
                    .set(FVU_IN_SERVICE, candidate.fvuInService())
                    .set(WINDOWS_BETTER, candidate.windowsBetter())
                    .set(ACTIVE, candidate.activePerRow());

    public CandidateReport {
        lostWatched = List.copyOf(lostWatched);
    }
}
