package io.plumbline.topology.assessment;

import io.plumbline.calibration.Amounts;
import io.plumbline.topology.assessment.KnownOrigins.Seen;
import io.plumbline.topology.windows.ClosedWindow;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Says what changed with a drift, as far as producers say where their rows come from.
 *
 * @param kind "change" where a header or tag has a value that came with the drift, "traffic" where none has, so that
 *     the requests changed, "unknown" where no producer says anything
 * @param changes the values that came with the drift, those of most rows first, at most {@link #MOST}
 * @param sentence both in words
 */
public record DriftCause(String kind, List<Change> changes, String sentence) {

    /** The most changes that a report names. */
    public static final int MOST = 5;

    private static final DriftCause UNKNOWN = new DriftCause(
            "unknown", List.of(), "no producer says what served the requests, so the cause is not known");

    public DriftCause {
        changes = List.copyOf(changes);
    }

    /**
     * A value that came with the drift.
     *
     * @param name the header or tag
     * @param value its new value
     * @param sinceMs start of the first window with it
     * @param share of the window's rows, in [0, 1]
     * @param before the value that most windows had before
     * @param windowsBefore windows nine tenths of whose rows had that
     * @param driftedBefore of these, drifted
     * @param levelBefore mean over these of the deciding statistic as a share of its threshold; null where none has one
     * @param comparison rows of this window by the values of the header, where it has several
     */
    public record Change(
            String name,
            String value,
            long sinceMs,
            double share,
            String before,
            long windowsBefore,
            long driftedBefore,
            @Nullable Double levelBefore,
            @Nullable Breakdown comparison) {

        String words() {
            String level = levelBefore == null
                    ? ""
                    : String.format(Locale.ROOT, ", at %.0f %% of the threshold on average", 100 * levelBefore);
            String compared = comparison == null ? "" : comparedWith(comparison);
            return String.format(
                    Locale.ROOT,
                    "%s is %s in %.0f %% of the rows, new since %s; with %s %d of %s had drifted%s%s",
                    name,
                    value,
                    100 * share,
                    Instant.ofEpochMilli(sinceMs),
                    before,
                    driftedBefore,
                    Amounts.count(windowsBefore, "window"),
                    level,
                    compared);
        }

        private String comparedWith(Breakdown both) {
            Breakdown.OfValue now = both.of(value);
            Breakdown.OfValue old = both.of(before);
            if (now == null || old == null) {
                return "";
            }
            List<String> parts = new ArrayList<>();
            add(parts, "FVU", now.fvu(), old.fvu());
            add(parts, "gap", now.faithfulnessGap(), old.faithfulnessGap());
            add(parts, "whitened mean shift", now.whitenedMeanShift(), old.whitenedMeanShift());
            return parts.isEmpty()
                    ? ""
                    : "; in this window, %s against %s: %s".formatted(value, before, String.join(", ", parts));
        }

        private static void add(List<String> parts, String what, @Nullable Double now, @Nullable Double old) {
            if (now != null && old != null) {
                parts.add(String.format(Locale.ROOT, "%s %.3g against %.3g", what, now, old));
            }
        }
    }

    /**
     * Returns the cause of a window's drift.
     *
     * @param known what is remembered of the windows before and of this one
     * @param comparisons rows of this window by the values of headers, as far as they were measured
     */
    static DriftCause of(ClosedWindow window, KnownOrigins known, Map<String, Breakdown> comparisons) {
        SortedMap<String, SortedMap<String, Long>> rows = KnownOrigins.rowsOf(window);
        if (rows.isEmpty()) {
            return UNKNOWN;
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
        List<Change> most = changes.stream()
                .sorted(Comparator.comparingDouble(Change::share).reversed())
                .limit(MOST)
                .toList();
        return most.isEmpty()
                ? new DriftCause(
                        "traffic",
                        most,
                        "no header or tag has a new value (%s): the requests changed"
                                .formatted(String.join(", ", rows.keySet())))
                : new DriftCause(
                        "change",
                        most,
                        "new with the drift: "
                                + most.stream().map(Change::words).collect(Collectors.joining("; ")));
    }

    /** Returns whether any producer says where its rows come from. */
    boolean isKnown() {
        return !kind.equals(UNKNOWN.kind);
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
