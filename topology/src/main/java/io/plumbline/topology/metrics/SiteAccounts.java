package io.plumbline.topology.metrics;

import io.plumbline.topology.panes.RowAccount;
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
 * Exports what became of all rows of each site this instance composes windows of.
 *
 * <p>Gauges that are set, not counters that are increased: the values are state of the stream, so a record that is read
 * again after a crash does not count twice. One account is exported whole, so that its sum holds in every scrape.
 * Thread-safe.
 */
final class SiteAccounts implements MultiCollector {

    private static final String NAME = "plumbline_site_rows";
    private static final String HELP =
            "What became of all rows of the site since the application began: in = in_windows + open + unaccounted +"
                    + " every late_* + every masked_*";

    private final Map<String, RowAccount> accounts = new ConcurrentHashMap<>();

    void put(String site, RowAccount account) {
        accounts.put(site, account);
    }

    void forget(String site) {
        accounts.remove(site);
    }

    @Override
    public MetricSnapshots collect() {
        if (accounts.isEmpty()) {
            return MetricSnapshots.of();
        }
        GaugeSnapshot.Builder family = GaugeSnapshot.builder().name(NAME).help(HELP);
        accounts.forEach((site, account) -> {
            family.dataPoint(point(site, "in", account.in()));
            family.dataPoint(point(site, "in_windows", account.inWindows()));
            family.dataPoint(point(site, "open", account.open()));
            family.dataPoint(point(site, "unaccounted", account.unaccounted()));
            account.late().forEach((reason, rows) -> family.dataPoint(point(site, "late_" + reason, rows)));
            account.masked().forEach((reason, rows) -> family.dataPoint(point(site, "masked_" + reason, rows)));
        });
        return MetricSnapshots.of(family.build());
    }

    @Override
    public List<MetricFamilyDescriptor> getMetricFamilyDescriptors() {
        return List.of(MetricFamilyDescriptor.gauge(NAME)
                .help(HELP)
                .labelNames("site", "account")
                .build());
    }

    private static GaugeDataPointSnapshot point(String site, String account, long rows) {
        return GaugeDataPointSnapshot.builder()
                .labels(Labels.of("site", site, "account", account))
                .value((double) rows)
                .build();
    }
}
