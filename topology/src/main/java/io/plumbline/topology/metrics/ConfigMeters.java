package io.plumbline.topology.metrics;

import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.reload.ConfigVersion;
import io.plumbline.topology.reload.ReloadListener;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.MetricFamilyDescriptor;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.time.Clock;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Exports which configuration a process judges by, and whether the last change of its file could be taken over.
 * Thread-safe.
 */
public final class ConfigMeters implements ReloadListener, MultiCollector {

    private static final Family INFO = Family.info(
            "plumbline_config",
            "The configuration of sites and models in force: its hash, and the version by which it was agreed on",
            "sha256",
            "version");
    private static final Family FROM = Family.gauge(
            "plumbline_config_from_seconds",
            "Event time from which windows are judged by the configuration; 0 for that of the start");
    private static final Family TAKEN = Family.gauge(
            "plumbline_config_last_reload_successful",
            "1 when the last change of the configuration file was taken over, else 0");
    private static final Family READ = Family.gauge(
            "plumbline_config_last_reload_timestamp_seconds",
            "Wall-clock time at which the configuration file was read last");
    private static final Family OTHER = Family.gauge(
            "plumbline_config_other",
            "1 while the instances have agreed on a configuration that this one does not have, else 0");

    private final Clock wallClock;
    private volatile @Nullable InForce inForce;
    private volatile boolean taken = true;
    private volatile boolean other;
    private volatile long readMs;

    private record InForce(String sha256, long version, long fromMs) {}

    ConfigMeters(Clock wallClock) {
        this.wallClock = wallClock;
    }

    @Override
    public void onConfiguration(MonitorConfig config, String sha256, @Nullable ConfigVersion version) {
        inForce =
                version == null ? new InForce(sha256, 0, 0) : new InForce(sha256, version.version(), version.fromMs());
    }

    @Override
    public void onRead(boolean wasTaken) {
        taken = wasTaken;
        readMs = wallClock.millis();
    }

    @Override
    public void onOther(boolean isOther) {
        other = isOther;
    }

    @Override
    public MetricSnapshots collect() {
        InForce now = inForce;
        return now == null
                ? MetricSnapshots.of()
                : new Scrape()
                        .info(INFO, now.sha256(), Long.toString(now.version()))
                        .value(FROM, now.fromMs() / 1_000.0)
                        .value(TAKEN, taken ? 1 : 0)
                        .value(READ, readMs / 1_000.0)
                        .value(OTHER, other ? 1 : 0)
                        .families();
    }

    @Override
    public List<MetricFamilyDescriptor> getMetricFamilyDescriptors() {
        return Family.descriptors(INFO, FROM, TAKEN, READ, OTHER);
    }
}
