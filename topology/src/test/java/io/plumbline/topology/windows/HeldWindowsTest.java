package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.panes.LateReason;
import io.plumbline.topology.panes.WindowSettings;
import io.plumbline.topology.windows.ClosedWindow.ClosedBy;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that a partition may hold windows back while it catches up, and not for ever. One second here and one in the
 * records go together.
 */
class HeldWindowsTest {

    private static final long T0 = 1_700_000_000_000L / 60_000 * 60_000;
    private static final long YEAR = Duration.ofDays(365).toMillis();
    private static final Duration TEN = Duration.ofSeconds(10);
    private static final Duration MAX_HOLD = Duration.ofSeconds(100);

    @TempDir
    private Path folder;

    private WindowPipeline pipeline;
    private long seconds;

    @AfterEach
    void close() {
        pipeline.close();
    }

    @Test
    void aPartitionAYearBehindIsGivenUpAndItsRowsAreLateUntilItHasCaughtUp() {
        start(MAX_HOLD);
        live(95, YEAR, 1);
        assertEquals(List.of(), windowsOfToday(), "it is waited for");
        assertEquals(List.of(), pipeline.givenUp);
        live(20, YEAR, 1);
        assertEquals(List.of(1), pipeline.givenUp);
        assertFalse(windowsOfToday().isEmpty());
        assertEquals(ClosedBy.MAX_HOLD, windowsOfToday().get(0).closedBy());
        assertTrue(pipeline.lateRows() > 0);
        assertEquals(Map.of(LateReason.HELD_TOO_LONG, pipeline.lateRows()), pipeline.late);
        int windows = windowsOfToday().size();
        live(40, YEAR, 1);
        assertEquals(windows + 4, windowsOfToday().size(), "and the others go on");
        // The clock is put right: from then on it is waited for again.
        long late = pipeline.lateRows();
        live(60, 0, 1);
        long lateAfter = pipeline.lateRows();
        assertTrue(lateAfter - late <= 2 * 10, "the panes that were open when it was put right");
        live(60, 0, 1);
        assertEquals(lateAfter, pipeline.lateRows());
        ClosedWindow last = pipeline.windows.get(pipeline.windows.size() - 1);
        assertEquals(20, last.moment().rows(), "rows of both");
        assertEquals(0, last.account().unaccounted());
        assertEquals(List.of(1), pipeline.givenUp);
    }

    /** Tests a window that may close while a pane of it arrives, from a partition that is nearly back. */
    @Test
    void aPaneOfAPartitionThatWasGivenUpIsTakenAsAWhole() {
        pipeline = new WindowPipeline(new WindowSettings(TEN, TEN, TEN, null, MAX_HOLD), 2, folder);
        live(130, YEAR, 1);
        assertEquals(List.of(1), pipeline.givenUp);
        assertEquals(110_000, lastWindow().endMs() - T0);
        pipeline.read(1, 1, 1, T0 + 115_000);
        pipeline.deliver(1);
        long late = pipeline.lateRows();
        pipeline.read(1, 2, 1, T0 + 131_000);
        pipeline.deliver(1, 1);
        pipeline.read(0, 3, 1, T0 + 131_000);
        pipeline.deliver(0);
        assertEquals(110_000, lastWindow().endMs() - T0, "the rest of the pane is on its way");
        pipeline.deliver(1);
        ClosedWindow window = lastWindow();
        assertEquals(120_000, window.endMs() - T0);
        assertTrue(window.complete());
        assertEquals(11, window.moment().rows());
        assertEquals(late, pipeline.lateRows());
        assertEquals(0, window.account().unaccounted());
    }

    private ClosedWindow lastWindow() {
        return pipeline.windows.get(pipeline.windows.size() - 1);
    }

    @Test
    void aPartitionThatCatchesUpIsNeverGivenUp() {
        start(MAX_HOLD);
        live(400, 400_000, 2);
        assertEquals(List.of(), pipeline.givenUp);
        assertEquals(0, pipeline.lateRows());
    }

    @Test
    void oneThatCatchesUpMoreSlowlyThanATenthIsGivenUp() {
        start(MAX_HOLD);
        live(300, YEAR, 1.05);
        assertEquals(List.of(1), pipeline.givenUp);
    }

    @Test
    void aPartitionThatWasNeverHeardIsGivenUpToo() {
        start(MAX_HOLD);
        for (int second = 0; second < 110; second++) {
            pipeline.read(0, seconds, 1, T0 + seconds++ * 1_000);
            pipeline.deliver(0);
            pipeline.passSecondsWithout(1);
        }
        assertEquals(List.of(1), pipeline.givenUp);
        assertFalse(pipeline.windows.isEmpty());
    }

    @Test
    void whereNobodyElseIsHeardNobodyIsGivenUp() {
        start(MAX_HOLD);
        live(50, YEAR, 1);
        pipeline.passSecondsWithout(1_000);
        assertEquals(List.of(), pipeline.givenUp, "the broker is away, or the monitor stood still");
        live(20, YEAR, 1);
        assertEquals(List.of(), pipeline.givenUp);
        live(60, YEAR, 1);
        assertEquals(List.of(1), pipeline.givenUp);
    }

    @Test
    void withoutALimitItIsWaitedForForEver() {
        start(null);
        live(2_000, YEAR, 1);
        assertEquals(List.of(), windowsOfToday());
        assertEquals(List.of(), pipeline.givenUp);
    }

    /** Returns the windows of today: a partition that is a year behind has windows of its own, a year ago. */
    private List<ClosedWindow> windowsOfToday() {
        return pipeline.windows.stream()
                .filter(window -> window.startMs() >= T0)
                .toList();
    }

    /** Lets partition 0 go with the clock; partition 1 begins {@code behindMs} behind it and goes at {@code pace}. */
    private void live(int forSeconds, long behindMs, double pace) {
        for (int second = 0; second < forSeconds; second++) {
            pipeline.read(0, seconds, 1, T0 + seconds * 1_000);
            double ownMs = (seconds - second) * 1_000L - behindMs + second * 1_000L * pace;
            pipeline.read(1, seconds, 1, T0 + (long) Math.min(ownMs, (double) (seconds * 1_000L)));
            seconds++;
            pipeline.passSeconds(1);
        }
    }

    private void start(Duration maxHold) {
        pipeline = new WindowPipeline(settings(maxHold), 2, folder);
    }

    private static WindowSettings settings(Duration maxHold) {
        return new WindowSettings(TEN, TEN, Duration.ZERO, null, maxHold);
    }
}
