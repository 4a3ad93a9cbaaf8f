package io.plumbline.topology.metrics;

import io.plumbline.topology.report.WindowMetric;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricFamilyDescriptor;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.time.Clock;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Exports the newest window of each site, as one collector for all families.
 *
 * <p>A scrape reads the reference to a site's snapshot once and takes every family from it, so the values of a site
 * always belong to one window. Twenty gauges that each read the newest value on their own would mix two windows
 * whenever a scrape meets a window's end.
 *
 * <p>A site leaves the scrape when it is forgotten or has had no window for {@code staleness} of wall-clock time;
 * Prometheus then ends the series. Thread-safe: stream threads write, HTTP threads read, nobody waits.
 */
final class SiteWindows implements MultiCollector {
    private record Held(SiteSnapshot snapshot, long sinceMs) {}

    private final Map<String, Held> newest = new ConcurrentHashMap<>();
    private final Clock wallClock;
    private final Duration staleness;
    private final List<MetricFamilyDescriptor> descriptors =
            WindowMetric.all().stream().map(SiteWindows::descriptor).toList();

    SiteWindows(Clock wallClock, Duration staleness) {
        this.wallClock = wallClock;
        this.staleness = staleness;
    }

    void put(SiteSnapshot snapshot) {
        newest.put(snapshot.site(), new Held(snapshot, wallClock.millis()));
    }

    void forget(String site) {
        newest.remove(site);
    }

    @Override
    public MetricSnapshots collect() {
        long oldestShown = wallClock.millis() - staleness.toMillis();
        Map<WindowMetric, GaugeSnapshot.Builder> families = new LinkedHashMap<>();
        newest.forEach((site, held) -> {
            if (held.sinceMs() < oldestShown) {
                newest.remove(site, held); // a window that arrived meanwhile is another Held and stays
            } else {
                held.snapshot().samples().forEach(sample -> families.computeIfAbsent(
                                sample.metric(), SiteWindows::family)
                        .dataPoint(point(site, sample)));
            }
        });
        MetricSnapshots.Builder all = MetricSnapshots.builder();
        for (GaugeSnapshot.Builder family : families.values()) {
            MetricSnapshot built = family.build();
            all.metricSnapshot(built);
        }
        return all.build();
    }

    @Override
    public List<MetricFamilyDescriptor> getMetricFamilyDescriptors() {
        return descriptors;
    }

    private static MetricFamilyDescriptor descriptor(WindowMetric metric) {
        String label = metric.label();
        return MetricFamilyDescriptor.gauge(metric.metricName())
                .help(metric.help())
                .labelNames(label == null ? List.of("site") : List.of("site", label))
                .build();
    }

    private static GaugeSnapshot.Builder family(WindowMetric metric) {
        return GaugeSnapshot.builder().name(metric.metricName()).help(metric.help());
    }

    private static GaugeDataPointSnapshot point(String site, SiteSnapshot.Sample sample) {
        String label = sample.metric().label();
        Labels labels = label == null || sample.labelValue() == null
                ? Labels.of("site", site)
                : Labels.of("site", site, label, sample.labelValue());
        return GaugeDataPointSnapshot.builder()
                .labels(labels)
                .value(sample.value())
                .build();
    }
}
