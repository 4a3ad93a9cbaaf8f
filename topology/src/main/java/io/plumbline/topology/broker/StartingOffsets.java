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
     * given: a topic that is new since it started then goes by {@code auto.offset.reset}, and a partition that was
     * added to a topic is read from its first record.
     *
     * @param topics of activations
     * @return names of topics without a place in any partition, which therefore go by {@code auto.offset.reset}
     * @throws StartException when the broker does not answer
     */
    static Set<String> write(TopicClient client, MonitorConfig config, Collection<TopicDescription> topics) {
        BeginFrom from = config.from();
        if (from.equals(BeginFrom.EARLIEST)) {
            return Set.of();
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
        Set<TopicPartition> known = client.committed(group).keySet();
        begin.keySet().removeAll(known);
        if (begin.isEmpty()) {
            return Set.of();
        }
        Map<TopicPartition, OffsetAndMetadata> places = new HashMap<>();
        begin.forEach((partition, offset) -> places.put(partition, new OffsetAndMetadata(offset, METADATA)));
        if (client.commit(group, places)) {
            LOG.info(
                    "reading begins where the key from says: from={} partitions={}",
                    Printable.value(from),
                    places.size());
            return Set.of();
        }
        Set<String> topicsWithout = new TreeSet<>();
        begin.keySet().forEach(partition -> topicsWithout.add(partition.topic()));
        known.forEach(partition -> topicsWithout.remove(partition.topic()));
        return topicsWithout;
    }

    /** Returns whether somebody read up to a place, which then is none of these. */
    static boolean isRead(OffsetAndMetadata place) {
        return !place.metadata().equals(METADATA);
    }
}
