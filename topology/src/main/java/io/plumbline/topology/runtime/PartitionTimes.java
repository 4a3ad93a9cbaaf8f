package io.plumbline.topology.runtime;

import io.plumbline.topology.broker.ReadAhead;
import io.plumbline.topology.windows.SourceWatch;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.streams.processor.internals.TopicPartitionMetadata;
import org.jspecify.annotations.Nullable;

/**
 * Knows how far in event time each partition of a topic of activations is read, in whatever process, and lets none be
 * read so far ahead of the slowest that more panes wait for it than may.
 *
 * <p>Kafka Streams commits the event time of a partition together with its offset, so the broker tells it to every
 * instance. A partition counts as behind while records lie unread there, and for the time of a silence after it was
 * read to its end: so long windows wait for it. The slowest partition is always read, or nobody would come on.
 */
final class PartitionTimes implements ReadAhead {

    static final long UNKNOWN = Long.MIN_VALUE;

    /** The time in which a task begins, sees a silence of its sites and commits it, beyond the silence itself. */
    static final Duration UNTIL_TOLD = Duration.ofSeconds(20);

    /** A partition at one look, and since when it has been like that. */
    private record Place(long timeMs, long readUpTo, boolean unread, long sinceMs, long movedMs, boolean settled) {}

    private final int partitions;
    private final long aheadMs;
    private final long silenceMs;
    private final long clockAheadMs;
    private final LongSupplier wallMs;
    private final Map<Integer, Place> places = new ConcurrentHashMap<>();
    private volatile long heldMs = UNKNOWN;

    /**
     * @param ahead event time by which a partition may be read ahead of the slowest
     * @param silence for which windows wait for a partition that is read to its end
     * @param clockAhead how far event times may be ahead of the clock; farther ones say nothing
     */
    PartitionTimes(int partitions, Duration ahead, Duration silence, Duration clockAhead, LongSupplier wallMs) {
        this.partitions = partitions;
        this.aheadMs = ahead.toMillis();
        this.silenceMs = silence.plus(UNTIL_TOLD).toMillis();
        this.clockAheadMs = clockAhead.toMillis();
        this.wallMs = wallMs;
    }

    /** Returns the event time that was committed with an offset, or {@link #UNKNOWN}. */
    static long timeOf(@Nullable OffsetAndMetadata committed) {
        long timeMs = committed == null
                ? UNKNOWN
                : TopicPartitionMetadata.decode(committed.metadata()).partitionTime();
        return timeMs <= 0 ? UNKNOWN : timeMs; // so it is where a place was written by hand, or nothing has a time
    }

    /**
     * Takes note of a look at a partition.
     *
     * @param timeMs event time up to which it is read
     */
    void saw(int partition, long timeMs, long endOffset, long readUpTo) {
        long now = wallMs.getAsLong();
        places.compute(partition, (p, before) -> {
            boolean unread = readUpTo < endOffset;
            if (before == null) {
                return new Place(timeMs, readUpTo, unread, now, now, false);
            }
            long sinceMs = before.unread() == unread ? before.sinceMs() : now;
            long movedMs = before.readUpTo() == readUpTo ? before.movedMs() : now;
            // It takes a silence to be read to the end, and as long to have a backlog again: single records come.
            boolean settled = now - sinceMs >= silenceMs ? !unread : before.settled();
            return new Place(timeMs, readUpTo, unread, sinceMs, movedMs, settled);
        });
    }

    /** Returns the latest event time that was read of any partition and can be true; {@link #UNKNOWN}: none is. */
    long newestMs() {
        long latestMs = wallMs.getAsLong() + clockAheadMs;
        return places.values().stream()
                .mapToLong(Place::timeMs)
                .filter(timeMs -> timeMs <= latestMs)
                .max()
                .orElse(UNKNOWN);
    }

    /** Returns whether reading was held back within the last second, so that looks should be frequent. */
    boolean isHolding() {
        return heldMs != UNKNOWN && wallMs.getAsLong() - heldMs < 1_000;
    }

    @Override
    public void held() {
        heldMs = wallMs.getAsLong();
    }

    @Override
    public Bound bound(int partition, long firstMs) {
        long now = wallMs.getAsLong();
        long slowestMs = Long.MAX_VALUE;
        for (int other = 0; other < partitions; other++) {
            if (other != partition) {
                slowestMs = Math.min(slowestMs, timeOf(places.get(other), firstMs, now));
            }
        }
        long limitMs = slowestMs == Long.MAX_VALUE ? Long.MAX_VALUE : slowestMs + aheadMs;
        return new Bound(slowestMs, limitMs, now + clockAheadMs);
    }

    /** Returns the time of a partition that may hold others back, {@code otherwise} where it has none of use. */
    private long timeOf(@Nullable Place place, long otherwise, long now) {
        if (place == null) {
            return otherwise;
        }
        boolean stands = now - place.movedMs() >= SourceWatch.PATIENCE.toMillis();
        if (place.settled() || stands || place.timeMs() > now + clockAheadMs) {
            return Long.MAX_VALUE;
        }
        return place.unread() && place.timeMs() != UNKNOWN ? place.timeMs() : Math.max(place.timeMs(), otherwise);
    }
}
