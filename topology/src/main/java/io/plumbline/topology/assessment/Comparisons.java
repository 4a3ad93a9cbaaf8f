package io.plumbline.topology.assessment;

import io.plumbline.topology.report.Breakdown;
import io.plumbline.topology.report.DriftCause;
import io.plumbline.topology.report.Sections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * Compares the rows of windows by the values of headers and tags, for the two sections that tell of it: the breakdown
 * by {@code breakdown_by}, and the cause of a drift.
 */
final class Comparisons {

    /** Headers and tags of a window that looks drifted whose values are compared, beside {@code breakdown_by}. */
    private static final int MOST_COMPARED = 3;

    private final Breakdowns breakdowns;
    private final @Nullable String breakdownBy;

    Comparisons(Breakdowns breakdowns, @Nullable String breakdownBy) {
        this.breakdowns = breakdowns;
        this.breakdownBy = breakdownBy;
    }

    /** Measures the breakdown, which a drift of the window may be blamed on too. */
    Measure.Telling<Breakdown> breakdown(WindowView view) {
        Breakdown measured = breakdownBy == null ? null : breakdowns.by(breakdownBy, view);
        return (decision, told) -> measured;
    }

    /** Compares what a drift may be blamed on: nobody knows yet what is new in this window. */
    Measure.Telling<DriftCause> cause(WindowView view) {
        Map<String, Breakdown> measured = new LinkedHashMap<>();
        if (view.suspect()) {
            Breakdowns.severalIn(view.window()).stream()
                    .limit(MOST_COMPARED)
                    .filter(name -> !name.equals(breakdownBy))
                    .forEach(name -> measured.computeIfAbsent(name, by -> breakdowns.by(by, view)));
        }
        return (decision, told) -> {
            if (!decision.drifted()) {
                return null;
            }
            Map<String, Breakdown> comparisons = new HashMap<>(measured);
            Breakdown breakdown = told.get(Sections.BREAKDOWN);
            if (breakdown != null) {
                comparisons.put(breakdown.by(), breakdown);
            }
            return Causes.of(view.window(), decision.origins(), comparisons);
        };
    }
}
