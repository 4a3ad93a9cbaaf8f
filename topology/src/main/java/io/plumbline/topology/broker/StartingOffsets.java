package io.plumbline.topology.broker;

import io.plumbline.topology.config.BeginFrom;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.wire.Printable;
import java.time.Instant;
import java.util.Collection;
import java.util.HashMap;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.apache.kafka.clients.admin.OffsetSpec;
import org.apache.kafka.clients.admin.TopicDescription;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.streams.processor.internals.ProcessorMetadata;
import org.apache.kafka.streams.processor.internals.TopicPartitionMetadata;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Commits where a first start begins to read, before anybody reads.
 *
 * <p><b>Why not by {@code auto.offset.reset}.</b> A consumer asks it each time that it has no place: at a partition
 * that had no record yet when the first one comes, after a kill before the first commit, and where the place was
 * deleted. With {@code latest} what came meanwhile is skipped without a word. So readers that have no place begin at
 * the first record, and the place is here from the start.
 */
final class StartingOffsets {

    private static final Logger LOG = LoggerFactory.getLogger(StartingOffsets.class);
    private static final long NOTHING_READ = -1;

    /** The metadata of a place at which nothing was read: Kafka Streams writes the event time that it read there. */
    private static final String METADATA = new TopicPartitionMetadata(NOTHING_READ, new ProcessorMetadata()).encode();

    private StartingOffsets() {}

    /**
     * Gives each partition without a place the one that {@code from} says. While another instance runs nothing can be
     * given: a partition that was added to a topic is then read from its first record, and a topic that is new is
     * refused, or all that it holds would be read in place of what was asked for.
     *
     * @param topics of activations
     * @throws StartException when the broker does not answer, or a topic is new while another instance runs
     */
    static void write(TopicClient client, MonitorConfig config, Collection<TopicDescription> topics) {
        BeginFrom from = config.from();
        if (from.equals(BeginFrom.EARLIEST)) {
            return;
        }
        String group = config.monitorApplicationId();
        Map<TopicPartition, Long> begin = new HashMap<>(client.offsets(topics, OffsetSpec.latest()));
        Instant time = from.time();
        if (time != null) {
            client.offsets(topics, OffsetSpec.forTimestamp(time.toEpochMilli())).forEach((partition, offset) -> {
                if (offset >= 0) {
                    begin.put(partition, offset); // else all of it is older
                }
            });
        }
        begin.keySet().removeAll(client.committed(group).keySet());
        if (begin.isEmpty()) {
            return;
        }
        Map<TopicPartition, OffsetAndMetadata> places = new HashMap<>();
        begin.forEach((partition, offset) -> places.put(partition, new OffsetAndMetadata(offset, METADATA)));
        if (client.commit(group, places)) {
            LOG.info(
                    "reading begins where the key from says: from={} partitions={}",
                    Printable.value(from),
                    places.size());
            return;
        }
        Set<String> added = new TreeSet<>();
        begin.keySet().forEach(partition -> added.add(partition.topic()));
        // Asked again: the other instance may have started at the same time and given them.
        client.committed(group).keySet().forEach(partition -> added.remove(partition.topic()));
        if (!added.isEmpty()) {
            throw StartException.passing(
                    ("topics.activations: %s came after group \"%s\" began to read, and from = %s can be given only"
                                    + " while no instance of it runs: stop them all and start again (one that was"
                                    + " killed, or has a group.instance.id, counts until its session ends), or set from"
                                    + " to earliest")
                            .formatted(String.join(", ", added), group, from));
        }
    }

    /** Returns whether somebody read up to a place, which then is none of these. */
    static boolean isRead(OffsetAndMetadata place) {
        return !place.metadata().equals(METADATA);
    }
}
