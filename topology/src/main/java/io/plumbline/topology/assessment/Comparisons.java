package io.plumbline.topology.assessment;

import io.plumbline.comparison.ExplainerComparison;
import io.plumbline.judgement.Amounts;
import io.plumbline.records.ActivationBatch;
import io.plumbline.topology.panes.EngineRequests;
import io.plumbline.topology.panes.PaneParts;
import io.plumbline.topology.report.Breakdown;
import io.plumbline.topology.report.DriftCause;
import io.plumbline.topology.report.EnginesReport;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.windows.ClosedWindow;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Compares the rows of windows by the values of headers and tags, for the three sections that tell of it: the breakdown
 * by {@code breakdown_by}, the cause of a drift, and two engines beside each other.
 */
final class Comparisons {

    /** Headers and tags of a window that looks drifted whose values are compared, beside {@code breakdown_by}. */
    private static final int MOST_COMPARED = 3;

    /** Features of two engines that are listed. */
    private static final int MOST_FEATURES = 10;

    /** Fewer say nothing of how far two of them differ. */
    private static final int LEAST_REQUESTS = 2;

    private final WatchedSite site;
    private final Breakdowns breakdowns;
    private final @Nullable String breakdownBy;

    Comparisons(WatchedSite site) {
        this.site = site;
        breakdowns = new Breakdowns(site.geometry());
        breakdownBy = site.settings().breakdownBy();
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

    /** Compares the two engines that most rows come from, on requests that both served where there are such. */
    Measure.Telling<EnginesReport> engines(WindowView view) {
        EngineRequests requests = view.window().parts().get(PaneParts.ENGINES);
        EnginesReport measured = requests == null || breakdownBy == null
                ? null
                : engines(breakdownBy, rowsOf(breakdownBy, view.window()), requests);
        return (decision, told) -> measured;
    }

    private @Nullable EnginesReport engines(String by, List<EnginesReport.Engine> engines, EngineRequests requests) {
        Map<String, List<EngineRequests.Kept>> kept = requests.kept();
        List<EnginesReport.Engine> two = engines.stream()
                .filter(engine -> kept.getOrDefault(engine.value(), List.of()).size() >= LEAST_REQUESTS)
                .limit(2)
                // In windows with nearly as many rows of both, before and after must not change places.
                .sorted(Comparator.comparing(EnginesReport.Engine::value))
                .toList();
        if (two.size() < 2) {
            return null;
        }
        List<EngineRequests.Kept> one = kept.getOrDefault(two.get(0).value(), List.of());
        List<EngineRequests.Kept> other = kept.getOrDefault(two.get(1).value(), List.of());
        Map<Long, EngineRequests.Kept> partners = new HashMap<>();
        other.forEach(request -> partners.put(request.request(), request));
        List<ActivationBatch> before = new ArrayList<>();
        List<ActivationBatch> after = new ArrayList<>();
        int shared = 0;
        for (EngineRequests.Kept request : one) {
            EngineRequests.Kept partner = partners.get(request.request());
            if (partner != null) {
                shared++;
                if (request.hasRowsOf(partner)) {
                    before.add(request.rows());
                    after.add(partner.rows());
                }
            }
        }
        boolean paired = before.size() >= LEAST_REQUESTS;
        int most = Math.max(LEAST_REQUESTS, site.settings().explained().encodedRows() / (2 * EngineRequests.ROWS));
        return new EnginesReport(
                by,
                two,
                shared,
                ExplainerComparison.ofSamples(
                        site.explainer(),
                        first(most, paired ? before : rows(one)),
                        first(most, paired ? after : rows(other)),
                        paired ? null : unpaired(shared, before.size()),
                        MOST_FEATURES));
    }

    private static String unpaired(int shared, int same) {
        return shared == 0
                ? "no request was served by both engines"
                : "of %s that both engines served, %d have the same tokens in both"
                        .formatted(Amounts.count(shared, "request"), same);
    }

    private static List<ActivationBatch> rows(List<EngineRequests.Kept> requests) {
        return requests.stream().map(EngineRequests.Kept::rows).toList();
    }

    private static List<ActivationBatch> first(int most, List<ActivationBatch> requests) {
        return requests.subList(0, Math.min(most, requests.size()));
    }

    /** Returns the values of a header, those with most rows first. */
    private static List<EnginesReport.Engine> rowsOf(String by, ClosedWindow window) {
        Map<String, EnginesReport.Engine> engines = new TreeMap<>();
        window.notes().origins().forEach((origin, counts) -> {
            String value = origin.value(by);
            if (value != null) {
                engines.merge(
                        value,
                        new EnginesReport.Engine(value, counts.rows(), counts.records()),
                        (one, more) -> new EnginesReport.Engine(
                                value, one.rows() + more.rows(), one.records() + more.records()));
            }
        });
        return engines.values().stream()
                .sorted(Comparator.comparingLong(EnginesReport.Engine::rows)
                        .reversed()
                        .thenComparing(EnginesReport.Engine::value))
                .toList();
    }
}
