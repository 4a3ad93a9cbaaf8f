package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.panes.WindowSettings;
import io.plumbline.topology.windows.ClosedWindow.ClosedBy;
import io.plumbline.topology.windows.SourceWatch.Sight;
import java.nio.file.Path;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that a site is silent when its source was there, was read to its end, and held none of its records; not before.
 */
class SilenceTest {

    private static final long T0 = 1_700_000_000_000L / 60_000 * 60_000;
    private static final Duration IDLE = Duration.ofSeconds(30);

    @TempDir
    private Path folder;

    private Sight sight = new Sight(0, Long.MAX_VALUE, 0, 0);
    private WindowPipeline pipeline;

    @AfterEach
    void close() {
        pipeline.close();
    }

    @Test
    void aSourceThatDoesNotAnswerIsNoSilence() {
        start(IDLE);
        pipeline.read(0, 1, 4, T0);
        sight = new Sight(0, now() + 5_000, 1, 1);
        pipeline.passSeconds(600);
        assertTrue(pipeline.windows.isEmpty(), "for all but five seconds nobody knows what lies there");
        // It answers again: a producer that held rows back needs time to send them.
        sight = new Sight(now(), Long.MAX_VALUE, 1, 1);
        pipeline.passSeconds(29);
        assertTrue(pipeline.windows.isEmpty());
        pipeline.read(0, 2, 3, T0 + 9_000);
        pipeline.passSeconds(31);
        assertEquals(1, pipeline.windows.size());
        assertEquals(7, pipeline.windows.get(0).moment().rows(), "what came after the outage is in its window");
        assertEquals(0, pipeline.lateRows());
    }

    @Test
    void recordsThatLieUnreadAreNoSilence() {
        start(IDLE);
        pipeline.read(0, 1, 4, T0);
        sight = new Sight(0, Long.MAX_VALUE, 2, 0);
        pipeline.passSeconds(120);
        assertTrue(pipeline.windows.isEmpty(), "one record of two was read");
        pipeline.read(0, 2, 3, T0 + 9_000);
        pipeline.passSeconds(31);
        assertEquals(7, pipeline.windows.get(0).moment().rows());
    }

    @Test
    void anAnswerCountsFromWhenItWasGivenAndNotFromWhenItWasReached() {
        start(IDLE);
        pipeline.read(0, 1, 4, T0);
        sight = new Sight(0, now() + 1_000, 2, 0);
        pipeline.passSeconds(100);
        pipeline.read("another", 0, new byte[0], T0);
        sight = new Sight(0, now() - 60_000, 2, 2);
        pipeline.passSeconds(3);
        assertEquals(1, pipeline.windows.size(), "40 s of the 100 are known to have been silent");
        assertEquals(ClosedBy.IDLE, pipeline.windows.get(0).closedBy());
    }

    @Test
    void offsetsWithoutRecordsAreReadWhenTheyAreCommitted() {
        start(IDLE);
        pipeline.read(0, 1, 4, T0);
        sight = new Sight(0, Long.MAX_VALUE, 3, 3);
        pipeline.passSeconds(31);
        assertEquals(1, pipeline.windows.size(), "markers of transactions are never handed to anyone");
    }

    @Test
    void aPartitionThatDoesNotMoveIsNotWaitedForForEver() {
        start(IDLE);
        pipeline.read(0, 1, 4, T0);
        sight = new Sight(0, Long.MAX_VALUE, 3, 0);
        pipeline.passSeconds((int) SourceWatch.PATIENCE.toSeconds() - 5);
        assertTrue(pipeline.windows.isEmpty());
        pipeline.passSeconds(40);
        assertEquals(1, pipeline.windows.size());
    }

    @Test
    void aPartitionThatNeverCarriedASiteHoldsNothingBackOnceItIsRead() {
        pipeline = new WindowPipeline(settings(null), 2, folder, partition -> partition == 0 ? always() : sight);
        sight = new Sight(0, Long.MAX_VALUE, 7, 0);
        pipeline.read(0, 1, 4, T0);
        pipeline.read(0, 2, 4, T0 + 20_000);
        pipeline.passSeconds(120);
        assertTrue(pipeline.windows.isEmpty(), "the site may be among what lies unread");
        sight = new Sight(0, Long.MAX_VALUE, 7, 7);
        pipeline.passSeconds(2);
        assertEquals(1, pipeline.windows.size());
        pipeline.passSeconds(600);
        assertEquals(1, pipeline.windows.size(), "windows close by event time alone");
    }

    private static Sight always() {
        return SourceWatch.ALWAYS_READ.sight(0);
    }

    private long now() {
        return pipeline.nowMs();
    }

    private void start(Duration idleClose) {
        pipeline = new WindowPipeline(settings(idleClose), 1, folder, partition -> sight);
    }

    private static WindowSettings settings(Duration idleClose) {
        return new WindowSettings(
                Duration.ofSeconds(10), Duration.ofSeconds(10), Duration.ofSeconds(2), idleClose, null);
    }
}
