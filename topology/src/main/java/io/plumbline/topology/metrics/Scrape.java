package io.plumbline.topology.metrics;

import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot;
import io.prometheus.metrics.model.snapshots.InfoSnapshot.InfoDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Collects what a scrape finds; a {@link Family} without a value is absent. Not thread-safe. */
final class Scrape {

    private final Map<Family, GaugeSnapshot.Builder> gauges = new HashMap<>();
    private final Map<Family, InfoSnapshot.Builder> infos = new HashMap<>();

    /** Adds a value under labels, in the order of the family's; null is left out. */
    Scrape value(Family family, @Nullable Number value, String... labels) {
        if (value != null) {
            gauges.computeIfAbsent(
                            family,
                            one -> GaugeSnapshot.builder().name(one.name()).help(one.help()))
                    .dataPoint(GaugeDataPointSnapshot.builder()
                            .labels(family.labelled(labels))
                            .value(value.doubleValue())
                            .build());
        }
        return this;
    }

    /** Adds labels that are themselves the information, in the order of the family's. */
    Scrape info(Family family, String... labels) {
        infos.computeIfAbsent(
                        family, one -> InfoSnapshot.builder().name(one.name()).help(one.help()))
                .dataPoint(InfoDataPointSnapshot.builder()
                        .labels(family.labelled(labels))
                        .build());
        return this;
    }

    MetricSnapshots families() {
        MetricSnapshots.Builder all = MetricSnapshots.builder();
        gauges.values().forEach(family -> all.metricSnapshot(family.build()));
        infos.values().forEach(family -> all.metricSnapshot(family.build()));
        return all.build();
    }
}
