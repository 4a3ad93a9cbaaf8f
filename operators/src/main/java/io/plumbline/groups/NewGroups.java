package io.plumbline.groups;

import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.geometry.Value;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Puts the largest group of new traffic among the statistics of a window. */
public final class NewGroups {

    /** The reason why a baseline's site has no such statistic. */
    public static final String NOT_KEPT =
            "the baseline does not say which groups its own requests form: build it again from its recording";

    private NewGroups() {}

    /**
     * Returns the assessment with {@code new_group} and {@code requests_in_groups}.
     *
     * @param baseline groups of the baseline's own requests; null where it does not keep them
     * @param requests that were looked at: where the unusual ones are a sample, those that the sample came among
     * @param groups of them
     */
    public static GapAssessment addTo(
            GapAssessment assessment, @Nullable KnownGroups baseline, long requests, List<TrafficGroup> groups) {
        int largest = groups.stream()
                .filter(group -> group.familiarity() instanceof Familiarity.New)
                .mapToInt(TrafficGroup::size)
                .max()
                .orElse(0);
        return assessment
                .with(Statistic.NEW_GROUP, baseline == null ? new Value.Undefined(NOT_KEPT) : new Value.Known(largest))
                .with(Statistic.REQUESTS_IN_GROUPS, (double) requests);
    }
}
