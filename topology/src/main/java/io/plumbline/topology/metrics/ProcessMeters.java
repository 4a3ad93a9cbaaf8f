package io.plumbline.topology.metrics;

import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.binder.jvm.JvmGcMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmMemoryMetrics;
import io.micrometer.core.instrument.binder.jvm.JvmThreadMetrics;
import io.micrometer.core.instrument.binder.system.FileDescriptorMetrics;
import io.micrometer.core.instrument.binder.system.ProcessorMetrics;
import io.micrometer.core.instrument.binder.system.UptimeMetrics;
import io.plumbline.topology.config.ProgramVersion;
import io.prometheus.metrics.model.registry.Collector;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;

/** Meters what is said of the process, whatever it does. */
final class ProcessMeters {

    /** Exports the build: Micrometer has no info metric, and takes the suffix from a gauge's name. */
    static final Collector BUILD = () -> InfoSnapshot.builder()
            .name("plumbline_build")
            .help("What runs: the version of Plumbline and of Java")
            .dataPoint(InfoDataPointSnapshot.builder()
                    .labels(Labels.of(
                            "version",
                            ProgramVersion.number(),
                            "java",
                            Runtime.version().toString()))
                    .build())
            .build();

    private ProcessMeters() {}

    /** Adds memory, threads, collections, processor, files and uptime; what is returned is closed at the end. */
    static AutoCloseable bind(MeterRegistry meters) {
        new JvmMemoryMetrics().bindTo(meters);
        new JvmThreadMetrics().bindTo(meters);
        new ProcessorMetrics().bindTo(meters);
        new FileDescriptorMetrics().bindTo(meters);
        new UptimeMetrics().bindTo(meters);
        JvmGcMetrics collections = new JvmGcMetrics();
        collections.bindTo(meters);
        return collections;
    }
}
