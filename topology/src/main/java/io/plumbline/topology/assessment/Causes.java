package io.plumbline.topology.assessment;

import io.plumbline.topology.assessment.KnownOrigins.Seen;
import io.plumbline.topology.report.Breakdown;
import io.plumbline.topology.report.DriftCause;
import io.plumbline.topology.report.DriftCause.Change;
import io.plumbline.topology.windows.ClosedWindow;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Finds the values of headers and tags that came with a drift. */
final class Causes {

    private Causes() {}

    /**
     * Returns the cause of a window's drift.
     *
     * @param known what is remembered of the windows before and of this one
     * @param comparisons rows of this window by the values of headers, as far as they were measured
     */
    static DriftCause of(ClosedWindow window, KnownOrigins known, Map<String, Breakdown> comparisons) {
        SortedMap<String, SortedMap<String, Long>> rows = KnownOrigins.rowsOf(window);
        if (rows.isEmpty()) {
            return DriftCause.UNKNOWN;
        }
        // A change in the middle of a window may not have brought that one above the threshold yet.
        long fromMs = known.quietUntilMs() == SiteMemory.NEVER
                ? SiteMemory.NEVER
                : known.quietUntilMs() - (window.endMs() - window.startMs());
        long all = Math.max(1, window.moment().rows() + window.masked().total());
        List<Change> changes = new ArrayList<>();
        rows.forEach((name, values) -> {
            SortedMap<String, Seen> seen = known.names().getOrDefault(name, new TreeMap<>());
            values.forEach((value, count) -> {
                Seen now = seen.get(value);
                Map.Entry<String, Seen> before =
                        now == null || now.firstMs() < fromMs ? null : usualBefore(seen, now.firstMs());
                if (now != null && before != null) {
                    Seen then = before.getValue();
                    changes.add(new Change(
                            name,
                            value,
                            now.firstMs(),
                            Math.min(1.0, (double) count / all),
                            before.getKey(),
                            then.windows(),
                            then.drifted(),
                            then.levels() == 0 ? null : Double.valueOf(then.levelSum() / then.levels()),
                            comparisons.get(name)));
                }
            });
        });
        return DriftCause.of(rows.keySet(), changes);
    }

    /** The value that most windows had before this time, or null. */
    private static Map.@Nullable Entry<String, Seen> usualBefore(SortedMap<String, Seen> seen, long firstMs) {
        return seen.entrySet().stream()
                .filter(one ->
                        one.getValue().firstMs() < firstMs && one.getValue().windows() > 0)
                .max(Comparator.comparingLong(one -> one.getValue().windows()))
                .orElse(null);
    }
}
