package io.plumbline.topology.kafka;

import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.Deque;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.TopicPartition;
import org.jspecify.annotations.Nullable;

/**
 * Hands on the records of a reader's partitions one by one: of the next record of each, the first in an order. Within a
 * partition records come in the order of their offsets. Not thread-safe.
 *
 * <p><b>Memory.</b> {@code ahead} records of every partition, where a poll brings no more, and what the client fetches
 * ahead.
 */
public final class MergedRecords {

    private final TopicReader reader;
    private final int ahead;
    private final Comparator<ConsumerRecord<byte[], byte[]>> order;
    private final Map<TopicPartition, Deque<ConsumerRecord<byte[], byte[]>>> waiting = new HashMap<>();

    /**
     * Reads nothing yet.
     *
     * @param ahead of a partition with so many records in memory no more are fetched
     */
    public MergedRecords(TopicReader reader, int ahead, Comparator<ConsumerRecord<byte[], byte[]>> order) {
        this.reader = reader;
        this.ahead = ahead;
        this.order = order;
    }

    /** Begins, once more where it has begun before, with the first record of every partition. */
    public void rewind() {
        waiting.clear();
        reader.end().keySet().forEach(partition -> waiting.put(partition, new ArrayDeque<>()));
        reader.rewind();
    }

    /**
     * Returns the next record; null at the end.
     *
     * @param instead as of {@link TopicReader#next}
     */
    public @Nullable ConsumerRecord<byte[], byte[]> next(String instead) {
        while (!everyPartitionIsKnown()) {
            pauseTheFull(); // before a poll, and not after one: the queue that was full is read empty between them
            for (ConsumerRecord<byte[], byte[]> record : reader.next(instead)) {
                waiting.getOrDefault(new TopicPartition(record.topic(), record.partition()), new ArrayDeque<>())
                        .add(record);
            }
        }
        Deque<ConsumerRecord<byte[], byte[]>> first = null;
        for (Deque<ConsumerRecord<byte[], byte[]>> queue : waiting.values()) {
            if (!queue.isEmpty() && (first == null || order.compare(queue.getFirst(), first.getFirst()) < 0)) {
                first = queue;
            }
        }
        return first == null ? null : first.removeFirst();
    }

    private boolean everyPartitionIsKnown() {
        return waiting.entrySet().stream()
                .allMatch(entry -> !entry.getValue().isEmpty() || reader.isAtEnd(entry.getKey()));
    }

    private void pauseTheFull() {
        Set<TopicPartition> full = new HashSet<>();
        waiting.forEach((partition, queue) -> {
            if (queue.size() >= ahead || reader.isAtEnd(partition)) {
                full.add(partition);
            }
        });
        reader.pauseOnly(full);
    }
}
