package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.ingest.Limits;
import io.plumbline.topology.panes.LateReason;
import io.plumbline.topology.panes.WindowSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.TimeZone;
import org.jspecify.annotations.Nullable;
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
    void timesAroundZeroAndBelowAreCutLikeAnyOther() {
        start(1);
        WindowSettings settings = new WindowSettings(TEN, TEN, Duration.ZERO, null, null);
        assertEquals(-20_000, settings.paneStart(-10_001));
        assertEquals(-10_000, settings.paneStart(-10_000));
        assertEquals(-10_000, settings.paneStart(-1));
        assertEquals(0, settings.paneStart(0));
    }

    @Test
    void aTimeInAnotherUnitIsADeadLetterThatNamesTheUnit() {
        start(1);
        read(0, 1, NOW / 1_000);
        read(0, 1, 0);
        read(0, 1, Instant.parse("1999-12-31T23:59:59.999Z").toEpochMilli());
        read(0, 1, Instant.parse("2000-01-01T00:00:00Z").toEpochMilli());
        assertEquals(Collections.nCopies(3, DeadLetter.Reason.BEHIND_TIME), pipeline.refusals);
        Limits limits = Limits.DEFAULT;
        assertMessage(limits.wrongTime("s", NOW / 1_000, NOW), "it is in seconds");
        assertMessage(
                limits.wrongTime("s", NOW / 1_000, NOW),
                Instant.ofEpochSecond(NOW / 1_000).toString());
        assertMessage(limits.wrongTime("s", 0, NOW), "the record has no timestamp");
        assertMessage(limits.wrongTime("s", 253_402_300_799_999L, NOW), "microseconds or nanoseconds");
        assertMessage(limits.wrongTime("s", NOW + 3_600_000, NOW), "3600 s ahead");
        assertNull(limits.wrongTime("s", NOW - Duration.ofDays(3_650).toMillis(), NOW), "a recording");
        Limits live = new Limits(1, 1, 1, 1, Duration.ofMinutes(1), Duration.ofHours(1));
        assertNull(live.wrongTime("s", NOW - 3_600_000, NOW));
        assertMessage(live.wrongTime("s", NOW - 3_601_000, NOW), "3601 s behind");
    }

    private static void assertMessage(@Nullable DeadLetter letter, String part) {
        assertTrue(letter != null && letter.message().contains(part), () -> String.valueOf(letter));
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
