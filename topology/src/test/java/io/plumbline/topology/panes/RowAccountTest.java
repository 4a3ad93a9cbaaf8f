package io.plumbline.topology.panes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;

import io.plumbline.moments.MaskRules;
import io.plumbline.moments.MaskedRows;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.records.MomentTile;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.windows.Panes;
import io.plumbline.topology.windows.SourceWatch;
import io.plumbline.topology.windows.WindowPipeline;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that every accepted row is in its windows, in an open one, or late with a reason; and the sum says when one is
 * not.
 */
class RowAccountTest {

    private static final long T0 = 1_700_000_000_000L / 60_000 * 60_000;
    private static final WindowSettings TUMBLING =
            new WindowSettings(Duration.ofSeconds(10), Duration.ofSeconds(10), Duration.ofSeconds(2), null, null);

    @TempDir
    private Path folder;

    private WindowPipeline pipeline;

    @AfterEach
    void close() {
        pipeline.close();
    }

    @Test
    void everyRowIsInAWindowOrOpenOrLate() {
        pipeline = new WindowPipeline(TUMBLING, 2, folder);
        read(0, 5, T0);
        read(1, 6, T0 + 1_000);
        read(0, 7, T0 + 12_000);
        read(0, 3, T0 + 9_000);
        read(1, 8, T0 + 13_000);
        assertEquals(1, pipeline.windows.size());
        // The 8 rows of the record that closed partition 1's pane are open there, as are the 7 before.
        // The 3 late ones came after partition 0 last spoke: they are in no term yet.
        assertAccount(26, 11, 15, 0);
        read(0, 2, T0 + 22_000);
        read(1, 2, T0 + 22_000);
        assertAccount(33, 26, 4, 3);
        assertEquals(Map.of(LateReason.AFTER_GRACE, 3L), pipeline.late);
        assertEquals(3, pipeline.lastAccount().late().get("after_grace"));
    }

    @Test
    void aRowOfManyHoppingWindowsIsOneRow() {
        Duration four = Duration.ofSeconds(4);
        pipeline = new WindowPipeline(
                new WindowSettings(four.multipliedBy(3), four, Duration.ZERO, null, null), 1, folder);
        for (int second = 0; second < 60; second++) {
            read(0, 1, T0 + second * 1_000L);
        }
        // The pane of the last four seconds is open at level 1, the two before it at level 2.
        assertAccount(57, 48, 9, 0);
        assertEquals(
                3 * 48 + 2 * 4 + 4,
                pipeline.windows.stream()
                        .mapToLong(window -> window.moment().rows())
                        .sum(),
                "each of 48 rows in three windows, four in two and four in one so far");
    }

    @Test
    void lateRowsAreToldWithoutAWindowThatCloses() {
        pipeline = new WindowPipeline(TUMBLING, 1, folder);
        read(0, 5, T0);
        read(0, 5, T0 + 12_000);
        read(0, 4, T0);
        List<PaneMessage> told = pipeline.passSecondsAtLevelOne(0, 5);
        assertEquals(1, told.size(), "once, although five seconds passed");
        PaneMessage.Progress progress = assertInstanceOf(PaneMessage.Progress.class, told.get(0));
        assertEquals(new RowsRead(14, 4, 0, 0, 5), progress.rows());
    }

    @Test
    void panesThatComeAfterTheirWindowAreLateAndAccountedFor() {
        pipeline = new WindowPipeline(
                new WindowSettings(
                        Duration.ofSeconds(10), Duration.ofSeconds(10), Duration.ZERO, Duration.ofSeconds(30), null),
                2,
                folder);
        read(0, 5, T0);
        pipeline.passSeconds(32);
        assertEquals(1, pipeline.windows.size(), "both partitions are silent, the window closes");
        read(1, 6, T0 + 3_000);
        read(1, 2, T0 + 10_000);
        assertEquals(Map.of(LateReason.WINDOW_CLOSED, 6L), pipeline.late);
        pipeline.passSeconds(31);
        assertAccount(13, 7, 0, 6);
    }

    @Test
    void rowsThatArriveBeforeTheirPartitionSpeaksCountOnce() {
        pipeline = new WindowPipeline(TUMBLING, 2, folder);
        pipeline.read(0, 1, 5, T0);
        pipeline.read(0, 2, 7, T0 + 12_000);
        // What it said of its first record, and the tile of the pane; not yet that the pane is closed.
        pipeline.deliver(0, 2);
        pipeline.read(1, 3, 6, T0 + 1_000);
        pipeline.read(1, 4, 8, T0 + 13_000);
        pipeline.deliver(1);
        assertEquals(5 + 6 + 8, pipeline.account.in());
        assertEquals(0, pipeline.account.unaccounted(), () -> pipeline.account.toString());
    }

    @Test
    void aTileThatIsLostOnTheWayShows() {
        pipeline = new WindowPipeline(TUMBLING, 1, folder);
        read(0, 5, T0);
        pipeline.read(0, 1, 7, T0 + 12_000);
        pipeline.lose(0, 1);
        pipeline.deliverAll();
        read(0, 1, T0 + 22_000);
        assertEquals(5, pipeline.lastAccount().unaccounted());
        RowAccount account = pipeline.lastAccount();
        assertEquals(account.in(), account.inWindows() + account.open() + account.lateRows() + 5);
    }

