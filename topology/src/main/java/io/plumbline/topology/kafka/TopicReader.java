package io.plumbline.topology.kafka;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.Consumer;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/**
 * Reads committed records of partitions it assigns itself: to the end that these had when they were assigned
 * ({@link #next}, {@link #toEnd}), or on and on ({@link #poll}).
 *
 * <p>It belongs to no consumer group, commits nothing and creates no topic. A record that is deleted before it was read
 * is an {@link org.apache.kafka.clients.consumer.OffsetOutOfRangeException}, unless the caller's settings say
 * {@code auto.offset.reset}.
 *
 * <p>One thread; only {@link #wakeup} may be called by another.
 */
public final class TopicReader implements AutoCloseable {

    /** The time for which a topic may give nothing before its end is reached. */
    public static final Duration PATIENCE = Duration.ofSeconds(60);

    private static final Duration POLL = Duration.ofSeconds(1);

    private final Consumer<byte[], byte[]> consumer;
    private final Duration patience;
    private final Map<TopicPartition, Long> begin = new HashMap<>();
    private final Map<TopicPartition, Long> end = new HashMap<>();
    private long lastRecordNanos = System.nanoTime();

    TopicReader(Consumer<byte[], byte[]> consumer, Duration patience) {
        this.consumer = consumer;
        this.patience = patience;
    }

    /**
     * Makes a consumer; asks the brokers nothing.
     *
     * @param kafka client properties
     * @param more properties that win over those and over the reader's own
     * @throws org.apache.kafka.common.KafkaException when no client can be made of them
     */
    public static TopicReader open(Map<String, ?> kafka, Map<String, ?> more) {
        Map<String, Object> properties = new HashMap<>(kafka);
        properties.remove(ConsumerConfig.GROUP_ID_CONFIG);
        properties.remove(ConsumerConfig.GROUP_INSTANCE_ID_CONFIG);
        properties.put(ConsumerConfig.ENABLE_AUTO_COMMIT_CONFIG, "false");
        properties.put(ConsumerConfig.ISOLATION_LEVEL_CONFIG, "read_committed");
        properties.put(ConsumerConfig.AUTO_OFFSET_RESET_CONFIG, "none");
        properties.put(ConsumerConfig.ALLOW_AUTO_CREATE_TOPICS_CONFIG, "false");
        properties.putAll(more);
        return new TopicReader(
                new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer()), PATIENCE);
    }

    /** Returns the partitions of a topic; empty where the topic does not exist. */
    public List<TopicPartition> partitions(String topic) {
        List<PartitionInfo> found = consumer.partitionsFor(topic);
        return found == null
                ? List.of()
                : found.stream()
                        .map(info -> new TopicPartition(topic, info.partition()))
                        .toList();
    }

    /** Takes these partitions from their oldest records to their ends as they are now. */
    public void assign(Collection<TopicPartition> partitions) {
        consumer.assign(partitions);
        begin.clear();
        begin.putAll(consumer.beginningOffsets(partitions));
        end.clear();
        end.putAll(consumer.endOffsets(partitions));
        rewind();
    }

    /** Returns the offset at which each partition begins for this reader. */
    public Map<TopicPartition, Long> begin() {
        return Map.copyOf(begin);
    }

    /** Returns the offset before which this reader stops in each partition. */
    public Map<TopicPartition, Long> end() {
        return Map.copyOf(end);
    }

    /** Goes to an offset, where {@link #rewind} will go too. */
    public void beginAt(TopicPartition partition, long offset) {
        begin.put(partition, offset);
        consumer.seek(partition, offset);
    }

    /** Stops before an offset if that is earlier than the partition's end. */
    public void endAt(TopicPartition partition, long offset) {
        end.merge(partition, offset, Math::min);
    }

    /** Goes to the end of the topic, so that only records to come are read. */
    public void skipToEnd() {
        end.forEach(this::beginAt);
    }

    /** Goes back to where the partitions begin, to read them once more. */
    public void rewind() {
        begin.forEach(consumer::seek);
        consumer.resume(consumer.paused());
        lastRecordNanos = System.nanoTime();
    }

    /** Asks where the partitions end by now, and stops there. */
    public void renewEnd() {
        end.putAll(consumer.endOffsets(end.keySet()));
    }

    /** Asks the brokers something; throws where they do not answer in time. */
    public void requireAnswer(Duration within) {
        consumer.endOffsets(end.keySet(), within);
    }

    /** Returns how many offsets lie between the beginnings and the ends. */
    public long offsets() {
        return end.entrySet().stream()
                .mapToLong(entry -> Math.max(0, entry.getValue() - begin.getOrDefault(entry.getKey(), 0L)))
                .sum();
    }

    public boolean isAtEnd() {
        return end.keySet().stream().allMatch(this::isAtEnd);
    }

    public boolean isAtEnd(TopicPartition partition) {
        return consumer.position(partition) >= end.getOrDefault(partition, 0L);
    }

    /** Returns what there is, beyond the ends too; waits at most this long for a first record. */
    public ConsumerRecords<byte[], byte[]> poll(Duration wait) {
        return consumer.poll(wait);
    }

    /**
     * Returns the next records before the ends; none where none came for a second, or all that came lie beyond.
     *
     * @param instead what the caller did, and what to do, in case nothing comes; ends the message
     * @throws IllegalStateException when nothing came for {@link #PATIENCE}
     */
    public ConsumerRecords<byte[], byte[]> next(String instead) {
        ConsumerRecords<byte[], byte[]> polled = consumer.poll(POLL);
        if (!polled.isEmpty()) {
            lastRecordNanos = System.nanoTime();
        } else if (System.nanoTime() - lastRecordNanos > patience.toNanos()) {
            throw new IllegalStateException("topic %s gave nothing for %d s; %s"
                    .formatted(end.keySet().iterator().next().topic(), patience.toSeconds(), instead));
        }
        return beforeEnds(polled);
    }

    private ConsumerRecords<byte[], byte[]> beforeEnds(ConsumerRecords<byte[], byte[]> polled) {
        Map<TopicPartition, List<ConsumerRecord<byte[], byte[]>>> wanted = new HashMap<>();
        for (TopicPartition partition : polled.partitions()) {
            long endOffset = end.getOrDefault(partition, 0L);
            List<ConsumerRecord<byte[], byte[]>> records = polled.records(partition).stream()
                    .filter(record -> record.offset() < endOffset)
                    .toList();
            if (!records.isEmpty()) {
                wanted.put(partition, records);
            }
        }
        return new ConsumerRecords<>(wanted, polled.nextOffsets());
    }

    /**
     * Reads every record before the ends, each partition in its order.
     *
     * @param instead as of {@link #next}
     * @throws IllegalStateException when nothing came for {@link #PATIENCE}
     */
    public void toEnd(String instead, java.util.function.Consumer<ConsumerRecord<byte[], byte[]>> taker) {
        while (!isAtEnd()) {
            next(instead).forEach(taker);
        }
    }

    /** Fetches nothing of the partitions that {@code full} holds, and of all others. */
    public void pauseOnly(Set<TopicPartition> full) {
        List<TopicPartition> others = new ArrayList<>(end.keySet());
        others.removeAll(full);
        consumer.pause(full);
        consumer.resume(others);
    }

    /** Returns the consumer, for questions about offsets and groups; positions are the reader's. */
    public Consumer<byte[], byte[]> consumer() {
        return consumer;
    }

    /** Ends a call under way with a {@link org.apache.kafka.common.errors.WakeupException}; from any thread. */
    public void wakeup() {
        consumer.wakeup();
    }

    @Override
    public void close() {
        consumer.close();
    }
}
