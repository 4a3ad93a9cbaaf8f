package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TimeZone;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests clocks of producers that are wrong, and times nobody means. The limit on how far ahead is one minute. */
class WrongClocksTest {

    private static final long NOW = WindowPipeline.WALL_START / 10_000 * 10_000;
    private static final Duration TEN = Duration.ofSeconds(10);
    private static final Duration HOUR = Duration.ofHours(1);

    @TempDir
    private Path folder;

    private WindowPipeline pipeline;

    @AfterEach
    void close() {
        pipeline.close();
    }

    @Test
    void aClockAnHourAheadClosesNothingAndItsRecordsAreDeadLetters() {
        start(1);
        read(0, 5, NOW - 20_000);
        read(0, 2, NOW + HOUR.toMillis());
        read(0, 3, NOW - 19_000);
        assertEquals(1, pipeline.deadLetters);
        assertEquals(List.of(), pipeline.windows);
        read(0, 1, NOW - 10_000);
        assertEquals(8, pipeline.windows.get(0).moment().rows());
        assertEquals(Map.of(), pipeline.late);
    }

    @Test
    void aClockAheadWithinTheLimitIsTakenAtItsWord() {
        start(1);
        read(0, 2, WindowPipeline.WALL_START + 60_000);
        assertEquals(0, pipeline.deadLetters);
        read(0, 2, WindowPipeline.WALL_START + 60_001);
        assertEquals(1, pipeline.deadLetters);
    }

    @Test
    void aClockAYearBehindAmongRightOnesIsLateAndCounted() {
        start(1);
        read(0, 5, NOW - 20_000);
        read(0, 5, NOW - 10_000);
        read(0, 4, NOW - Duration.ofDays(365).toMillis());
        read(0, 1, NOW);
        assertEquals(Map.of(LateReason.AFTER_GRACE, 4L), pipeline.late);
        assertEquals(4, pipeline.lastAccount().late().get("after_grace"));
        assertEquals(0, pipeline.lastAccount().unaccounted());
        assertEquals(List.of(5L, 5L), rows());
    }

    @Test
    void eventTimesAroundZeroAndBelowAreCutLikeAnyOther() {
        start(1);
        for (long time : new long[] {-10_001, -10_000, -1, 0, 9_999, 10_000}) {
            pipeline.read(0, time, 1, Math.max(0, time));
        }
        pipeline.deliverAll();
        WindowSettings settings = new WindowSettings(TEN, TEN, Duration.ZERO, null, null);
        assertEquals(-20_000, settings.paneStart(-10_001));
        assertEquals(-10_000, settings.paneStart(-10_000));
        assertEquals(-10_000, settings.paneStart(-1));
        assertEquals(0, settings.paneStart(0));
        assertEquals(List.of(5L), rows());
        assertEquals(0, pipeline.windows.get(0).startMs());
    }

    @Test
    void windowsAreTheSameInEveryTimeZone() {
        TimeZone before = TimeZone.getDefault();
        try {
            for (String zone : List.of("UTC", "Asia/Kathmandu", "America/St_Johns", "Pacific/Kiritimati")) {
                TimeZone.setDefault(TimeZone.getTimeZone(zone));
                // The clocks of St. John's go forward at 2026-03-08T05:30:00Z.
                long change = 1_772_947_800_000L;
                Duration day = Duration.ofDays(1);
                WindowSettings settings = new WindowSettings(day, day, Duration.ZERO, null, null);
                assertEquals(change / 86_400_000 * 86_400_000, settings.paneStart(change), zone);
                assertEquals(
                        settings.paneStart(change) + 86_400_000, settings.lastWindowEnd(change + 86_400_000), zone);
            }
        } finally {
            TimeZone.setDefault(before);
        }
        start(1);
    }

    private List<Long> rows() {
        return pipeline.windows.stream().map(window -> window.moment().rows()).toList();
    }

    private void read(int partition, int rows, long timestampMs) {
        pipeline.read(partition, timestampMs, rows, timestampMs);
        pipeline.deliverAll();
    }

    private void start(int partitions) {
        pipeline = new WindowPipeline(new WindowSettings(TEN, TEN, Duration.ZERO, null, null), partitions, folder);
    }
}
