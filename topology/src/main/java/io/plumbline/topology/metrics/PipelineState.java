package io.plumbline.topology.metrics;

import io.plumbline.topology.panes.StateSize;
import io.prometheus.metrics.model.registry.MultiCollector;
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

    private static final Family PANES =
            Family.gauge("plumbline_open_panes", "Panes this instance holds open, of all sites", "store");
    private static final Family BYTES = Family.gauge(
            "plumbline_state_bytes",
            "Second moments and row samples of the panes this instance holds open, as they are held live",
            "store");

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
        Map<String, StateSize> byStore = new TreeMap<>();
        held.forEach((place, size) -> byStore.merge(place.store(), size, StateSize::plus));
        Scrape scrape = new Scrape();
        byStore.forEach(
                (store, size) -> scrape.value(PANES, size.panes(), store).value(BYTES, size.bytes(), store));
        return scrape.families();
    }

    @Override
    public List<MetricFamilyDescriptor> getMetricFamilyDescriptors() {
        return Family.descriptors(PANES, BYTES);
    }
}
