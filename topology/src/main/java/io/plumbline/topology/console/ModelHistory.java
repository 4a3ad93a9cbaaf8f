package io.plumbline.topology.console;

import io.plumbline.judgement.Verdict;
import io.plumbline.topology.models.ModelSettings;
import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.SiteStanding;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Holds what the console knows of one model. Immutable.
 *
 * @param sites of the model, in the order of their layers
 * @param windows by end in event time, the newest last
 * @param newest the whole report of the last of them
 */
record ModelHistory(
        String model,
        List<String> sites,
        List<Point> windows,
        @Nullable ModelReport newest) {

    /**
     * A window of a model.
     *
     * @param sites how many times its threshold each site is, in the order of {@link ModelHistory#sites}; null where it
     *     has no window or could not be judged
     */
    record Point(
            long windowEndMs, Verdict verdict, @Nullable Double overThreshold, List<@Nullable Double> sites) {}

    static ModelHistory of(ModelSettings model) {
        return new ModelHistory(model.model(), model.sites(), List.of(), null);
    }

    /**
     * Returns the history with a window more; a window that is known is replaced.
     *
     * @param most windows that are kept
     */
    ModelHistory with(ModelReport report, int most) {
        Map<String, SiteStanding> standings =
                report.sites().stream().collect(Collectors.toMap(SiteStanding::site, Function.identity(), (a, b) -> b));
        List<@Nullable Double> over = new ArrayList<>();
        for (String site : sites) {
            SiteStanding standing = standings.get(site);
            over.add(standing == null ? null : standing.overThreshold());
        }
        Point point = new Point(report.windowEndMs(), report.verdict(), report.overThreshold(), over);
        List<Point> all = new ArrayList<>(windows);
        int at = all.size();
        while (at > 0 && all.get(at - 1).windowEndMs() > point.windowEndMs()) {
            at--;
        }
        if (at > 0 && all.get(at - 1).windowEndMs() == point.windowEndMs()) {
            all.set(at - 1, point);
        } else {
            all.add(at, point);
        }
        return new ModelHistory(
                model,
                sites,
                List.copyOf(all.subList(Math.max(0, all.size() - most), all.size())),
                newest == null || newest.windowEndMs() <= report.windowEndMs() ? report : newest);
    }
}
