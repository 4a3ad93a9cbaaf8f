package io.plumbline.topology.report;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import io.plumbline.judgement.Amounts;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Collection;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.function.BiConsumer;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Says what changed with a drift, as far as producers say where their rows come from. */
public record DriftCause(
        @JsonPropertyDescription(
                "`change`: a header or tag has a value that came with the drift. `traffic`: none has. `unknown`: "
                        + "no producer says anything")
        String kind,

        @JsonPropertyDescription("the values that came with the drift, those of most rows first")
        List<Change> changes,

        @JsonPropertyDescription("both in words") String sentence) {

    private static final WindowMetric CHANGE = WindowMetric.family(
            "plumbline_drift_change_ratio",
            "While a site is drifted, share of the window's rows with a value of a header or tag that came with the"
                    + " drift",
            "change");

    /** A name and a value may each have spaces in them; a name has no {@code =}, so two changes have two labels. */
    static final BiConsumer<DriftCause, Samples> SAMPLES = (cause, samples) -> cause.changes()
            .forEach(change -> samples.set(CHANGE, change.name() + "=" + change.value(), change.share()));

    /** The most changes that a report names. */
    public static final int MOST = 5;

    /** The cause where no producer says what served the requests. */
    public static final DriftCause UNKNOWN = new DriftCause(
            "unknown", List.of(), "no producer says what served the requests, so the cause is not known");

    public DriftCause {
        changes = List.copyOf(changes);
    }

    /** A value that came with the drift. */
    public record Change(
            @JsonPropertyDescription("the header or tag") String name,
            @JsonPropertyDescription("its new value") String value,

            @JsonPropertyDescription("start of the first window with it")
            long sinceMs,

            @JsonPropertyDescription("its share of the window's rows")
            double share,

            @JsonPropertyDescription("the value that most windows had before")
            String before,

            @JsonPropertyDescription("windows nine tenths of whose rows had that")
            long windowsBefore,

            @JsonPropertyDescription("of these, drifted") long driftedBefore,

            @JsonPropertyDescription("mean over these of the deciding statistic as a share of its threshold") @Nullable
            Double levelBefore,

            @JsonPropertyDescription("a breakdown of this window by the header, where it has several values") @Nullable
            Breakdown comparison) {

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

    /** Returns the cause where no header or tag has a new value, or where some have: those of most rows. */
    public static DriftCause of(Collection<String> names, List<Change> changes) {
        List<Change> most = changes.stream()
                .sorted(Comparator.comparingDouble(Change::share).reversed())
                .limit(MOST)
                .toList();
        return most.isEmpty()
                ? new DriftCause(
                        "traffic",
                        most,
                        "no header or tag has a new value (%s): the requests changed"
                                .formatted(String.join(", ", names)))
                : new DriftCause(
                        "change",
                        most,
                        "new with the drift: "
                                + most.stream().map(Change::words).collect(Collectors.joining("; ")));
    }

    /** Returns whether any producer says where its rows come from. */
    public boolean isKnown() {
        return !kind.equals(UNKNOWN.kind);
    }
}
