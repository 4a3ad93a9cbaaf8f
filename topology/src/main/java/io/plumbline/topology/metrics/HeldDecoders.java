package io.plumbline.topology.metrics;

import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricFamilyDescriptor;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Exports which decoder this process has from the decoders topic. A subscriber has no consumer group, so the broker
 * knows no lag of it; what it holds, compared with what the others hold, is what tells that it is behind. Thread-safe.
 */
final class HeldDecoders implements MultiCollector {

    private static final String INFO = "plumbline_decoder";
    private static final String INFO_HELP =
            "The newest decoder this process holds complete and verified: its kind and the start of its SHA-256";
    private static final String VERSION = "plumbline_subscriber_decoder_version";
    private static final String VERSION_HELP =
            "Version of the newest decoder this process holds complete and verified; 0 is the trained one";
    private static final String INTERRUPTED = "plumbline_subscriber_interrupted";
    private static final String INTERRUPTED_HELP =
            "1 while the decoders topic cannot be read, so that newer decoders would not be seen, else 0";
    private static final int HASH_DIGITS = 12;

    private record Held(long version, String kind, String sha256) {}

    private final Map<String, Held> sites = new ConcurrentHashMap<>();
    private volatile boolean interrupted;

    void put(String site, long version, String kind, String sha256) {
        sites.put(site, new Held(version, kind, sha256.substring(0, Math.min(HASH_DIGITS, sha256.length()))));
    }

    void interrupted(boolean now) {
        interrupted = now;
    }

    @Override
    public MetricSnapshots collect() {
        if (sites.isEmpty()) {
            return MetricSnapshots.of();
        }
        InfoSnapshot.Builder info = InfoSnapshot.builder().name(INFO).help(INFO_HELP);
        GaugeSnapshot.Builder versions = GaugeSnapshot.builder().name(VERSION).help(VERSION_HELP);
        sites.forEach((site, held) -> {
            info.dataPoint(InfoDataPointSnapshot.builder()
                    .labels(Labels.of(
                            "site",
                            site,
                            "version",
                            Long.toString(held.version()),
                            "kind",
                            held.kind(),
                            "sha256",
                            held.sha256()))
                    .build());
            versions.dataPoint(point(Labels.of("site", site), held.version()));
        });
        GaugeSnapshot.Builder away = GaugeSnapshot.builder().name(INTERRUPTED).help(INTERRUPTED_HELP);
        away.dataPoint(point(Labels.EMPTY, interrupted ? 1 : 0));
        return MetricSnapshots.of(info.build(), versions.build(), away.build());
    }

    private static GaugeDataPointSnapshot point(Labels labels, long value) {
        return GaugeDataPointSnapshot.builder()
                .labels(labels)
                .value((double) value)
                .build();
    }

    @Override
    public List<MetricFamilyDescriptor> getMetricFamilyDescriptors() {
        return List.of(
                MetricFamilyDescriptor.info(INFO)
                        .help(INFO_HELP)
                        .labelNames("site", "version", "kind", "sha256")
                        .build(),
                MetricFamilyDescriptor.gauge(VERSION)
                        .help(VERSION_HELP)
                        .labelNames("site")
                        .build(),
                MetricFamilyDescriptor.gauge(INTERRUPTED).help(INTERRUPTED_HELP).build());
    }
}
