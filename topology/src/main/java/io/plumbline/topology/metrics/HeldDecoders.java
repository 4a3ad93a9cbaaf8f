package io.plumbline.topology.metrics;

import io.prometheus.metrics.model.registry.MultiCollector;
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

    private static final Family INFO = Family.info(
            "plumbline_decoder",
            "The newest decoder this process holds complete and verified: its kind and the start of its SHA-256",
            "site",
            "version",
            "kind",
            "sha256");
    private static final Family VERSION = Family.gauge(
            "plumbline_subscriber_decoder_version",
            "Version of the newest decoder this process holds complete and verified; 0 is the trained one",
            "site");
    private static final Family INTERRUPTED = Family.gauge(
            "plumbline_subscriber_interrupted",
            "1 while the decoders topic cannot be read, so that newer decoders would not be seen, else 0");
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
        Scrape scrape = new Scrape().value(INTERRUPTED, interrupted ? 1 : 0);
        sites.forEach((site, held) -> scrape.info(INFO, site, Long.toString(held.version()), held.kind(), held.sha256())
                .value(VERSION, held.version(), site));
        return scrape.families();
    }

    @Override
    public List<MetricFamilyDescriptor> getMetricFamilyDescriptors() {
        return Family.descriptors(INFO, VERSION, INTERRUPTED);
    }
}
