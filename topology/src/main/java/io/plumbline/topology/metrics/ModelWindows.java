package io.plumbline.topology.metrics;

import io.plumbline.judgement.Verdict;
import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.SiteStanding;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.MetricFamilyDescriptor;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.time.Clock;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Exports the newest window of each model; one that had none for {@code staleness} of wall-clock time leaves the
 * scrape. Thread-safe.
 */
final class ModelWindows implements MultiCollector {

    private static final Family END = Family.gauge(
            "plumbline_model_window_end_timestamp_seconds",
            "Event time at which the newest window of the model ends",
            "model");
    private static final Family VERDICT = Family.gauge(
            "plumbline_model_verdict",
            "1 for the verdict in force for the model, 0 for the others",
            "model",
            "verdict");
    private static final Family OVER = Family.gauge(
            "plumbline_model_value_over_threshold",
            "How many times its threshold the deciding statistic of the worst site is: above 1 it counts towards a "
                    + "drift",
            "model",
            "site");
    private static final Family SITES = Family.gauge(
            "plumbline_model_sites",
            "Sites of the model in its newest window: above their thresholds, drifted by their own verdict, without a "
                    + "window, and all",
            "model",
            "standing");
    private static final Family MEMBER = Family.gauge(
            "plumbline_model_site",
            "1 for each site that is judged as one with the others of its model",
            "model",
            "site");

    private record Held(ModelReport report, long sinceMs) {}

    private final Map<String, Held> newest = new ConcurrentHashMap<>();
    private final Clock wallClock;
    private final Duration staleness;

    ModelWindows(Clock wallClock, Duration staleness) {
        this.wallClock = wallClock;
        this.staleness = staleness;
    }

    void put(ModelReport report) {
        newest.put(report.model(), new Held(report, wallClock.millis()));
    }

    void forget(String model) {
        newest.remove(model);
    }

    @Override
    public MetricSnapshots collect() {
        long oldestShown = wallClock.millis() - staleness.toMillis();
        newest.values().removeIf(held -> held.sinceMs() < oldestShown);
        Scrape scrape = new Scrape();
        newest.values().forEach(held -> add(scrape, held.report()));
        return scrape.families();
    }

    private static void add(Scrape to, ModelReport report) {
        String model = report.model();
        to.value(END, report.windowEndMs() / 1e3, model);
        for (Verdict verdict : Verdict.values()) {
            to.value(VERDICT, verdict == report.verdict() ? 1 : 0, model, verdict.label());
        }
        if (report.worstSite() != null) {
            to.value(OVER, report.overThreshold(), model, report.worstSite());
        }
        int present = report.sites().size();
        int missing = report.missingSites().size();
        to.value(SITES, report.sitesAbove().size(), model, "above")
                .value(SITES, report.driftedSites().size(), model, "drifted")
                .value(SITES, missing, model, "missing")
                .value(SITES, present + missing, model, "all");
        Stream.concat(report.sites().stream().map(SiteStanding::site), report.missingSites().stream())
                .forEach(site -> to.value(MEMBER, 1, model, site));
    }

    @Override
    public List<MetricFamilyDescriptor> getMetricFamilyDescriptors() {
        return Family.descriptors(END, VERDICT, OVER, SITES, MEMBER);
    }
}
