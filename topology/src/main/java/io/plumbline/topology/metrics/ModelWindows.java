package io.plumbline.topology.metrics;

import io.plumbline.judgement.Verdict;
import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.SiteStanding;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricFamilyDescriptor;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.stream.Stream;

/**
 * Exports the newest window of each model; one that had none for {@code staleness} of wall-clock time leaves the
 * scrape. Thread-safe.
 */
final class ModelWindows implements MultiCollector {

    private static final Family END = new Family(
            "plumbline_model_window_end_timestamp_seconds", "Event time at which the newest window of the model ends");
    private static final Family VERDICT = new Family(
            "plumbline_model_verdict", "1 for the verdict in force for the model, 0 for the others", "verdict");
    private static final Family OVER = new Family(
            "plumbline_model_value_over_threshold",
            "How many times its threshold the deciding statistic of the worst site is: above 1 it counts towards a "
                    + "drift",
            "site");
    private static final Family SITES = new Family(
            "plumbline_model_sites",
            "Sites of the model in its newest window: above their thresholds, drifted by their own verdict, without a "
                    + "window, and all",
            "standing");
    private static final Family MEMBER = new Family(
            "plumbline_model_site", "1 for each site that is judged as one with the others of its model", "site");
    private static final List<Family> FAMILIES = List.of(END, VERDICT, OVER, SITES, MEMBER);

    private record Family(String name, String help, String... label) {}

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
        Map<Family, GaugeSnapshot.Builder> families = new LinkedHashMap<>();
        newest.values().forEach(held -> add(families, held.report()));
        MetricSnapshots.Builder all = MetricSnapshots.builder();
        families.values().forEach(family -> all.metricSnapshot(family.build()));
        return all.build();
    }

    private static void add(Map<Family, GaugeSnapshot.Builder> to, ModelReport report) {
        add(to, END, report, "", report.windowEndMs() / 1e3);
        for (Verdict verdict : Verdict.values()) {
            add(to, VERDICT, report, verdict.label(), verdict == report.verdict() ? 1 : 0);
        }
        if (report.overThreshold() != null && report.worstSite() != null) {
            add(to, OVER, report, report.worstSite(), report.overThreshold());
        }
        int present = report.sites().size();
        int missing = report.missingSites().size();
        add(to, SITES, report, "above", report.sitesAbove().size());
        add(to, SITES, report, "drifted", report.driftedSites().size());
        add(to, SITES, report, "missing", missing);
        add(to, SITES, report, "all", (double) present + missing);
        Stream.concat(report.sites().stream().map(SiteStanding::site), report.missingSites().stream())
                .forEach(site -> add(to, MEMBER, report, site, 1));
    }

    private static void add(
            Map<Family, GaugeSnapshot.Builder> to, Family family, ModelReport report, String label, double value) {
        Labels labels = family.label().length == 0
                ? Labels.of("model", report.model())
                : Labels.of("model", report.model(), family.label()[0], label);
        to.computeIfAbsent(
                        family, one -> GaugeSnapshot.builder().name(one.name()).help(one.help()))
                .dataPoint(GaugeDataPointSnapshot.builder()
                        .labels(labels)
                        .value(value)
                        .build());
    }

    @Override
    public List<MetricFamilyDescriptor> getMetricFamilyDescriptors() {
        return FAMILIES.stream()
                .map(family -> MetricFamilyDescriptor.gauge(family.name())
                        .help(family.help())
                        .labelNames(Stream.concat(Stream.of("model"), Stream.of(family.label()))
                                .toList())
                        .build())
                .toList();
    }
}
