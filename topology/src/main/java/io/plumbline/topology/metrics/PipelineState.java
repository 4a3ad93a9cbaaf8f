package io.plumbline.topology.metrics;

import io.plumbline.topology.panes.StateSize;
import io.prometheus.metrics.model.registry.MultiCollector;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot.GaugeDataPointSnapshot;
import io.prometheus.metrics.model.snapshots.Labels;
import io.prometheus.metrics.model.snapshots.MetricFamilyDescriptor;
import io.prometheus.metrics.model.snapshots.MetricSnapshots;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Exports what the tasks of this instance hold open, added up by store: a task is no label, there are as many as
 * partitions. Thread-safe.
 */
final class PipelineState implements MultiCollector {

    private static final String PANES = "plumbline_open_panes";
    private static final String PANES_HELP = "Panes this instance holds open, of all sites";
    private static final String BYTES = "plumbline_state_bytes";
    private static final String BYTES_HELP =
            "Second moments and row samples of the panes this instance holds open, as they are held live";

    private record Place(String store, String task) {}

    private final Map<Place, StateSize> held = new ConcurrentHashMap<>();

    void put(String store, String task, StateSize size) {
        held.put(new Place(store, task), size);
    }

    void forget(String store, String task) {
        held.remove(new Place(store, task));
    }

    @Override
    public MetricSnapshots collect() {
        if (held.isEmpty()) {
            return MetricSnapshots.of();
        }
        Map<String, StateSize> byStore = new TreeMap<>();
        held.forEach((place, size) -> byStore.merge(place.store(), size, StateSize::plus));
        GaugeSnapshot.Builder panes = GaugeSnapshot.builder().name(PANES).help(PANES_HELP);
        GaugeSnapshot.Builder bytes = GaugeSnapshot.builder().name(BYTES).help(BYTES_HELP);
        byStore.forEach((store, size) -> {
            panes.dataPoint(point(store, size.panes()));
            bytes.dataPoint(point(store, size.bytes()));
        });
        return MetricSnapshots.of(panes.build(), bytes.build());
    }

    private static GaugeDataPointSnapshot point(String store, long value) {
        return GaugeDataPointSnapshot.builder()
                .labels(Labels.of("store", store))
                .value((double) value)
                .build();
    }

    @Override
    public List<MetricFamilyDescriptor> getMetricFamilyDescriptors() {
        return List.of(
                MetricFamilyDescriptor.gauge(PANES)
                        .help(PANES_HELP)
                        .labelNames("store")
                        .build(),
                MetricFamilyDescriptor.gauge(BYTES)
                        .help(BYTES_HELP)
                        .labelNames("store")
                        .build());
    }
}
