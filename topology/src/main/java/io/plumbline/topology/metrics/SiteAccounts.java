package io.plumbline.topology.metrics;

import io.plumbline.topology.panes.RowAccount;
import io.prometheus.metrics.model.registry.MultiCollector;
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

    private static final Family ROWS = Family.gauge(
            "plumbline_site_rows",
            "What became of all rows of the site since the application began: in = in_windows + open + unaccounted +"
                    + " every late_* + every masked_*",
            "site",
            "account");

    private final Map<String, RowAccount> accounts = new ConcurrentHashMap<>();

    void put(String site, RowAccount account) {
        accounts.put(site, account);
    }

    void forget(String site) {
        accounts.remove(site);
    }

    @Override
    public MetricSnapshots collect() {
        Scrape scrape = new Scrape();
        accounts.forEach((site, account) -> {
            scrape.value(ROWS, account.in(), site, "in")
                    .value(ROWS, account.inWindows(), site, "in_windows")
                    .value(ROWS, account.open(), site, "open")
                    .value(ROWS, account.unaccounted(), site, "unaccounted");
            account.late().forEach((reason, rows) -> scrape.value(ROWS, rows, site, "late_" + reason));
            account.masked().forEach((reason, rows) -> scrape.value(ROWS, rows, site, "masked_" + reason));
        });
        return scrape.families();
    }

    @Override
    public List<MetricFamilyDescriptor> getMetricFamilyDescriptors() {
        return Family.descriptors(ROWS);
    }
}
