package io.plumbline.topology.report;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.plumbline.judgement.Verdict;
import java.util.Collections;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The report of one window about a model, whose sites are judged as one. It goes to the {@code window-reports} topic
 * under the name of the model, with the header {@link #HEADER}.
 */
public record ModelReport(
        @JsonPropertyDescription("the configured model") String model,

        @JsonPropertyDescription("event time at which the window begins")
        long windowStartMs,

        @JsonPropertyDescription("event time at which it ends")
        long windowEndMs,

        @JsonPropertyDescription("of the model: a window counts against it that is above at any site")
        Verdict verdict,

        @JsonPropertyDescription("one clause for the verdict")
        String reason,

        @JsonPropertyDescription("how many times its threshold the worst site is: above 1 the window counts towards a "
                + "drift; null where no site could be judged")
        @Nullable
        Double overThreshold,

        @JsonPropertyDescription("the site that is the most times its threshold; null where none could be judged")
        @Nullable
        String worstSite,

        @JsonPropertyDescription("of the sites above their thresholds, the first in the order of the configuration; "
                + "null where none is")
        @Nullable
        String firstSite,

        @JsonPropertyDescription("the sites that are above their thresholds in this window")
        List<String> sitesAbove,

        @JsonPropertyDescription("the sites that have drifted by their own verdict")
        List<String> driftedSites,

        @JsonPropertyDescription("the sites that have no window for this time")
        List<String> missingSites,

        @JsonPropertyDescription("how each site that has one stands, in the order of the configuration")
        List<SiteStanding> sites) {

    /** The header of such a report, which is no report of a window of one site. */
    public static final String HEADER = "plumbline.model";

    /** Returns the site that stands worst, of at least one. */
    public static SiteStanding worst(List<SiteStanding> sites) {
        return Collections.max(sites, SiteStanding.BADNESS);
    }
}
