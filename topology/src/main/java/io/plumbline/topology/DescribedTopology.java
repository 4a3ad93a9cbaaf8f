package io.plumbline.topology;

import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.ToIntFunction;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyDescription;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.state.StoreBuilder;

/**
 * A topology that can say which topics it needs. Kafka's own description names the stores of a processor, but not whether
 * they are logged nor how; the store builders that pass through {@code addProcessor} do.
 */
final class DescribedTopology extends Topology {

    private final Map<String, StoreBuilder<?>> stores = new LinkedHashMap<>();

    /** Partitions and topic settings of a change-log. */
    record Changelog(String store, int partitions, Map<String, String> settings) {}

    @Override
    public synchronized <KIn, VIn, KOut, VOut> Topology addProcessor(
            String name, ProcessorSupplier<KIn, VIn, KOut, VOut> supplier, String... parentNames) {
        Set<StoreBuilder<?>> own = supplier.stores();
        if (own != null) {
            own.forEach(store -> stores.put(store.name(), store));
        }
        return super.addProcessor(name, supplier, parentNames);
    }

    /** Topics that are read. */
    Set<String> reads() {
        Set<String> topics = new LinkedHashSet<>();
        for (TopologyDescription.Subtopology part : describe().subtopologies()) {
            topics.addAll(sources(part));
        }
        return topics;
    }

    /** Topics that are written to. */
    Set<String> writes() {
        Set<String> topics = new LinkedHashSet<>();
        for (TopologyDescription.Subtopology part : describe().subtopologies()) {
            for (TopologyDescription.Node node : part.nodes()) {
                if (node instanceof TopologyDescription.Sink sink && sink.topic() != null) {
                    topics.add(sink.topic());
                }
            }
        }
        return topics;
    }

    /**
     * Change-logs by store. As Kafka Streams has it, a sub-topology has as many tasks as the largest topic it reads has
     * partitions, and a change-log has one partition a task.
     */
    Map<String, Changelog> changelogs(ToIntFunction<String> partitionsOf) {
        Map<String, Changelog> changelogs = new TreeMap<>();
        for (TopologyDescription.Subtopology part : describe().subtopologies()) {
            int tasks = sources(part).stream().mapToInt(partitionsOf).max().orElse(0);
            for (TopologyDescription.Node node : part.nodes()) {
                if (node instanceof TopologyDescription.Processor processor) {
                    for (String name : processor.stores()) {
                        StoreBuilder<?> store = stores.get(name);
                        if (store != null && store.loggingEnabled()) {
                            changelogs.put(name, new Changelog(name, tasks, store.logConfig()));
                        }
                    }
                }
            }
        }
        return changelogs;
    }

    private static Set<String> sources(TopologyDescription.Subtopology part) {
        Set<String> topics = new LinkedHashSet<>();
        for (TopologyDescription.Node node : part.nodes()) {
            if (node instanceof TopologyDescription.Source source) {
                topics.addAll(source.topicSet());
            }
        }
        return topics;
    }
}
