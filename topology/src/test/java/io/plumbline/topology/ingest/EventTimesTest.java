package io.plumbline.topology.ingest;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertSame;

import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.TimestampType;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests the times that two partitions are given; records may be 60 s ahead of the clock. */
class EventTimesTest {

    private static final long NOW = 1_700_000_000_000L;
    private static final long NEVER_YET = 253_402_300_799_999L;
    private static final long BACKLOG = NOW - Duration.ofHours(3).toMillis();

    private final AtomicLong wallMs = new AtomicLong(NOW);
    private final EventTimes times =
            new EventTimes((record, partitionTime) -> record.timestamp(), Duration.ofSeconds(60), wallMs::get);

    @Test
    void aTimeAheadOfTheClockLeavesThatOfItsPartition() {
        assertEquals(NOW + 60_000, extract(0, NOW + 60_000, -1, new RecordHeaders()));
        for (int second = 0; second < 100; second++) {
            assertEquals(BACKLOG, extract(0, BACKLOG, BACKLOG, new RecordHeaders()));
            assertEquals(BACKLOG, extract(0, NEVER_YET, BACKLOG, new RecordHeaders()));
            wallMs.addAndGet(1_000);
        }
        assertEquals(0, extract(1, NEVER_YET, -1, new RecordHeaders()), "nothing was read there");
    }

    @Test
    void aPartitionOfSuchTimesAloneGoesWithTheClock() {
        assertEquals(BACKLOG, extract(0, NEVER_YET, BACKLOG, new RecordHeaders()));
        wallMs.addAndGet(EventTimes.ALONE.toMillis());
        assertEquals(BACKLOG, extract(1, NEVER_YET, BACKLOG, new RecordHeaders()));
        assertEquals(wallMs.get() + 60_000, extract(0, NEVER_YET, BACKLOG, new RecordHeaders()));
    }

    @Test
    void aPauseIsNoReasonToGoWithTheClock() {
        assertEquals(BACKLOG, extract(0, BACKLOG, BACKLOG, new RecordHeaders()));
        wallMs.addAndGet(EventTimes.ALONE.multipliedBy(10).toMillis());
        assertEquals(BACKLOG, extract(0, NEVER_YET, BACKLOG, new RecordHeaders()));
        assertEquals(BACKLOG, extract(0, BACKLOG, BACKLOG, new RecordHeaders()));
    }

    @Test
    void aRecordKeepsItsOwnTimeAndHeaders() {
        Headers headers = new RecordHeaders().add("site", "a".getBytes(StandardCharsets.UTF_8));
        long stamped = extract(0, NEVER_YET, BACKLOG, headers);
        Record<byte @Nullable [], byte @Nullable []> own =
                EventTimes.own(new Record<>(new byte[0], new byte[0], stamped, headers));
        assertEquals(NEVER_YET, own.timestamp());
        assertEquals(1, own.headers().toArray().length);
        assertEquals("site", own.headers().toArray()[0].key());
    }

    @Test
    void aHeaderThatAProducerSendsIsNoTime() {
        Headers headers = new RecordHeaders().add("plumbline.own.time", new byte[Long.BYTES]);
        Record<byte @Nullable [], byte @Nullable []> record =
                new Record<>(new byte[0], new byte[0], extract(0, NOW, BACKLOG, headers), headers);
        assertSame(record, EventTimes.own(record));
    }

    private long extract(int partition, long timestampMs, long partitionTime, Headers headers) {
        ConsumerRecord<Object, Object> record = new ConsumerRecord<>(
                "activations",
                partition,
                0,
                timestampMs,
                TimestampType.CREATE_TIME,
                0,
                0,
                null,
                null,
                headers,
                java.util.Optional.empty());
        return times.extract(record, partitionTime);
    }
}
