package io.plumbline.topology.metrics;

import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricFamilyDescriptor;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Exports the rows that wait for the next refit of each site this instance adapts. Set from the adapter's state, so
 * that a request that is read again does not count twice. Thread-safe.
 */
final class SitePools implements MultiCollector {

    private static final String NAME = "plumbline_pooled_rows";
    private static final String HELP =
            "Distinct rows of consecutive drifted windows that the adapter holds for the next refit; from the"
                    + " instance that adapts the site";

    private final Map<String, Integer> rows = new ConcurrentHashMap<>();

    void put(String site, int pooled) {
        rows.put(site, pooled);
    }

    void forget(String site) {
        rows.remove(site);
    }

    @Override
    public MetricSnapshots collect() {
        if (rows.isEmpty()) {
            return MetricSnapshots.of();
        }
        GaugeSnapshot.Builder family = GaugeSnapshot.builder().name(NAME).help(HELP);
        rows.forEach((site, pooled) -> family.dataPoint(GaugeDataPointSnapshot.builder()
                .labels(Labels.of("site", site))
                .value((double) pooled)
                .build()));
        return MetricSnapshots.of(family.build());
    }

    @Override
    public List<MetricFamilyDescriptor> getMetricFamilyDescriptors() {
        return List.of(
                MetricFamilyDescriptor.gauge(NAME).help(HELP).labelNames("site").build());
    }
}