    @Test
    void panesOfASiteTakenOutAreAccountedForWhenTheyAreDeleted() {
        pipeline = new WindowPipeline(TUMBLING, 1, folder);
        SecondMomentAccumulator moment = SecondMomentAccumulator.ofDimension(WindowPipeline.WIDTH);
        moment.add(ActivationRecords.integerRows(9, 4, WindowPipeline.WIDTH));
        MomentTile tile =
                MomentTile.cut(WindowPipeline.WIDTH, 4, moment.state()).get(0);
        pipeline.compose("removed", Panes.tile(T0, 10_000, tile));
        pipeline.passHours(1);
        assertEquals(Map.of(), pipeline.late, "it may come back");
        pipeline.passHours(1);
        assertEquals(Map.of(LateReason.NOT_CONFIGURED, 4L), pipeline.late);
    }

    @Test
    void maskedRowsBelongToTheAccountAndToTheirWindow() {
        maskingPipeline(2);
        readTokens(0, T0, 1, 7, 7, 1);
        readTokens(1, T0 + 1_000, 1, 1, 1);
        readTokens(0, T0 + 12_000, 7, 1);
        readTokens(0, T0 + 9_000, 1, 7);
        readTokens(1, T0 + 13_000, 1, 7, 7);
        assertEquals(1, pipeline.windows.size());
        assertEquals(2, pipeline.windows.get(0).moment().rows());
        assertEquals(new MaskedRows(5, 0), pipeline.windows.get(0).masked());
        assertEquals(1, pipeline.windows.get(0).requests(), "the other record had nothing to add");
        assertEquals(Map.of("token_id", 5L, "norm", 0L), pipeline.lastAccount().masked());
        // Of open panes all rows are open, of late records all rows are late.
        readTokens(0, T0 + 22_000, 7, 1);
        readTokens(1, T0 + 22_000, 7);
        RowAccount account = pipeline.lastAccount();
        assertEquals(17, account.in());
        assertEquals(5, account.inWindows());
        assertEquals(Map.of("token_id", 7L, "norm", 0L), account.masked());
        assertEquals(2, account.lateRows());
        assertEquals(3, account.open());
        assertEquals(0, account.unaccounted(), account::toString);
        assertEquals(17, pipeline.rowsAccepted);
    }

    @Test
    void maskedRowsThatArriveBeforeTheirPartitionSpeaksCountOnce() {
        maskingPipeline(2);
        readTokens(0, T0, 1, 7);
        byte[] next = ActivationRecords.blob(ActivationRecords.integerRows(1, 1, WindowPipeline.WIDTH), 7);
        pipeline.read(WindowPipeline.SITE, 0, next, T0 + 12_000);
        // The tile of the pane and its masked rows; not yet that the pane is closed.
        pipeline.deliver(0, 2);
        pipeline.read(WindowPipeline.SITE, 1, next, T0 + 1_000);
        pipeline.deliver(1);
        assertEquals(3, pipeline.account.in());
        assertEquals(0, pipeline.account.unaccounted(), () -> pipeline.account.toString());
    }

    @Test
    void aWindowOfMaskedRowsAloneIsNoWindowAndItsRowsAreAccountedFor() {
        maskingPipeline(1);
        readTokens(0, T0, 1, 1, 1);
        readTokens(0, T0 + 12_000, 7);
        assertEquals(0, pipeline.windows.size());
        RowAccount account = pipeline.account;
        assertEquals(Map.of("token_id", 3L, "norm", 0L), account.masked());
        assertEquals(4, account.in());
        assertEquals(1, account.open());
        assertEquals(0, account.unaccounted(), account::toString);
    }

    @Test
    void maskedRowsThatComeAfterTheirWindowAreLate() {
        maskingPipeline(1);
        pipeline.compose(
                WindowPipeline.SITE,
                new PaneMessage.Progress(0, 1, T0 + 20_000, false, T0 + 20_000, new RowsRead(3, 0, 0, 0, 0)));
        pipeline.compose(WindowPipeline.SITE, new PaneMessage.OfPane(0, T0, 10_000, Pane.MOMENT, 3, 1, new byte[0]));
        assertEquals(Map.of(LateReason.WINDOW_CLOSED, 3L), pipeline.late);
        pipeline.compose(
                WindowPipeline.SITE,
                new PaneMessage.Progress(0, 1, T0 + 20_000, false, T0 + 20_000, new RowsRead(3, 0, 0, 0, 0)));
        assertEquals(0, pipeline.account.unaccounted(), () -> pipeline.account.toString());
    }

    /** Starts a pipeline of a site whose token 1 is masked. */
    private void maskingPipeline(int partitions) {
        RowMask mask = RowMask.of(new MaskRules(List.of(1L), null), null);
        pipeline = new WindowPipeline(TUMBLING, partitions, folder, SourceWatch.ALWAYS_READ, mask);
    }

    private void readTokens(int partition, long timestampMs, long... tokenIds) {
        byte[] record = ActivationRecords.blob(
                ActivationRecords.integerRows(timestampMs, tokenIds.length, WindowPipeline.WIDTH), tokenIds);
        pipeline.read(WindowPipeline.SITE, partition, record, timestampMs);
        pipeline.deliverAll();
    }

    private void read(int partition, int rows, long timestampMs) {
        pipeline.read(partition, timestampMs, rows, timestampMs);
        pipeline.deliverAll();
    }

    private void assertAccount(long in, long inWindows, long open, long late) {
        RowAccount account = pipeline.lastAccount();
        assertEquals(0, account.unaccounted(), account::toString);
        assertEquals(
                "in %d, in windows %d, open %d, late %d".formatted(in, inWindows, open, late),
                "in %d, in windows %d, open %d, late %d"
                        .formatted(account.in(), account.inWindows(), account.open(), account.lateRows()));
    }
}
