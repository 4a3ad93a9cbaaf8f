package io.plumbline.topology.metrics;

import io.plumbline.topology.adaptation.SwapRules;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricFamilyDescriptor;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Exports who decides which decoder serves a site, and what the adapter last told of it. Every process reads that from
 * the topic, so every instance exports the same. Thread-safe.
 */
final class SiteSwaps implements MultiCollector {

    private static final String MODE = "plumbline_swap_mode";
    private static final String MODE_HELP =
            "1 for the mode by which the site's decoder may be changed, 0 for the others";
    private static final String PINNED = "plumbline_pinned";
    private static final String PINNED_HELP = "1 while a person keeps the decoder in service, else 0";
    private static final String CANDIDATE = "plumbline_candidate_version";
    private static final String CANDIDATE_HELP = "Version of the candidate that waits for approval; 0 while none does";

    private record Standing(SwapRules.Mode mode, boolean pinned, long candidate) {}

    private final Map<String, Standing> sites = new ConcurrentHashMap<>();

    void mode(String site, SwapRules.Mode mode) {
        sites.merge(
                site,
                new Standing(mode, false, 0),
                (before, next) -> new Standing(mode, before.pinned(), before.candidate()));
    }

    /** Takes what was told about a site whose mode is known; others are not ours to export. */
    void told(String site, boolean pinned, long candidate) {
        sites.computeIfPresent(site, (name, before) -> new Standing(before.mode(), pinned, candidate));
    }

    @Override
    public MetricSnapshots collect() {
        if (sites.isEmpty()) {
            return MetricSnapshots.of();
        }
        GaugeSnapshot.Builder modes = GaugeSnapshot.builder().name(MODE).help(MODE_HELP);
        GaugeSnapshot.Builder pinned = GaugeSnapshot.builder().name(PINNED).help(PINNED_HELP);
        GaugeSnapshot.Builder candidates =
                GaugeSnapshot.builder().name(CANDIDATE).help(CANDIDATE_HELP);
        sites.forEach((site, standing) -> {
            for (SwapRules.Mode mode : SwapRules.Mode.values()) {
                String label = mode.name().toLowerCase(Locale.ROOT);
                modes.dataPoint(point(Labels.of("site", site, "mode", label), standing.mode() == mode ? 1 : 0));
            }
            pinned.dataPoint(point(Labels.of("site", site), standing.pinned() ? 1 : 0));
            candidates.dataPoint(point(Labels.of("site", site), standing.candidate()));
        });
        return MetricSnapshots.of(modes.build(), pinned.build(), candidates.build());
    }

    @Override
    public List<MetricFamilyDescriptor> getMetricFamilyDescriptors() {
        return List.of(
                MetricFamilyDescriptor.gauge(MODE)
                        .help(MODE_HELP)
                        .labelNames("site", "mode")
                        .build(),
                MetricFamilyDescriptor.gauge(PINNED)
                        .help(PINNED_HELP)
                        .labelNames("site")
                        .build(),
                MetricFamilyDescriptor.gauge(CANDIDATE)
                        .help(CANDIDATE_HELP)
                        .labelNames("site")
                        .build());
    }

    private static GaugeDataPointSnapshot point(Labels labels, long value) {
        return GaugeDataPointSnapshot.builder()
                .labels(labels)
                .value((double) value)
                .build();
    }
}
