package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.moments.RowMask;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.records.MomentTile;
import io.plumbline.topology.panes.LateReason;
import io.plumbline.topology.panes.Pane;
import io.plumbline.topology.panes.RequestTotalling;
import io.plumbline.topology.panes.WindowSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Function;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WindowsUnderWayTest {

    private static final long T0 = 1_700_000_000_000L;
    private static final long SIZE_MS = 10_000;
    private static final int ROWS = 3;

    @TempDir
    private Path folder;

    /** The tasks that were handed over and are not yet run. */
    private final Deque<Runnable> handed = new ArrayDeque<>();

    @Test
    void aWindowLeavesTheStateWhenItsWorkIsDoneAndNotBefore() {
        try (WindowPipeline pipeline = pipeline(1, WindowWork.NONE, handed::add)) {
            fill(pipeline, 0);
            fill(pipeline, 1);
            assertEquals(1, handed.size());
            pipeline.passSeconds(3);
            assertEquals(List.of(), pipeline.windows);
            SiteProgress progress = pipeline.state().site(WindowPipeline.SITE);
            assertEquals(T0, progress.windowsClosedUpToMs(), "a successor would close it again");
            assertTrue(pipeline.state().panes(WindowPipeline.SITE).containsKey(T0));
            assertEquals(0, pipeline.account.inWindows());

            handed.remove().run();
            pipeline.passSeconds(1);
            assertEquals(1, pipeline.windows.size());
            assertEquals(ROWS, pipeline.windows.get(0).moment().rows());
            assertEquals(ROWS, pipeline.lastAccount().inWindows());
            assertEquals(T0 + SIZE_MS, progress.windowsClosedUpToMs());
            assertFalse(pipeline.state().panes(WindowPipeline.SITE).containsKey(T0));
        }
    }

    /**
     * Tests that workers add panes: twelve of 17 MB each would hold up the stream as long as a window's assessment once
     * did.
     */
    @Test
    void panesAreAddedTogetherByTheWorkersAndAsTheyWereAtTheClose() {
        WindowSettings hopping =
                new WindowSettings(Duration.ofSeconds(20), Duration.ofSeconds(10), Duration.ZERO, null, null);
        try (WindowPipeline pipeline = pipeline(hopping, 1, WindowWork.NONE, handed::add)) {
            fill(pipeline, 0);
            fill(pipeline, 1);
            fill(pipeline, 2);
            assertEquals(2, handed.size());
            assertEquals(0, pipeline.composed.get());
            // The first window is finished, and its first pane forgotten, while the second one is not composed yet.
            handed.remove().run();
            pipeline.passSeconds(1);
            assertEquals(1, pipeline.composed.get());
            double[] before = pipeline.state()
                    .panes(WindowPipeline.SITE)
                    .get(T0)
                    .moment()
                    .snapshot()
                    .state();
            MomentTile tile = MomentTile.cut(WindowPipeline.WIDTH, ROWS, before).get(0);
            pipeline.compose(WindowPipeline.SITE, Panes.tile(T0, SIZE_MS, tile));
            assertEquals(Map.of(LateReason.WINDOW_CLOSED, (long) ROWS), pipeline.late);
            handed.remove().run();
            pipeline.passSeconds(1);
            assertEquals(
                    List.of(T0 - SIZE_MS, T0),
                    pipeline.windows.stream().map(ClosedWindow::startMs).toList());
            assertEquals(2L * ROWS, pipeline.windows.get(1).moment().rows());
            assertEquals(2, pipeline.windows.get(1).requests());
        }
    }

    @Test
    void rowsThatComeForAWindowUnderWayAreLate() {
        try (WindowPipeline pipeline = pipeline(2, WindowWork.NONE, handed::add)) {
            pipeline.read(0, 1, ROWS, T0);
            pipeline.read(1, 2, ROWS, T0 + SIZE_MS);
            pipeline.read(0, 3, ROWS, T0 + SIZE_MS);
            pipeline.deliver(0);
            pipeline.deliver(1);
            pipeline.passSeconds(3);
            assertEquals(1, handed.size(), "closed by what both partitions have closed");
            SiteProgress progress = pipeline.state().site(WindowPipeline.SITE);
            assertTrue(progress.isClosed(T0 + SIZE_MS));
            assertFalse(progress.isClosed(T0 + 2 * SIZE_MS));
        }
    }

    @Test
    void windowsAreForwardedInTheOrderInWhichTheyClosed() {
        try (WindowPipeline pipeline = pipeline(1, WindowWork.NONE, handed::add)) {
            fill(pipeline, 0);
            fill(pipeline, 1);
            fill(pipeline, 2);
            assertEquals(2, handed.size());
            handed.removeLast().run();
            pipeline.passSeconds(1);
            assertEquals(List.of(), pipeline.windows, "the second waits for the first");
            handed.remove().run();
            pipeline.passSeconds(1);
            assertEquals(
                    List.of(T0, T0 + SIZE_MS),
                    pipeline.windows.stream().map(ClosedWindow::startMs).toList());
        }
    }

    @Test
    void moreThanAreLetUnderWayWaitForTheOldest() throws Exception {
        CountDownLatch full = new CountDownLatch(WindowComposer.MOST_UNDER_WAY);
        ExecutorService one = Executors.newSingleThreadExecutor();
        try (WindowPipeline pipeline = pipeline(1, WindowWork.NONE, work -> {
            full.countDown();
            one.execute(work);
        })) {
            one.execute(() -> awaitQuietly(full));
            for (int window = 0; window < 6; window++) {
                fill(pipeline, window);
            }
            assertTrue(
                    pipeline.windows.size() >= 5 - WindowComposer.MOST_UNDER_WAY, "windows " + pipeline.windows.size());
            assertTrue(pipeline.stalls.stream().allMatch(nanoseconds -> nanoseconds > 0) && !pipeline.stalls.isEmpty());
        } finally {
            one.shutdownNow();
        }
    }

    @Test
    void whatTheWorkThrowsStopsTheTaskAndNamesTheWindow() {
        WindowWork<ClosedWindow> broken = window -> {
            throw new IllegalStateException("did not converge");
        };
        try (WindowPipeline pipeline = pipeline(1, broken, Runnable::run)) {
            fill(pipeline, 0);
            RuntimeException stopped = assertThrows(RuntimeException.class, () -> fill(pipeline, 1));
            String message = String.valueOf(stopped.getCause());
            assertTrue(message.contains(WindowPipeline.SITE) && message.contains("did not converge"), message);
        }
    }

    /** Tests an error such as no memory left: what the process does then is not decided here. */
    @Test
    void anErrorStaysAnError() {
        WindowWork<ClosedWindow> broken = window -> {
            throw new OutOfMemoryError("of this test");
        };
        WindowsUnderWay<ClosedWindow> underWay = underWay(broken, Runnable::run);
        underWay.begin(window(ROWS), 0);
        assertThrows(OutOfMemoryError.class, underWay.next(true)::join);
    }

    /**
     * Tests a task that lost its state and begins again with the same objects: what it remembered would close windows
     * twice, or never.
     */
    @Test
    void ofWhatIsDroppedNothingIsLeftNorBegun() {
        AtomicInteger worked = new AtomicInteger();
        WindowsUnderWay<ClosedWindow> underWay = underWay(
                window -> {
                    worked.incrementAndGet();
                    return Function.identity();
                },
                handed::add);
        underWay.begin(window(ROWS), 0);
        underWay.mark(WindowPipeline.SITE, new WindowsUnderWay.Mark(T0 + SIZE_MS, T0 + SIZE_MS));
        assertTrue(underWay.holds(WindowPipeline.SITE));
        underWay.drop();
        assertEquals(0, underWay.size());
        assertFalse(underWay.holds(WindowPipeline.SITE));
        assertNull(underWay.mark(WindowPipeline.SITE));
        handed.forEach(Runnable::run);
        assertEquals(0, worked.get());
    }

    @Test
    void aWindowWithoutRowsTakesItsTurnAndNoWorker() {
        WindowsUnderWay<ClosedWindow> underWay = underWay(WindowWork.NONE, handed::add);
        underWay.begin(window(ROWS), 0);
        underWay.begin(window(0), 0);
        assertEquals(1, handed.size());
        assertNull(underWay.next(false), "the one before it is not done");
        handed.remove().run();
        assertEquals(ROWS, underWay.next(false).join().window().moment().rows());
        assertNull(underWay.next(false).join());
    }

    private static WindowsUnderWay<ClosedWindow> underWay(WindowWork<ClosedWindow> work, Executor workers) {
        return new WindowsUnderWay<>(work, workers, new WindowListener() {
            @Override
            public void onLate(String site, long rows, LateReason reason) {}

            @Override
            public void onAccumulated(String site, int rows, long nanoseconds) {}

            @Override
            public void onWindowClosed(String site, long rows) {}
        });
    }

    private static WindowPanes window(int rows) {
        Pane pane = Panes.of(WindowPipeline.WIDTH, ROWS);
        double[] state =
                SecondMomentAccumulator.ofDimension(WindowPipeline.WIDTH).state();
        Panes.take(pane, MomentTile.cut(WindowPipeline.WIDTH, rows, state).get(0));
        return new WindowPanes(
                Panes.site(WindowPipeline.SITE, WindowPipeline.WIDTH, ROWS, RequestTotalling.NONE),
                T0,
                T0 + SIZE_MS,
                List.of(pane),
                ClosedWindow.ClosedBy.EVENT_TIME,
                new SiteProgress().account(0));
    }

    @Test
    void whatIsForwardedIsMadeFromTheWorkAndTheNewestAccount() {
        WindowWork<ClosedWindow> renamed = window -> {
            Function<ClosedWindow, ClosedWindow> result = accounted -> {
                assertEquals(window.startMs(), accounted.startMs());
                assertEquals(ROWS, accounted.account().inWindows());
                assertEquals(0, window.account().inWindows());
                return accounted;
            };
            return result;
        };
        try (WindowPipeline pipeline = pipeline(1, renamed, Runnable::run)) {
            fill(pipeline, 0);
            fill(pipeline, 1);
            assertEquals(1, pipeline.windows.size());
        }
    }

    private WindowPipeline pipeline(int partitions, WindowWork<ClosedWindow> work, Executor workers) {
        Duration size = Duration.ofMillis(SIZE_MS);
        return pipeline(new WindowSettings(size, size, Duration.ZERO, null, null), partitions, work, workers);
    }

    private WindowPipeline pipeline(
            WindowSettings settings, int partitions, WindowWork<ClosedWindow> work, Executor workers) {
        return new WindowPipeline(settings, partitions, folder, SourceWatch.ALWAYS_READ, RowMask.NONE, work, workers);
    }

    /** Sends one record in window {@code number}, which closes the one before. */
    private static void fill(WindowPipeline pipeline, int number) {
        pipeline.read(0, number, ROWS, T0 + number * SIZE_MS);
        pipeline.deliver(0);
    }

    private static void awaitQuietly(CountDownLatch latch) {
        try {
            latch.await();
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
