package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.topology.panes.LateReason;
import io.plumbline.topology.panes.RowAccount;
import io.plumbline.topology.panes.WindowSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests random order, partitions, delivery and silence against a few lines that say what must come of it. */
class OutOfOrderTest {

    private static final long T0 = 1_700_000_000_000L / 60_000 * 60_000;
    private static final long WINDOW_MS = 10_000;
    private static final int RECORDS = 150;

    @TempDir
    private Path folder;

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {1, 2, 3, 4, 5, 6, 7, 8})
    void orderWithinTheGraceChangesNoBitOfAnyWindow(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int partitions = random.nextInt(1, 5);
        long graceMs = random.nextLong(1, 15_000);
        WindowSettings settings = settings(graceMs, null);
        TreeMap<Long, SecondMomentAccumulator> truth = new TreeMap<>();
        try (WindowPipeline pipeline = new WindowPipeline(settings, partitions, folder)) {
            long[] newest = new long[partitions];
            Arrays.fill(newest, T0);
            for (int i = 0; i < RECORDS; i++) {
                int partition = random.nextInt(partitions);
                // Behind the newest of its partition by less than the grace, or ahead of it.
                long time = newest[partition] - graceMs + 1 + random.nextLong(graceMs + 1_500);
                time = Math.max(time, T0);
                newest[partition] = Math.max(newest[partition], time);
                Matrix rows = pipeline.read(partition, seed * 1_000 + i, 3, time);
                truth.computeIfAbsent(settings.paneStart(time), start -> moment())
                        .add(rows);
                deliverSome(pipeline, random, partitions);
            }
            closeAll(pipeline, partitions, T0 + 10_000_000);
            assertEquals(Map.of(), pipeline.late, () -> "seed " + seed);
            assertWindows(truth, pipeline, "seed " + seed);
        }
    }

    @ParameterizedTest(name = "seed {0}")
    @ValueSource(longs = {11, 12, 13, 14, 15, 16, 17, 18})
    void rowsAreLateExactlyWhenTheirPartitionHadPassedThemByTheGraceOrFallenSilent(long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        int partitions = random.nextInt(1, 5);
        long graceMs = random.nextLong(0, 5_000);
        WindowSettings settings = settings(graceMs, Duration.ofSeconds(30));
        TreeMap<Long, SecondMomentAccumulator> truth = new TreeMap<>();
        Map<LateReason, Long> late = new TreeMap<>();
        Oracle oracle = new Oracle(settings, partitions, graceMs);
        long now = T0;
        try (WindowPipeline pipeline = new WindowPipeline(settings, partitions, folder)) {
            for (int i = 0; i < RECORDS; i++) {
                now += random.nextLong(1_000);
                if (random.nextInt(40) == 0) {
                    pipeline.passSeconds(65);
                    oracle.everybodyIsSilent();
                }
                int partition = random.nextInt(partitions);
                long time = now - random.nextLong(20_000);
                LateReason reason = oracle.read(partition, time);
                Matrix rows = pipeline.read(partition, seed * 1_000 + i, 3, time);
                pipeline.deliverAll();
                if (reason == null) {
                    truth.computeIfAbsent(settings.paneStart(time), start -> moment())
                            .add(rows);
                } else {
                    late.merge(reason, 3L, Long::sum);
                }
            }
            closeAll(pipeline, partitions, now + 10_000_000);
            assertEquals(late, new TreeMap<>(pipeline.late), () -> "seed " + seed);
            assertWindows(truth, pipeline, "seed " + seed);
            pipeline.passSeconds(2);
            RowAccount account = pipeline.account;
            assertEquals(0, account.unaccounted(), () -> "seed " + seed);
            assertEquals(pipeline.lateRows(), account.lateRows(), () -> "seed " + seed);
            assertEquals(account.in(), account.inWindows() + account.open() + account.lateRows(), () -> "seed " + seed);
            assertEquals(pipeline.rowsAccepted, account.in(), () -> "seed " + seed);
        }
    }

    /** Says what must come of a record, of tumbling windows that are one pane each. */
    private static final class Oracle {
        private static final long NEVER = Long.MIN_VALUE / 2;
        private final WindowSettings settings;
        private final long graceMs;
        private final long[] newest;
        private final long[] closed;
        private final long[] lastEnd;
        private final boolean[] heard;
        private final boolean[] silent;
        private long windowsClosed = NEVER;

        Oracle(WindowSettings settings, int partitions, long graceMs) {
            this.settings = settings;
            this.graceMs = graceMs;
            newest = new long[partitions];
            closed = new long[partitions];
            lastEnd = new long[partitions];
            heard = new boolean[partitions];
            silent = new boolean[partitions];
            for (long[] times : new long[][] {newest, closed, lastEnd}) {
                Arrays.fill(times, NEVER);
            }
        }

        LateReason read(int p, long time) {
            long end = settings.paneStart(time) + WINDOW_MS;
            LateReason reason = null;
            if (end <= closed[p]) {
                boolean passed = end <= settings.paneStart(newest[p] - graceMs);
                reason = passed ? LateReason.AFTER_GRACE : LateReason.AFTER_IDLE;
            } else {
                reason = end <= windowsClosed ? LateReason.WINDOW_CLOSED : null;
                lastEnd[p] = Math.max(lastEnd[p], end);
            }
            silent[p] = false;
            newest[p] = Math.max(newest[p], time);
            long closable = settings.paneStart(newest[p] - graceMs);
            heard[p] |= closable > closed[p];
            closed[p] = Math.max(closed[p], closable);
            closeWindows();
            return reason;
        }

        void everybodyIsSilent() {
            for (int p = 0; p < closed.length; p++) {
                closed[p] = Math.max(closed[p], lastEnd[p]);
                heard[p] = true;
                silent[p] = true;
            }
            closeWindows();
        }

        private void closeWindows() {
            long slowest = Long.MAX_VALUE;
            long farthest = NEVER;
            for (int p = 0; p < closed.length; p++) {
                if (!heard[p]) {
                    return;
                }
                slowest = silent[p] ? slowest : Math.min(slowest, closed[p]);
                farthest = Math.max(farthest, closed[p]);
            }
            windowsClosed = Math.max(windowsClosed, slowest == Long.MAX_VALUE ? farthest : slowest);
        }
    }

    private static void deliverSome(WindowPipeline pipeline, SplittableRandom random, int partitions) {
        if (random.nextInt(3) == 0) {
            pipeline.deliver(random.nextInt(partitions));
        }
    }

    private static void closeAll(WindowPipeline pipeline, int partitions, long timeMs) {
        for (int partition = 0; partition < partitions; partition++) {
            pipeline.read(partition, 0, 1, timeMs);
        }
        pipeline.deliverAll();
    }

    private static void assertWindows(
            SortedMap<Long, SecondMomentAccumulator> truth, WindowPipeline pipeline, String seed) {
        assertEquals(
                List.copyOf(truth.keySet()),
                pipeline.windows.stream().map(ClosedWindow::startMs).toList(),
                seed);
        for (ClosedWindow window : pipeline.windows) {
            assertEquals(
                    truth.get(window.startMs()).snapshot().matrix(),
                    window.moment().matrix(),
                    seed);
        }
    }

    private static SecondMomentAccumulator moment() {
        return SecondMomentAccumulator.ofDimension(WindowPipeline.WIDTH);
    }

    private static WindowSettings settings(long graceMs, Duration idleClose) {
        Duration window = Duration.ofMillis(WINDOW_MS);
        return new WindowSettings(window, window, Duration.ofMillis(graceMs), idleClose, null);
    }
}
