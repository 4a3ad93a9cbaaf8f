package io.plumbline.topology.metrics;

import io.plumbline.topology.baselines.BaselineComparison;
import io.plumbline.topology.baselines.BaselineHistory;
import io.plumbline.topology.baselines.BaselineListener;
import io.plumbline.topology.baselines.BaselineVersion;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricFamilyDescriptor;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/**
 * Exports how far the baseline of each site lies from the one it replaced. Every monitor reads that
 * from the topic, so every instance exports the same; none of sites beyond the cap on site labels. Thread-safe.
 */
public final class BaselineMeters implements BaselineListener, MultiCollector {

    private static final String UNWRITTEN = "plumbline_baseline_unwritten";
    private static final String UNWRITTEN_HELP =
            "Baselines that this process took into service and the topic of baselines has not taken yet";

    /** The families with a value a site, each null where the site has none. */
    private enum Family {
        GAP(
                "gap_to_old",
                "Gap between the active subspaces of the site's baseline and of the one it replaced, at the site's "
                        + "rank"),
        GAP_SHARE(
                "gap_to_old_ratio",
                "Gap between the active subspaces of the site's baseline and of the one it replaced, as a share of the "
                        + "largest possible gap"),
        SHIFT(
                "second_moment_relative_shift",
                "Shift of the baseline's second moment from that of the one it replaced, divided by the norm of the "
                        + "latter; may exceed 1");

        private final String metric;
        private final String help;

        Family(String name, String help) {
            metric = "plumbline_baseline_" + name;
            this.help = help;
        }

        @Nullable
        Double of(BaselineVersion version) {
            BaselineComparison comparison = version.comparison();
            if (comparison == null) {
                return null;
            }
            if (this == SHIFT) {
                return comparison.shiftRatioOfOld();
            }
            BaselineComparison.Gap gap = comparison.gap(version.rank());
            return gap == null ? null : this == GAP ? gap.gapToOld() : gap.gapToOldShare();
        }
    }

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
        List<MetricSnapshot> families = new ArrayList<>();
        for (Family family : Family.values()) {
            GaugeSnapshot.Builder gauge =
                    GaugeSnapshot.builder().name(family.metric).help(family.help);
            newest.forEach((site, version) -> {
                Double value = family.of(version);
                if (value != null) {
                    gauge.dataPoint(point(Labels.of("site", site), value));
                }
            });
            families.add(gauge.build());
        }
        families.add(GaugeSnapshot.builder()
                .name(UNWRITTEN)
                .help(UNWRITTEN_HELP)
                .dataPoint(point(Labels.EMPTY, unwritten))
                .build());
        return new MetricSnapshots(families.stream()
                .filter(family -> !family.getDataPoints().isEmpty())
                .toList());
    }

    private static GaugeDataPointSnapshot point(Labels labels, double value) {
        return GaugeDataPointSnapshot.builder().labels(labels).value(value).build();
    }

    @Override
    public List<MetricFamilyDescriptor> getMetricFamilyDescriptors() {
        List<MetricFamilyDescriptor> families = new ArrayList<>();
        for (Family family : Family.values()) {
            families.add(MetricFamilyDescriptor.gauge(family.metric)
                    .help(family.help)
                    .labelNames("site")
                    .build());
        }
        families.add(
                MetricFamilyDescriptor.gauge(UNWRITTEN).help(UNWRITTEN_HELP).build());
        return families;
    }
}
