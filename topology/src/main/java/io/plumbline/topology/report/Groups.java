package io.plumbline.topology.report;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.plumbline.features.ActivityChange;
import java.util.List;
import java.util.Map;
import java.util.function.BiConsumer;
import org.jspecify.annotations.Nullable;

/** Says which requests of the last windows are unlike the baseline's and like each other. */
public record Groups(
        @JsonPropertyDescription("requests of the windows that are pooled, some 120")
        long requests,

        @JsonPropertyDescription("of these, unlike the baseline's")
        long unusual,

        @JsonPropertyDescription("groups of three requests and more, most evidence first")
        List<Group> groups) {

    /** The most groups that a report names. */
    public static final int MOST = 10;

    private static final WindowMetric SHARE = WindowMetric.family(
            "plumbline_group_requests_ratio",
            "Requests of the last windows that are in a group of like ones, by the group's number, as a share of all",
            "group");
    private static final WindowMetric NEW = WindowMetric.family(
            "plumbline_new_groups", "Groups of like requests in the last windows that the baseline has none like");

    static final BiConsumer<Groups, Samples> SAMPLES = (groups, samples) -> {
        samples.set(
                NEW,
                groups.groups.stream().filter(group -> group.kind.equals("new")).count());
        groups.groups.forEach(group -> samples.set(SHARE, Integer.toString(group.number), group.share));
    };

    public Groups {
        groups = List.copyOf(groups);
    }

    /** A group of requests. */
    public record Group(
            @JsonPropertyDescription("by which it is known in later windows")
            int number,

            @JsonPropertyDescription("different requests in it")
            int requests,

            @JsonPropertyDescription("its share of all requests")
            double share,

            @JsonPropertyDescription("of its requests, those of this window")
            int inWindow,

            @JsonPropertyDescription("`|sum of directions|^2 - n`; clean stretches have at most 2")
            double evidence,

            @JsonPropertyDescription("its share of the evidence of all groups")
            double evidenceShare,

            @JsonPropertyDescription("`new`, `known`, or `unknown` where the baseline does not keep its own groups")
            String kind,

            @JsonPropertyDescription("share of the baseline's requests that are like it; null but of a known one")
            @Nullable
            Double baselineShare,

            @JsonPropertyDescription("start of the first window with it")
            long firstMs,

            @JsonPropertyDescription("end of the last window with it")
            long lastMs,

            @JsonPropertyDescription("the three requests nearest to its centre")
            List<String> nearest,

            @JsonPropertyDescription("headers and tags that all of its requests in this window share")
            Map<String, String> origin,

            @JsonPropertyDescription("features that are more active on its rows in this window than on the baseline's")
            List<ActivityChange> features) {}
}
