package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;

class SiteProgressTest {

    private final SiteProgress progress = new SiteProgress();

    @Test
    void whoWasNeverHeardHoldsTheFrontierBack() {
        assertTrue(progress.frontierMs() <= 0, "no partition is known");
        hear(0, 2, 50, false);
        assertEquals(SiteProgress.NEVER, progress.frontierMs());
        hear(1, 2, 30, false);
        assertEquals(30, progress.frontierMs());
    }

    @Test
    void theFrontierIsThatOfTheSlowestWhoSpeaks() {
        hear(0, 3, 50, false);
        hear(1, 3, 10, false);
        hear(2, 3, 70, false);
        assertEquals(10, progress.frontierMs());
        hear(1, 3, 60, false);
        assertEquals(50, progress.frontierMs());
    }

    @Test
    void theSilentDoNotCountUntilTheySpeakAgain() {
        hear(0, 2, 50, false);
        hear(1, 2, 10, true);
        assertEquals(50, progress.frontierMs());
        hear(1, 2, 10, false);
        assertEquals(10, progress.frontierMs());
    }

    @Test
    void whereAllAreSilentWhatAnyoneClosedIsClosed() {
        hear(0, 2, 50, true);
        hear(1, 2, 80, true);
        assertEquals(80, progress.frontierMs());
    }

    @Test
    void aPartitionThatIsSilentFromTheStartHoldsNothingBack() {
        hear(0, 2, 50, false);
        hear(1, 2, SiteClock.NEVER, true);
        assertEquals(50, progress.frontierMs());
    }

    @Test
    void whatIsClosedStaysClosed() {
        hear(0, 1, 50, false);
        hear(0, 1, 20, false);
        assertEquals(50, progress.frontierMs());
        progress.closeWindowsUpTo(40);
        progress.closeWindowsUpTo(30);
        assertTrue(progress.isClosed(40));
        assertFalse(progress.isClosed(41));
    }

    @Test
    void aPartitionAddedToTheTopicIsWaitedFor() {
        hear(0, 1, 50, false);
        assertEquals(50, progress.frontierMs());
        hear(0, 2, 60, false);
        assertEquals(SiteProgress.NEVER, progress.frontierMs());
        hear(1, 2, 55, false);
        assertEquals(55, progress.frontierMs());
    }

    private void hear(int partition, int partitions, long closedUpToMs, boolean silent) {
        progress.update(
                new PaneMessage.Progress(partition, partitions, closedUpToMs, silent, closedUpToMs, RowsRead.NONE), 0);
    }
}
