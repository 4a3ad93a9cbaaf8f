package io.plumbline.topology.broker;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.ConsumerRecords;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests how far a partition is read whose first record is of a time that no clock has yet. */
class HeldBackReadingTest {

    private static final long T0 = 1_700_000_000_000L;
    private static final long CLOCK = T0 + 3_600_000;
    private static final long LATER = 253_402_300_799_999L;
    private static final TopicPartition PARTITION = new TopicPartition("activations", 0);

    /** The time of the other partition; null: it was not read yet. */
    private @Nullable Long otherMs;

    private final Set<TopicPartition> paused = new HashSet<>();
    private final HeldBackReading reading = new HeldBackReading(
            new HeldBackReading.Reading(paused::addAll, paused::removeAll, (partition, offset) -> {}),
            new HeldBackTopics(Map.of(PARTITION.topic(), new ReadAhead() {
                @Override
                public Bound bound(int partition, long firstMs) {
                    long slowestMs = otherMs == null ? firstMs : otherMs;
                    return new Bound(slowestMs, slowestMs + 100_000, CLOCK);
                }

                @Override
                public void held() {}
            })));

    private int read(long... timesMs) {
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        Arrays.stream(timesMs)
                .forEach(timeMs -> records.add(new ConsumerRecord<>(
                        PARTITION.topic(),
                        0,
                        records.size(),
                        timeMs,
                        TimestampType.CREATE_TIME,
                        0,
                        0,
                        null,
                        new byte[0],
                        new RecordHeaders(),
                        Optional.empty())));
        return reading.cut(new ConsumerRecords<>(Map.of(PARTITION, records), Map.of()))
                .count();
    }

    @Test
    void itIsReadAheadFromTheFirstTimeThatCanBeTrue() {
        assertEquals(1, read(LATER));
        assertEquals(3, read(LATER, T0, T0 + 1_000, T0 + 200_000));
        assertEquals(Set.of(PARTITION), paused);
    }

    @Test
    void whoeverIsBehindTheOthersIsReadInAnyCase() {
        assertEquals(2, read(LATER, T0));
        otherMs = T0 + 1_000;
        assertEquals(1, read(T0 + 200_000));
    }
}
