package io.plumbline.topology.metrics;

import io.prometheus.metrics.model.registry.MetricType;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricFamilyDescriptor;
import java.util.List;
import java.util.stream.Stream;

/** Names a family of metrics, its help and its labels, for what is registered and for what a {@link Scrape} finds. */
record Family(MetricType type, String name, String help, List<String> labels) {

    static Family gauge(String name, String help, String... labels) {
        return new Family(MetricType.GAUGE, name, help, List.of(labels));
    }

    static Family info(String name, String help, String... labels) {
        return new Family(MetricType.INFO, name, help, List.of(labels));
    }

    /** Returns what a collector of these families registers. */
    static List<MetricFamilyDescriptor> descriptors(Family... families) {
        return Stream.of(families).map(Family::descriptor).toList();
    }

    private MetricFamilyDescriptor descriptor() {
        return MetricFamilyDescriptor.of(type, name)
                .help(help)
                .labelNames(labels)
                .build();
    }

    /** Returns the labels with these values, in the order of their names. */
    Labels labelled(String... values) {
        return Labels.of(labels, List.of(values));
    }
}
