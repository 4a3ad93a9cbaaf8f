package io.plumbline.topology.metrics;

import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.reload.ConfigVersion;
import io.plumbline.topology.reload.ReloadListener;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
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

    private static final String INFO = "plumbline_config";
    private static final String INFO_HELP =
            "The configuration of sites and models in force: its hash, and the version by which it was agreed on";
    private static final String FROM = "plumbline_config_from_seconds";
    private static final String FROM_HELP =
            "Event time from which windows are judged by the configuration; 0 for that of the start";
    private static final String TAKEN = "plumbline_config_last_reload_successful";
    private static final String TAKEN_HELP = "1 when the last change of the configuration file was taken over, else 0";
    private static final String READ = "plumbline_config_last_reload_timestamp_seconds";
    private static final String READ_HELP = "Wall-clock time at which the configuration file was read last";
    private static final String OTHER = "plumbline_config_other";
    private static final String OTHER_HELP =
            "1 while the instances have agreed on a configuration that this one does not have, else 0";

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
                : MetricSnapshots.of(
                        InfoSnapshot.builder()
                                .name(INFO)
                                .help(INFO_HELP)
                                .dataPoint(InfoDataPointSnapshot.builder()
                                        .labels(Labels.of(
                                                "sha256", now.sha256(), "version", Long.toString(now.version())))
                                        .build())
                                .build(),
                        gauge(FROM, FROM_HELP, now.fromMs() / 1_000.0),
                        gauge(TAKEN, TAKEN_HELP, taken ? 1 : 0),
                        gauge(READ, READ_HELP, readMs / 1_000.0),
                        gauge(OTHER, OTHER_HELP, other ? 1 : 0));
    }

    private static GaugeSnapshot gauge(String name, String help, double value) {
        return GaugeSnapshot.builder()
                .name(name)
                .help(help)
                .dataPoint(GaugeDataPointSnapshot.builder().value(value).build())
                .build();
    }

    @Override
    public List<MetricFamilyDescriptor> getMetricFamilyDescriptors() {
        return List.of(
                MetricFamilyDescriptor.info(INFO)
                        .help(INFO_HELP)
                        .labelNames("sha256", "version")
                        .build(),
                MetricFamilyDescriptor.gauge(FROM).help(FROM_HELP).build(),
                MetricFamilyDescriptor.gauge(TAKEN).help(TAKEN_HELP).build(),
                MetricFamilyDescriptor.gauge(READ).help(READ_HELP).build(),
                MetricFamilyDescriptor.gauge(OTHER).help(OTHER_HELP).build());
    }
}
