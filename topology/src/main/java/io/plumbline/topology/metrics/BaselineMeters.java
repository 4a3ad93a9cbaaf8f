package io.plumbline.topology.metrics;

import io.plumbline.topology.baselines.BaselineComparison;
import io.plumbline.topology.baselines.BaselineHistory;
import io.plumbline.topology.baselines.BaselineListener;
import io.plumbline.topology.baselines.BaselineVersion;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.MetricFamilyDescriptor;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Exports how far the baseline of each site lies from the one it replaced. Every monitor reads that
 * from the topic, so every instance exports the same; none of sites beyond the cap on site labels. Thread-safe.
 */
public final class BaselineMeters implements BaselineListener, MultiCollector {

    private static final Family GAP = Family.gauge(
            "plumbline_baseline_gap_to_old",
            "Gap between the active subspaces of the site's baseline and of the one it replaced, at the site's rank",
            "site");
    private static final Family GAP_SHARE = Family.gauge(
            "plumbline_baseline_gap_to_old_ratio",
            "Gap between the active subspaces of the site's baseline and of the one it replaced, as a share of the "
                    + "largest possible gap",
            "site");
    private static final Family SHIFT = Family.gauge(
            "plumbline_baseline_second_moment_relative_shift",
            "Shift of the baseline's second moment from that of the one it replaced, divided by the norm of the "
                    + "latter; may exceed 1",
            "site");
    private static final Family UNWRITTEN = Family.gauge(
            "plumbline_baseline_unwritten",
            "Baselines that this process took into service and the topic of baselines has not taken yet");

    private final SiteCounters sites;
    private final Map<String, BaselineVersion> newest = new ConcurrentHashMap<>();
    private volatile int unwritten;

    BaselineMeters(SiteCounters sites) {
        this.sites = sites;
    }

    @Override
    public void onBaselines(BaselineHistory history) {
        BaselineVersion version = history.newest();
        if (version != null && sites.of(history.site()).hasSeries()) {
            newest.put(history.site(), version);
        }
    }

    @Override
    public void onUnwritten(int baselines) {
        unwritten = baselines;
    }

    @Override
    public MetricSnapshots collect() {
        Scrape scrape = new Scrape().value(UNWRITTEN, unwritten);
        newest.forEach((site, version) -> {
            BaselineComparison comparison = version.comparison();
            if (comparison != null) {
                scrape.value(SHIFT, comparison.shiftRatioOfOld(), site);
                BaselineComparison.Gap gap = comparison.gap(version.rank());
                if (gap != null) {
                    scrape.value(GAP, gap.gapToOld(), site).value(GAP_SHARE, gap.gapToOldShare(), site);
                }
            }
        });
        return scrape.families();
    }

    @Override
    public List<MetricFamilyDescriptor> getMetricFamilyDescriptors() {
        return Family.descriptors(GAP, GAP_SHARE, SHIFT, UNWRITTEN);
    }
}
