package io.plumbline.topology.cli;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.RecordedWindow;
import io.plumbline.baseline.RequestModel;
import io.plumbline.baseline.SampledReconstruction;
import io.plumbline.explainer.Explainer;
import io.plumbline.features.ActivityChange;
import io.plumbline.features.ActivityChanges;
import io.plumbline.features.ActivityComparison;
import io.plumbline.features.FailingFeatures;
import io.plumbline.groups.Familiarity;
import io.plumbline.groups.TrafficGroup;
import io.plumbline.groups.UnusualRequest;
import io.plumbline.groups.UnusualRequests;
import io.plumbline.judgement.Amounts;
import io.plumbline.moments.RowSample;
import io.plumbline.refit.SampleRows;
import io.plumbline.requests.RequestTotals;
import io.plumbline.topology.report.FeatureName;
import io.plumbline.topology.report.Json;
import io.plumbline.wire.Printable;
import java.io.IOException;
import java.io.PrintWriter;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Prints what {@code plumbline assess --groups} says of groups of requests.
 *
 * @param missing why there is nothing to say; null where there is
 * @param requests of the window that were looked at
 * @param unusual how many of them are unlike the baseline's
 * @param groups most evidence first
 * @param names of the features of all groups, by index
 */
record ListedGroups(
        @Nullable String missing, long requests, long unusual, List<Group> groups, Map<Integer, FeatureName> names) {

    /** The most groups that are listed, and that rows are gathered of. */
    private static final int MOST = 10;

    /** The most features that are listed of a group. */
    private static final int FEATURES = 5;

    private static final int NEAREST = 3;

    /**
     * A group as it is printed.
     *
     * @param number from 1, by which {@code plumbline export-training} finds it
     * @param kind {@code new}, {@code known}, or {@code unknown} where the baseline does not keep its own groups
     * @param shareInBaseline null but of a known one
     * @param moreActive how many features are active more often than on the baseline's rows
     * @param moreActiveFeatures the surest of them
     * @param activityUndefined why no features are listed; null where they were compared
     */
    record Group(
            int number,
            int requests,
            double shareOfRequests,
            double evidence,
            double shareOfEvidence,
            String kind,
            @Nullable Double shareInBaseline,
            List<String> nearestRequests,
            int moreActive,
            List<ActivityChange> moreActiveFeatures,
            @Nullable String activityUndefined) {}

    /** Groups the requests of a window, for which it is read once more where there are groups. */
    static ListedGroups of(
            FeatureOptions options, Explainer trained, Baseline normal, ActivationStream stream, RecordedWindow window)
            throws IOException {
        RequestModel model = normal.requests();
        RequestTotals totals = window.totals();
        if (model == null || totals == null) {
            return new ListedGroups(RequestModel.MISSING, 0, 0, List.of(), Map.of());
        }
        UnusualRequests pool = UnusualRequests.of(model.groupSpace()).add(totals.totals());
        List<TrafficGroup> found = found(pool, normal);
        List<ActivityChanges> activity = activity(options.comparison(normal), trained, stream, found);
        List<Group> groups = new ArrayList<>();
        for (int i = 0; i < found.size(); i++) {
            groups.add(group(i + 1, found.get(i), activity.get(i)));
        }
        return new ListedGroups(
                null,
                pool.requests(),
                pool.unusual(),
                groups,
                trained.hasCodes()
                        ? options.names(trained)
                                .of(groups.stream()
                                        .flatMap(group -> group.moreActiveFeatures().stream())
                                        .mapToInt(ActivityChange::feature))
                        : Map.of());
    }

    /** Returns the groups of a pool in the order in which they are listed. */
    static List<TrafficGroup> found(UnusualRequests pool, Baseline normal) {
        return TrafficGroup.of(pool, normal.groups()).stream().limit(MOST).toList();
    }

    private static Group group(int number, TrafficGroup group, ActivityChanges activity) {
        List<ActivityChange> more = activity.features().stream()
                .filter(change -> change.direction().equals(ActivityChange.MORE_ACTIVE))
                .toList();
        Familiarity familiarity = group.familiarity();
        return new Group(
                number,
                group.size(),
                group.share(),
                group.evidence(),
                group.shareOfEvidence(),
                familiarity instanceof Familiarity.New
                        ? "new"
                        : familiarity instanceof Familiarity.Known ? "known" : "unknown",
                familiarity instanceof Familiarity.Known known ? known.share() : null,
                group.nearest(NEAREST).stream().map(UnusualRequest::label).toList(),
                activity.moreActive(),
                more.subList(0, Math.min(FEATURES, more.size())),
                activity.undefined());
    }

    /** Returns for each group how often features are active on the rows of its requests, on a sample of these. */
    private static List<ActivityChanges> activity(
            ActivityComparison comparison, Explainer trained, ActivationStream stream, List<TrafficGroup> groups)
            throws IOException {
        Map<String, RowSample> samples = new HashMap<>();
        List<RowSample> byGroup = new ArrayList<>();
        for (TrafficGroup group : groups) {
            RowSample sample = RowSample.ofCapacity(FailingFeatures.ROWS);
            byGroup.add(sample);
            group.members().forEach(member -> samples.put(member.label(), sample));
        }
        if (trained.hasCodes() && !groups.isEmpty()) {
            int[] number = {0};
            stream.forEach("groups", request -> {
                RowSample sample = samples.get(Integer.toString(number[0]++));
                if (sample != null) {
                    SampledReconstruction.offer(request, sample);
                }
            });
        }
        List<ActivityChanges> changes = new ArrayList<>();
        for (RowSample sample : byGroup) {
            if (trained.hasCodes()) {
                SampleRows rows = FailingFeatures.encoded(trained, sample.rows());
                changes.add(comparison.changes(rows.codes(), rows.requests(), trained.features()));
            } else {
                changes.add(ActivityChanges.notCompared("the explainer has no features"));
            }
        }
        return changes;
    }

    void putInto(Answer answer) {
        if (missing != null) {
            answer.putUndefined("groups", missing);
            return;
        }
        answer.put("unusual_requests", unusual);
        answer.put("groups", Json.tree(groups));
        answer.put("group_feature_names", Json.tree(names));
    }

    void print(PrintWriter out) {
        out.println();
        if (missing != null) {
            out.println("no groups of requests: " + missing);
            out.flush();
            return;
        }
        out.println(String.format(
                Locale.ROOT,
                "unusual: %,d of %s, at most a tenth of clean ones is; %s of %d or more that are like each other",
                unusual,
                Amounts.count(requests, "request"),
                Amounts.count(groups.size(), "group"),
                TrafficGroup.FEWEST));
        groups.forEach(group -> print(group, out));
        out.flush();
    }

    private void print(Group group, PrintWriter out) {
        out.println();
        out.println(String.format(
                Locale.ROOT,
                "group %d: %s, %.1f %% of all; %s",
                group.number(),
                Amounts.count(group.requests(), "request"),
                100.0 * group.shareOfRequests(),
                kind(group)));
        out.println(String.format(
                Locale.ROOT,
                "  evidence %.1f, %.0f %% of that of all groups; nearest to the centre: %s",
                group.evidence(),
                100.0 * group.shareOfEvidence(),
                group.nearestRequests().stream().map(Printable::of).collect(Collectors.joining(", "))));
        if (group.activityUndefined() != null) {
            out.println("  activity not compared: " + group.activityUndefined());
            return;
        }
        out.println(
                "  %s more active than on the baseline's rows".formatted(Amounts.count(group.moreActive(), "feature")));
        for (ActivityChange change : group.moreActiveFeatures()) {
            FeatureName name = names.get(change.feature());
            out.println(String.format(
                            Locale.ROOT,
                            "%9d  active in %.5f, in baseline %.5f  p %s",
                            change.feature(),
                            change.frequency(),
                            change.frequencyBaseline(),
                            change.pValueText())
                    + ListedFeatures.called(name));
        }
    }

    private static String kind(Group group) {
        return group.shareInBaseline() == null
                ? group.kind().equals("new")
                        ? "new: the baseline has no group like it"
                        : "new or known: the baseline does not keep its own groups, build it again"
                : String.format(
                        Locale.ROOT,
                        "known: %.1f %% of the baseline's requests are like it",
                        100.0 * group.shareInBaseline());
    }
}
