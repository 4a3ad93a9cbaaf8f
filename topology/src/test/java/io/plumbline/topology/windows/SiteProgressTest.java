package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.panes.PaneMessage;
import io.plumbline.topology.panes.RowsRead;
import io.plumbline.topology.panes.SiteClock;
import io.plumbline.topology.panes.WindowSettings;
import java.time.Duration;
import java.util.List;
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

    @Test
    void thatAPartitionIsGivenUpOutlivesARestart() {
        SiteProgress progress = new SiteProgress();
        progress.update(spoke(0, 600_000), 0);
        progress.update(spoke(1, 0), 0);
        Duration ten = Duration.ofSeconds(10);
        WindowSettings settings = new WindowSettings(ten, ten, Duration.ZERO, null, Duration.ofSeconds(100));
        assertEquals(List.of(), progress.hold(1_000, 0, 1_000, settings, 100_000));
        assertEquals(List.of(1), progress.hold(100_000, 0, 1_000, settings, 100_000));
        SiteProgress restored = SiteProgress.CODEC.decode(SiteProgress.CODEC.encode(progress));
        assertTrue(restored.isGivenUp(1));
        assertEquals(600_000, restored.frontierMs());
        restored.closeWindowsUpTo(600_000);
        restored.update(spoke(1, 590_000), 0);
        assertTrue(restored.isGivenUp(1), "it has not closed all that the windows have");
        restored.update(spoke(1, 600_000), 0);
        assertFalse(restored.isGivenUp(1));
    }

    @Test
    void otherSitesMoveAPartitionOnAndNoFartherThanTheSiteIsClosed() {
        progress.update(new PaneMessage.Progress(0, 2, 50_000, false, 50_000, RowsRead.NONE), 0);
        progress.update(
                new PaneMessage.Progress(1, 2, SiteClock.NEVER, false, SiteClock.NEVER, 40_000, false, RowsRead.NONE),
                0);
        assertEquals(40_000, progress.frontierMs());
        SiteProgress restarted = SiteProgress.CODEC.decode(SiteProgress.CODEC.encode(progress));
        assertEquals(40_000, restarted.frontierMs());
        restarted.update(
                new PaneMessage.Progress(1, 2, SiteClock.NEVER, false, SiteClock.NEVER, 90_000, false, RowsRead.NONE),
                0);
        assertEquals(50_000, restarted.frontierMs(), "no farther than a partition has closed of the site");
    }

    private static PaneMessage.Progress spoke(int partition, long closedUpToMs) {
        return new PaneMessage.Progress(partition, 2, closedUpToMs, false, closedUpToMs, RowsRead.NONE);
    }

    /**
     * Tests two lengths of windows: those of 10 s took panes of 10 s with them; windows of 20 s by 10 s share those
     * panes.
     */
    @Test
    void noLongerWindowBeginsBeforePanesThatShorterOnesTookWithThem() {
        WindowSettings shorter = windows(10, 10);
        WindowSettings longer = windows(20, 10);
        progress.closeWindowsUpTo(30_000);
        progress.forgetPanesBefore(30_000);
        SiteProgress restarted = SiteProgress.CODEC.decode(SiteProgress.CODEC.encode(progress));
        assertEquals(30_000, restarted.firstOpenWindow(shorter, 30_000, 30_000));
        assertEquals(30_000, restarted.firstOpenWindow(longer, 30_000, 30_000), "[20 s, 40 s) lacks a pane");
    }

    @Test
    void aWindowThatSharesPanesWithTheOneBeforeStillBeginsAmongThem() {
        progress.closeWindowsUpTo(30_000);
        progress.forgetPanesBefore(20_000);
        assertEquals(20_000, progress.firstOpenWindow(windows(20, 10), 30_000, 20_000));
        assertEquals(30_000, progress.firstOpenWindow(windows(30, 15), 30_000, 20_000), "starts are multiples of 15 s");
    }

    private static WindowSettings windows(int size, int advance) {
        return new WindowSettings(
                Duration.ofSeconds(size), Duration.ofSeconds(advance), Duration.ZERO, null, Duration.ofMinutes(1));
    }

    private void hear(int partition, int partitions, long closedUpToMs, boolean silent) {
        progress.update(
                new PaneMessage.Progress(partition, partitions, closedUpToMs, silent, closedUpToMs, RowsRead.NONE), 0);
    }
}
