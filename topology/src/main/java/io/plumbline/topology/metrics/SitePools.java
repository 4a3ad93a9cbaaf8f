package io.plumbline.topology.metrics;

import io.prometheus.metrics.model.registry.MultiCollector;
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

    private static final Family ROWS = Family.gauge(
            "plumbline_pooled_rows",
            "Distinct rows of consecutive drifted windows that the adapter holds for the next refit; from the"
                    + " instance that adapts the site",
            "site");

    private final Map<String, Integer> rows = new ConcurrentHashMap<>();

    void put(String site, int pooled) {
        rows.put(site, pooled);
    }

    void forget(String site) {
        rows.remove(site);
    }

    @Override
    public MetricSnapshots collect() {
        Scrape scrape = new Scrape();
        rows.forEach((site, pooled) -> scrape.value(ROWS, pooled, site));
        return scrape.families();
    }

    @Override
    public List<MetricFamilyDescriptor> getMetricFamilyDescriptors() {
        return Family.descriptors(ROWS);
    }
}
