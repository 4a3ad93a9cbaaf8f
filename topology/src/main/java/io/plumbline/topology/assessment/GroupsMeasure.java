package io.plumbline.topology.assessment;

import io.plumbline.features.ActivityChange;
import io.plumbline.features.ActivityComparison;
import io.plumbline.groups.Familiarity;
import io.plumbline.groups.RecentGroups;
import io.plumbline.groups.RecentGroups.Seen;
import io.plumbline.groups.UnusualRequest;
import io.plumbline.refit.SampleRows;
import io.plumbline.topology.panes.WindowNotes;
import io.plumbline.topology.report.Groups;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Tells the groups of like requests of the last windows. Who is in a group is known when the window is judged, from
 * what is remembered; the features of {@value #DESCRIBED} groups are compared then, on rows that are encoded.
 */
final class GroupsMeasure implements Measure<Groups> {

    private static final int NEAREST = 3;
    private static final int DESCRIBED = 3;
    private static final int FEATURES = 5;

    private final boolean hasCodes;
    private final ActivityComparison activity;

    GroupsMeasure(boolean hasCodes, ActivityComparison activity) {
        this.hasCodes = hasCodes;
        this.activity = activity;
    }

    @Override
    public Telling<Groups> of(WindowView view) {
        SampleRows head = view.sample().head();
        WindowNotes notes = view.window().notes();
        return (decision, told) -> groups(decision.groups(), head, notes);
    }

    private @Nullable Groups groups(RecentGroups.@Nullable Step step, SampleRows head, WindowNotes notes) {
        if (step == null) {
            return null;
        }
        List<Seen> most = step.groups().stream().limit(Groups.MOST).toList();
        return new Groups(
                step.requests(),
                step.unusual(),
                IntStream.range(0, most.size())
                        .mapToObj(place -> group(most.get(place), place < DESCRIBED, head, notes))
                        .toList());
    }

    private Groups.Group group(Seen seen, boolean described, SampleRows head, WindowNotes notes) {
        Familiarity familiarity = seen.group().familiarity();
        Set<Long> requests =
                seen.group().members().stream().map(UnusualRequest::request).collect(Collectors.toSet());
        return new Groups.Group(
                seen.number(),
                seen.group().size(),
                seen.group().share(),
                seen.inWindow(),
                seen.group().evidence(),
                seen.group().shareOfEvidence(),
                familiarity instanceof Familiarity.New
                        ? "new"
                        : familiarity instanceof Familiarity.Known ? "known" : "unknown",
                familiarity instanceof Familiarity.Known known ? known.share() : null,
                seen.firstMs(),
                seen.lastMs(),
                seen.group().nearest(NEAREST).stream()
                        .map(UnusualRequest::label)
                        .toList(),
                origin(requests, notes),
                described ? features(requests, head) : List.of());
    }

    /** Returns the values that all requests of the group share, but for those without a header in this window. */
    private static Map<String, String> origin(Set<Long> requests, WindowNotes notes) {
        Map<String, String> shared = new TreeMap<>();
        boolean first = true;
        for (long request : requests) {
            Map<String, String> said = notes.originOf(request).values();
            if (!said.isEmpty()) {
                if (first) {
                    shared.putAll(said);
                    first = false;
                } else {
                    shared.entrySet().retainAll(said.entrySet());
                }
            }
        }
        return shared;
    }

    private List<ActivityChange> features(Set<Long> requests, SampleRows head) {
        int[] own = IntStream.range(0, head.rows())
                .filter(row -> requests.contains(head.requests()[row]))
                .toArray();
        if (!hasCodes || own.length == 0) {
            return List.of();
        }
        SampleRows rows = head.select(own);
        return activity.changes(rows.codes(), rows.requests(), ActivityComparison.REPORTED).features().stream()
                .filter(change -> change.direction().equals(ActivityChange.MORE_ACTIVE))
                .limit(FEATURES)
                .toList();
    }
}
