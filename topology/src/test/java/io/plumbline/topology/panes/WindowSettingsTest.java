package io.plumbline.topology.panes;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class WindowSettingsTest {

    @ParameterizedTest
    @CsvSource({"60, 60, 60", "60, 20, 20", "60, 40, 20", "9, 6, 3", "7, 5, 1"})
    void aPaneIsTheLongestStretchThatWindowsAreMadeOf(int size, int advance, int pane) {
        assertEquals(pane, settings(size, advance).paneMs());
    }

    @ParameterizedTest
    @CsvSource({"60, 60", "60, 20", "60, 40", "9, 6", "7, 5"})
    void everyPaneLiesWholeInTheWindowsThatHoldItAndTheFirstIsTheFirst(int size, int advance) {
        WindowSettings settings = settings(size, advance);
        for (long time = -3L * size; time <= 3L * size; time++) {
            long pane = settings.paneStart(time);
            assertTrue(pane <= time && time < pane + settings.paneMs());
            long first = settings.firstWindowStart(pane);
            long bruteForce = Long.MAX_VALUE;
            for (long start = -10L * size / advance * advance; start <= pane; start += advance) {
                boolean holdsStart = start <= pane && pane < start + size;
                boolean holdsEnd = start < pane + settings.paneMs() && pane + settings.paneMs() <= start + size;
                assertEquals(holdsStart, holdsEnd, "window at %d, pane at %d".formatted(start, pane));
                if (holdsStart && Math.floorMod(start, advance) == 0) {
                    bruteForce = Math.min(bruteForce, start);
                }
            }
            assertEquals(bruteForce, first, "pane at " + pane);
        }
    }

    @ParameterizedTest
    @CsvSource({"60, 60", "60, 20", "60, 40", "9, 6"})
    void theLastWindowEndIsTheLargestThatHasCome(int size, int advance) {
        WindowSettings settings = settings(size, advance);
        for (long time = -2L * size; time <= 2L * size; time++) {
            long end = settings.lastWindowEnd(time);
            assertTrue(end <= time && time < end + advance, "at " + time);
            assertEquals(0, Math.floorMod(end - size, advance));
        }
    }

    @Test
    void whatCannotBeIsRefusedWithItsKey() {
        assertRefused("window.size", Duration.ZERO, Duration.ofSeconds(1), Duration.ZERO, null);
        assertRefused("window.advance", Duration.ofSeconds(1), Duration.ofSeconds(2), Duration.ZERO, null);
        assertRefused("window.advance", Duration.ofSeconds(1), Duration.ZERO, Duration.ZERO, null);
        assertRefused("window.grace", Duration.ofSeconds(1), Duration.ofSeconds(1), Duration.ofMillis(-1), null);
        assertRefused("window.idle_close", Duration.ofSeconds(1), Duration.ofSeconds(1), Duration.ZERO, Duration.ZERO);
        assertRefused("panes", Duration.ofMillis(60_000), Duration.ofMillis(59_999), Duration.ZERO, null);
    }

    private static void assertRefused(String word, Duration size, Duration advance, Duration grace, Duration idle) {
        IllegalArgumentException refusal = assertThrows(
                IllegalArgumentException.class, () -> new WindowSettings(size, advance, grace, idle, null));
        assertTrue(refusal.getMessage().contains(word), refusal.getMessage());
    }

    private static WindowSettings settings(int sizeMs, int advanceMs) {
        return new WindowSettings(Duration.ofMillis(sizeMs), Duration.ofMillis(advanceMs), Duration.ZERO, null, null);
    }
}
