package io.plumbline.topology.ingest;

import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.streams.processor.TimestampExtractor;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;

/**
 * Keeps a time ahead of the clock out of the time of its partition. Kafka Streams keeps the latest that it is given,
 * commits it, and whoever reads the other partitions waits for it: one such time would say for as long as it is ahead
 * that its partition is behind nobody. The record's own time goes with it as a header, for its dead letter.
 *
 * <p>The time of a partition then stays as it was. Where nothing else has come for {@link #ALONE}, it goes with the
 * clock, or the others would wait for a producer whose every record is refused.
 *
 * <p>Thread-safe.
 */
public final class EventTimes implements TimestampExtractor {

    static final Duration ALONE = Duration.ofSeconds(30);

    private final TimestampExtractor times;
    private final long aheadMs;
    private final LongSupplier wallMs;

    /** The time of the clock since which every record of a partition was ahead of it. */
    private final Map<Integer, Long> aheadSinceMs = new ConcurrentHashMap<>();

    /**
     * @param times gives each record its time, which is not negative
     * @param ahead how far a time may lie ahead of the clock
     */
    public EventTimes(TimestampExtractor times, Duration ahead, LongSupplier wallMs) {
        this.times = times;
        this.aheadMs = ahead.toMillis();
        this.wallMs = wallMs;
    }

    @Override
    public long extract(ConsumerRecord<Object, Object> record, long partitionTime) {
        long timeMs = times.extract(record, partitionTime);
        long now = wallMs.getAsLong();
        if (timeMs <= now + aheadMs) {
            aheadSinceMs.remove(record.partition());
            return timeMs;
        }
        record.headers().add(new Own(timeMs));
        long sinceMs = now - aheadSinceMs.computeIfAbsent(record.partition(), partition -> now);
        return sinceMs < ALONE.toMillis() ? Math.max(0, partitionTime) : now + aheadMs;
    }

    /** Returns the record with its own time, and without the header that brought it. */
    static Record<byte @Nullable [], byte @Nullable []> own(Record<byte @Nullable [], byte @Nullable []> record) {
        if (!(record.headers().lastHeader(Own.KEY) instanceof Own own)) {
            return record;
        }
        Record<byte @Nullable [], byte @Nullable []> with = record.withTimestamp(own.timeMs());
        with.headers().remove(Own.KEY);
        return with;
    }

    /** Holds the time of a record; being of this class tells it from what a producer sends. */
    private record Own(long timeMs) implements Header {

        static final String KEY = "plumbline.own.time";

        @Override
        public String key() {
            return KEY;
        }

        @Override
        public byte[] value() {
            return ByteBuffer.allocate(Long.BYTES).putLong(timeMs).array();
        }
    }
}
