package io.plumbline.topology.kafka;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.clients.consumer.MockConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.junit.jupiter.api.Test;

class MergedRecordsTest {

    private static final TopicPartition LEFT = new TopicPartition("activations", 0);
    private static final TopicPartition RIGHT = new TopicPartition("activations", 1);
    private static final int AHEAD = 8;

    /** A consumer that counts polls which brought nothing: each waits for a second. */
    private static final class Counting extends MockConsumer<byte[], byte[]> {

        private int polls;
        private int inVain;

        Counting() {
            super("none");
            setMaxPollRecords(AHEAD);
        }

        @Override
        public synchronized ConsumerRecords<byte[], byte[]> poll(Duration timeout) {
            ConsumerRecords<byte[], byte[]> polled = super.poll(timeout);
            polls++;
            inVain += polled.isEmpty() ? 1 : 0;
            return polled;
        }
    }

    private final Counting consumer = new Counting();
    private final TopicReader reader = new TopicReader(consumer, Duration.ofMinutes(1));
    private final MergedRecords merged =
            new MergedRecords(reader, AHEAD, Comparator.comparingLong(ConsumerRecord::timestamp));

    @Test
    void noPollIsMadeWhileEveryPartitionIsPaused() {
        assignEnding(Map.of(LEFT, 33L, RIGHT, 0L));
        LongStream.range(0, 33).forEach(offset -> add(LEFT, offset, 10 * offset));
        assertEquals(LongStream.range(0, 33).map(at -> 10 * at).boxed().toList(), times());
        assertEquals(0, consumer.inVain, "of " + consumer.polls);
    }

    @Test
    void partitionsComeInOneOrderAndOnlyTheEmptyOneIsRead() {
        assignEnding(Map.of(LEFT, 40L, RIGHT, 20L));
        LongStream.range(0, 40).forEach(offset -> add(LEFT, offset, offset));
        LongStream.range(0, 20).forEach(offset -> add(RIGHT, offset, 2 * offset));
        List<Long> read = times();
        assertEquals(60, read.size());
        assertEquals(read.stream().sorted().toList(), read);
        assertEquals(0, consumer.inVain, "of " + consumer.polls);
    }

    private List<Long> times() {
        merged.rewind();
        List<Long> times = new ArrayList<>();
        for (var record = merged.next(""); record != null; record = merged.next("")) {
            times.add(record.timestamp());
        }
        return times;
    }

    private void assignEnding(Map<TopicPartition, Long> ends) {
        consumer.updateBeginningOffsets(Map.of(LEFT, 0L, RIGHT, 0L));
        consumer.updateEndOffsets(ends);
        reader.assign(List.of(LEFT, RIGHT));
    }

    private void add(TopicPartition partition, long offset, long timeMs) {
        consumer.addRecord(new ConsumerRecord<>(
                partition.topic(),
                partition.partition(),
                offset,
                timeMs,
                TimestampType.CREATE_TIME,
                0,
                0,
                null,
                new byte[0],
                new RecordHeaders(),
                Optional.empty()));
    }
}
