package io.plumbline.topology.broker;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.Consumer;
import java.util.function.ObjLongConsumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Holds records of one consumer back that are farther in event time than {@link ReadAhead} allows: hands out those
 * before them, goes back to the first one and pauses its partition until it may be read. Polls go on meanwhile, so
 * neither the group nor a commit waits.
 *
 * <p>Kafka Streams pauses and resumes partitions as well, where its own buffers are full; a partition is read when
 * neither has it paused. Belongs to the stream thread.
 */
final class HeldBackReading {

    private static final Logger LOG = LoggerFactory.getLogger(HeldBackReading.class);

    /** The consumer's own methods. */
    record Reading(
            Consumer<Collection<TopicPartition>> pause,
            Consumer<Collection<TopicPartition>> resume,
            ObjLongConsumer<TopicPartition> seek) {}

    private record Place(long firstMs, long reachedMs) {

        /** Returns the place after a record; one that is refused for its clock says nothing of the others. */
        Place with(long timestampMs, long clockMs) {
            return timestampMs > clockMs ? this : new Place(firstMs, Math.max(reachedMs, timestampMs));
        }
    }

    private final Reading reading;
    private final Map<String, ReadAhead> topics;
    private final Map<TopicPartition, Place> places = new HashMap<>();
    private final Map<TopicPartition, Long> held = new HashMap<>();
    private final Set<TopicPartition> paused = new HashSet<>();
    private final Set<TopicPartition> told = new HashSet<>();

    /** @param topics those whose partitions are held back, each by those of its own */
    HeldBackReading(Reading reading, HeldBackTopics topics) {
        this.reading = reading;
        this.topics = topics.ahead();
    }

    void pause(Collection<TopicPartition> partitions) {
        paused.addAll(partitions);
        reading.pause().accept(partitions);
    }

    void resume(Collection<TopicPartition> partitions) {
        partitions.forEach(paused::remove);
        reading.resume()
                .accept(partitions.stream()
                        .filter(partition -> !held.containsKey(partition))
                        .toList());
    }

    /** Resumes what may be read again; to be called before each poll. */
    void release(Set<TopicPartition> assigned) {
        places.keySet().retainAll(assigned);
        held.keySet().retainAll(assigned);
        paused.retainAll(assigned);
        for (TopicPartition partition : List.copyOf(held.keySet())) {
            ahead(partition).held();
            Place place = places.get(partition);
            if (place == null || bound(partition, place).allows(place.reachedMs(), held.getOrDefault(partition, 0L))) {
                held.remove(partition);
                if (!paused.contains(partition)) {
                    reading.resume().accept(Set.of(partition));
                }
            }
        }
    }

    private ReadAhead.Bound bound(TopicPartition partition, Place place) {
        return ahead(partition).bound(partition.partition(), place.firstMs());
    }

    private ReadAhead ahead(TopicPartition partition) {
        return Objects.requireNonNull(topics.get(partition.topic()), partition.topic());
    }

    /** Returns what of the records may be read now. */
    ConsumerRecords<byte[], byte[]> cut(ConsumerRecords<byte[], byte[]> polled) {
        Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> records = new HashMap<>();
        Map<TopicPartition, OffsetAndMetadata> next = new HashMap<>(polled.nextOffsets());
        boolean cut = false;
        for (TopicPartition partition : polled.partitions()) {
            List<ConsumerRecord<byte[], byte[]>> all = polled.records(partition);
            boolean bounded = topics.containsKey(partition.topic());
            List<ConsumerRecord<byte[], byte[]>> now = bounded ? readable(partition, all) : all;
            if (now.size() < all.size()) {
                cut = true;
                ConsumerRecord<byte[], byte[]> first = all.get(now.size());
                hold(partition, first);
                next.put(partition, new OffsetAndMetadata(first.offset(), first.leaderEpoch(), ""));
            }
            if (!now.isEmpty()) {
                records.put(partition, now);
            }
        }
        return cut ? new ConsumerRecords<>(records, next) : polled;
    }

    private List<ConsumerRecord<byte[], byte[]>> readable(
            TopicPartition partition, List<ConsumerRecord<byte[], byte[]>> all) {
        Place place = places.get(partition);
        if (place == null) {
            place = first(partition, all);
            if (place == null) {
                return all;
            }
        }
        ReadAhead.Bound bound = bound(partition, place);
        int readable = 0;
        while (readable < all.size()
                && bound.allows(place.reachedMs(), all.get(readable).timestamp())) {
            place = place.with(all.get(readable).timestamp(), bound.clockMs());
            readable++;
        }
        places.put(partition, place);
        return all.subList(0, readable);
    }

    /** Returns the place of the first record that is not refused for its clock; null where each of them is. */
    private @Nullable Place first(TopicPartition partition, List<ConsumerRecord<byte[], byte[]>> all) {
        long clockMs = ahead(partition)
                .bound(partition.partition(), all.get(0).timestamp())
                .clockMs();
        for (ConsumerRecord<byte[], byte[]> record : all) {
            if (record.timestamp() <= clockMs) {
                return new Place(record.timestamp(), record.timestamp());
            }
        }
        return null;
    }

    private void hold(TopicPartition partition, ConsumerRecord<byte[], byte[]> first) {
        held.put(partition, first.timestamp());
        ahead(partition).held();
        reading.seek().accept(partition, first.offset());
        reading.pause().accept(Set.of(partition));
        if (told.add(partition)) {
            LOG.info(
                    "a partition is read no farther for now, since its records are ahead of those of other partitions "
                            + "by more than state.waiting_panes lets windows wait; "
                            + "they stay on the topic (said once): topic={} partition={}",
                    partition.topic(),
                    partition.partition());
        }
    }
}
