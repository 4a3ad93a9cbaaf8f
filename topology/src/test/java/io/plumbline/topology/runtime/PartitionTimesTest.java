package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.topology.broker.ReadAhead.Bound;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.junit.jupiter.api.Test;

/**
 * Tests how far ahead of the others a partition of three may be read: 100 s, with silences of 10 s and as long as it
 * takes to tell them.
 */
class PartitionTimesTest {

    private static final long T0 = 1_700_000_000_000L;

    private final AtomicLong wallMs = new AtomicLong(T0 + Duration.ofDays(1).toMillis());
    private final PartitionTimes times = new PartitionTimes(3, seconds(100), seconds(10), seconds(60), wallMs::get);

    @Test
    void aPartitionIsReadAheadOfTheSlowestThatHasABacklog() {
        unread(0, T0 + 500_000);
        unread(1, T0 + 10_000);
        unread(2, T0 + 20_000);
        assertEquals(T0 + 110_000, times.bound(0, T0).limitMs());
        assertEquals(T0 + 20_000, times.bound(1, T0).slowestMs(), "whoever is behind that is read in any case");
    }

    @Test
    void oneThatWasNotReadYetIsWaitedForFromWhereTheOtherBegan() {
        unread(1, PartitionTimes.UNKNOWN);
        unread(2, T0 + 900_000);
        assertEquals(T0 + 103_000, times.bound(0, T0 + 3_000).limitMs());
    }

    /** Kafka's own tool writes such places. With a time, two partitions with a backlog waited for each other. */
    @Test
    void aPlaceThatWasWrittenByHandHasNoTime() {
        assertEquals(PartitionTimes.UNKNOWN, PartitionTimes.timeOf(new OffsetAndMetadata(30)));
    }

    @Test
    void oneThatIsReadToItsEndIsWaitedForAsLongAsASilenceLasts() {
        read(1, PartitionTimes.UNKNOWN);
        read(2, T0);
        assertEquals(T0 + 100_000, times.bound(0, T0).limitMs());
        pass(30);
        read(1, PartitionTimes.UNKNOWN);
        read(2, T0);
        assertEquals(nobody(), times.bound(0, T0));
    }

    @Test
    void aSingleRecordAfterASilenceHoldsNobodyBack() {
        read(1, T0);
        read(2, T0);
        pass(30);
        read(1, T0);
        read(2, T0);
        unread(1, T0);
        assertEquals(nobody(), times.bound(0, T0));
        pass(30);
        unread(1, T0);
        assertEquals(T0 + 100_000, times.bound(0, T0).limitMs());
    }

    @Test
    void oneThatStandsStillForLongIsNotWaitedFor() {
        unread(1, T0);
        unread(2, T0 + 1_000);
        pass(15 * 60);
        times.saw(2, T0 + 1_000, 1_000, 6);
        assertEquals(T0 + 101_000, times.bound(0, T0).limitMs());
    }

    @Test
    void aTimeAheadOfTheClockSaysNothing() {
        unread(1, wallMs.get() + 3_600_000);
        unread(2, T0);
        assertEquals(T0 + 100_000, times.bound(0, T0).limitMs());
    }

    @Test
    void theLatestTimeIsNoneThatNoClockHasYet() {
        assertEquals(PartitionTimes.UNKNOWN, times.newestMs());
        read(0, T0);
        read(1, 253_402_300_799_999L);
        assertEquals(T0, times.newestMs());
    }

    /** A record ahead of the clock says nothing of the others of its partition, whoever is waited for. */
    private Bound nobody() {
        return new Bound(Long.MAX_VALUE, Long.MAX_VALUE, wallMs.get() + 60_000);
    }

    private void unread(int partition, long timeMs) {
        times.saw(partition, timeMs, 1_000, 5);
    }

    private void read(int partition, long timeMs) {
        times.saw(partition, timeMs, 1_000, 1_000);
    }

    private void pass(int seconds) {
        wallMs.addAndGet(seconds * 1_000L);
    }

    private static Duration seconds(int seconds) {
        return Duration.ofSeconds(seconds);
    }
}
