package io.plumbline.topology.windows;

import static io.plumbline.topology.windows.WindowPipeline.OTHER;
import static io.plumbline.topology.windows.WindowPipeline.SITE;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.panes.LateReason;
import io.plumbline.topology.panes.PaneMessage;
import io.plumbline.topology.panes.SiteClock;
import io.plumbline.topology.panes.WindowSettings;
import io.plumbline.topology.windows.ClosedWindow.ClosedBy;
import io.plumbline.topology.windows.SourceWatch.Sight;
import java.nio.file.Path;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests what the records of one site say of another on the same partition, in a backlog that is read for long. A site
 * is passed over after 92 s of event time: 30 s of silence, 2 s of grace and the minute that clocks may be ahead.
 */
class PassedOverSitesTest {

    private static final long T0 = 1_700_000_000_000L / 60_000 * 60_000;
    private static final Duration TEN = Duration.ofSeconds(10);
    private static final WindowSettings SETTINGS =
            new WindowSettings(TEN, TEN, Duration.ofSeconds(2), Duration.ofSeconds(30), Duration.ofMinutes(10));

    /** A source in which something lies unread all the time: nobody is ever silent. */
    private static final SourceWatch BACKLOG = partition -> new Sight(0, Long.MAX_VALUE, Long.MAX_VALUE, 0);

    private static final int WAITING_PANES = 200;

    @TempDir
    private Path folder;

    private WindowPipeline pipeline;

    @AfterEach
    void close() {
        pipeline.close();
    }

    @Test
    void sitesOnPartitionsOfTheirOwnCloseTheirWindowsWhileTheBacklogIsRead() {
        start(2);
        for (int second = 0; second < 400; second += 2) {
            read(SITE, 0, second);
            read(OTHER, 1, second);
        }
        List<Long> expected = starts(0, 290);
        assertEquals(expected, starts(SITE));
        assertEquals(expected, starts(OTHER));
        assertTrue(pipeline.windows.stream().allMatch(window -> window.closedBy() == ClosedBy.EVENT_TIME));
        assertTrue(pipeline.windows.stream().allMatch(window -> window.moment().rows() == 5));
        assertEquals(Map.of(), pipeline.late);
    }

    @Test
    void theSlowerPartitionIsWaitedForByTheTimeOfTheOtherSite() {
        start(2);
        for (int second = 0; second < 400; second += 2) {
            read(SITE, 0, second);
        }
        assertEquals(List.of(), starts(SITE));
        read(OTHER, 1, 0);
        read(OTHER, 1, 200);
        assertEquals(starts(0, 100), starts(SITE), "200 s less the absence, in whole panes");
    }

    @Test
    void aSiteThatLeavesAPartitionForAnotherIsNotWaitedForThere() {
        start(2);
        for (int second = 0; second < 600; second += 2) {
            read(SITE, second < 100 ? 1 : 0, second);
            read(OTHER, 1, second);
        }
        assertEquals(starts(0, 490), starts(SITE), "the last pane of partition 1 is among them");
        assertEquals(Map.of(), pipeline.late);
    }

    @Test
    void aSiteThatComesBackIsWaitedForAgainAndNothingOfItIsLate() {
        start(2);
        for (int second = 0; second < 900; second += 2) {
            read(OTHER, 1, second);
            if (second < 100 || second >= 500) {
                // The same rows, on a partition that is delivered before or behind the other.
                pipeline.read(SITE, second / 100 % 2, blob(second), T0 + second * 1_000L);
            }
            if (second % 50 == 48) {
                pipeline.deliverAll();
            }
        }
        read(SITE, 0, 1_000);
        read(SITE, 1, 1_000);
        assertEquals(Map.of(), pipeline.late);
        assertEquals(0, pipeline.account.unaccounted());
        assertEquals(250, rows(SITE));
    }

    /** A producer that keeps its records for ten minutes and sends them then. */
    @Test
    void aSiteWhoseRecordsComeLongAfterThoseOfOthersLosesNone() {
        start(1);
        for (int batch = 0; batch < 5; batch++) {
            for (int second = 0; second < 600; second += 2) {
                read(OTHER, 0, batch * 600 + second);
            }
            for (int second = 0; second < 600; second += 2) {
                read(SITE, 0, batch * 600 + second);
            }
        }
        assertEquals(Map.of(), pipeline.late);
        assertEquals(5 * 300 - 5, rows(SITE), "all but the open window");
    }

    @Test
    void aClockAMinuteAheadClosesNothingOfAnotherSite() {
        start(1);
        for (int second = 0; second < 60; second += 2) {
            read(SITE, 0, second);
        }
        read(OTHER, 0, 60 + 58);
        for (int second = 60; second < 120; second += 2) {
            read(SITE, 0, second);
        }
        assertEquals(Map.of(), pipeline.late);
        assertEquals(starts(0, 110), starts(SITE));
    }

    @Test
    void aPartitionSpeaksOfASiteOncePerPane() {
        start(2);
        for (int second = 0; second < 400; second++) {
            pipeline.read(OTHER, 1, blob(second), T0 + second * 1_000L);
        }
        long said = pipeline.passSecondsAtLevelOne(1, 1).stream()
                .filter(message ->
                        message instanceof PaneMessage.Progress step && step.eventTimeMs() == SiteClock.NEVER)
                .count();
        assertEquals(39, said, "one for each pane of 10 s that began");
    }

    /**
     * Reading is held back by the consumer, which is not here: nothing but the bound stands between this and memory.
     */
    @Test
    void moreWaitingPanesThanMayBeGiveTheSlowestPartitionUp() {
        start(2);
        for (int second = 0; second < 10 * WAITING_PANES + 10; second += 2) {
            read(SITE, 0, second);
        }
        assertEquals(List.of(), starts(SITE));
        for (int second = 0; second < 100; second += 2) {
            read(SITE, 0, 10 * WAITING_PANES + 10 + second);
            assertTrue(pipeline.state().panes(SITE).size() <= WAITING_PANES);
        }
        assertEquals(List.of(1), pipeline.givenUp);
        assertEquals(ClosedBy.MAX_HOLD, pipeline.windows.get(0).closedBy());
        pipeline.read(SITE, 1, blob(1), T0);
        pipeline.read(SITE, 1, blob(1), T0 + 20_000);
        pipeline.deliverAll();
        assertEquals(Map.of(LateReason.HELD_TOO_LONG, 1L), pipeline.late);
    }

    private void start(int partitions) {
        pipeline = WindowPipeline.ofTwoSites(SETTINGS, partitions, folder, BACKLOG, WAITING_PANES);
    }

    private void read(String site, int partition, int second) {
        pipeline.read(site, partition, blob(second), T0 + second * 1_000L);
        pipeline.deliverAll();
    }

    private static byte[] blob(int seed) {
        return ActivationRecords.blob(ActivationRecords.integerRows(seed, 1, WindowPipeline.WIDTH));
    }

    private List<Long> starts(String site) {
        return pipeline.windows.stream()
                .filter(window -> window.site().equals(site))
                .map(ClosedWindow::startMs)
                .toList();
    }

    private long rows(String site) {
        Map<String, Long> rows = new HashMap<>();
        pipeline.windows.forEach(
                window -> rows.merge(window.site(), window.moment().rows(), Long::sum));
        return rows.getOrDefault(site, 0L);
    }

    /** Returns the starts of windows of 10 s. */
    private static List<Long> starts(int fromSecond, int toSecond) {
        return LongStream.range(fromSecond / 10, toSecond / 10)
                .mapToObj(window -> T0 + window * 10_000)
                .toList();
    }
}
