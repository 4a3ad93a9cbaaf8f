package io.plumbline.topology.runtime;

import io.plumbline.topology.MonitorTopology;
import io.plumbline.topology.broker.HeldBackTopics;
import io.plumbline.topology.broker.Topics;
import io.plumbline.topology.config.ActivationTopic;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.kafka.NextOffsets;
import io.plumbline.topology.metrics.Metrics;
import io.plumbline.topology.panes.WindowSettings;
import io.plumbline.topology.progress.Probe;
import io.plumbline.topology.windows.SourceWatch;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.TreeMap;
import java.util.function.Consumer;

/**
 * Watches the topics of activations, each by itself: how far its partitions are read, whether they can be, and whether
 * it is still the topic that reading began with. <b>Cost</b>: a {@link SourceWatcher} a topic.
 */
final class Sources implements AutoCloseable {

    /** No sources, for a process that reads no activations. */
    static final Sources NONE = new Sources();

    private final Map<String, PartitionTimes> times = new TreeMap<>();
    private final Map<String, SourceWatcher> watchers = new TreeMap<>();

    private Sources() {}

    /**
     * Looks at each topic once, then goes on by itself.
     *
     * @param waitingPanes panes of a site that wait for a slower partition at most
     * @param remade told when a topic was deleted and made again
     */
    static Sources start(
            MonitorConfig config,
            Topics.Prepared prepared,
            int waitingPanes,
            Metrics metrics,
            Consumer<String> remade) {
        Sources sources = new Sources();
        try {
            for (ActivationTopic topic : config.activationTopics()) {
                sources.add(config, topic, prepared.partitionsOf(topic.topic()), waitingPanes, metrics, remade);
            }
        } catch (RuntimeException e) {
            sources.close();
            throw e;
        }
        metrics.expectUnreadPartitions(() -> sources.watchers.values().stream()
                .mapToInt(watcher -> watcher.topic().unreadPartitions())
                .sum());
        return sources;
    }

    private void add(
            MonitorConfig config,
            ActivationTopic topic,
            int partitions,
            int waitingPanes,
            Metrics metrics,
            Consumer<String> remade) {
        NextOffsets.Input input = MonitorTopology.activations(topic);
        metrics.expectPartitions(input, partitions);
        PartitionTimes own = times(config, waitingPanes, partitions);
        times.put(topic.topic(), own);
        watchers.put(
                topic.topic(),
                SourceWatcher.start(
                        config.adminProperties(),
                        topic.topic(),
                        partitions,
                        config.monitorApplicationId(),
                        config.window().idleClose(),
                        (partition, offsets) -> metrics.onLost(input, partition, offsets),
                        remade,
                        own));
    }

    private static PartitionTimes times(MonitorConfig config, int waitingPanes, int partitions) {
        Duration idleClose = config.window().idleClose();
        return new PartitionTimes(
                partitions,
                config.window().readAhead(waitingPanes, config.limits().ahead()),
                idleClose == null ? WindowSettings.FIRST_RECORD_WAIT : idleClose,
                config.limits().ahead(),
                System::currentTimeMillis);
    }

    /** Returns who tells silence of a site from a topic that cannot be read. */
    SourceWatch watch(String topic) {
        return Objects.requireNonNull(watchers.get(topic), topic);
    }

    /** Returns how far each topic may be read. */
    HeldBackTopics heldBack() {
        return new HeldBackTopics(Map.copyOf(times));
    }

    /** Requires that each topic is the one that reading began with, as {@link SourceTopic#requireSame} does. */
    void requireSame() {
        SourceTopic.requireSame(
                watchers.values().stream().map(SourceWatcher::topic).toList());
    }

    /** Returns the latest event time that was read of any of them and can be true. */
    long newestMs() {
        return times.values().stream().mapToLong(PartitionTimes::newestMs).max().orElse(PartitionTimes.UNKNOWN);
    }

    /** Complains of a topic that is not whole or whose brokers do not answer. */
    Probe readable() {
        Probe all = Optional::empty;
        for (SourceWatcher watcher : watchers.values()) {
            all = all.and(watcher.topic().whole()).and(watcher.answering());
        }
        return all;
    }

    @Override
    public void close() {
        watchers.values().forEach(SourceWatcher::close);
    }
}
