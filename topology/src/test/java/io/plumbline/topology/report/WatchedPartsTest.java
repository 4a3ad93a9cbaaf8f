package io.plumbline.topology.report;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.features.WatchedNumbers;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class WatchedPartsTest {

    private static final WatchedNumbers NUMBERS =
            new WatchedNumbers(List.of(), new double[] {0.25, 0.75, 1.0, 0.5}, new double[] {1, 3, 8, 4});

    @Test
    void lengthsStandInRangesWhoseFirstAndLastRowsBelongToThem() {
        Map<Long, Long> rows = Map.of(1L, 31L, 2L, 32L, 3L, 127L, 4L, 128L);
        assertEquals(
                List.of(
                        new WatchedReport.Part("length", "32 to 127 rows", 2, 0.875, 5.5),
                        new WatchedReport.Part("length", "1 to 31 rows", 1, 0.25, 1.0),
                        new WatchedReport.Part("length", "128 to 511 rows", 1, 0.5, 4.0)),
                WatchedParts.byLength(rows::get).of(new long[] {1, 2, 3, 4}, NUMBERS));
    }

    @Test
    void aRequestWhoseValueIsNotSaidIsAPartOfItsOwnAndOnePartAloneIsNone() {
        Map<Long, String> languages = Map.of(1L, "en", 2L, "de", 4L, "de");
        assertEquals(
                List.of(
                        new WatchedReport.Part("language", "de", 2, 0.625, 3.5),
                        new WatchedReport.Part("language", Breakdown.UNSAID, 1, 1.0, 8.0),
                        new WatchedReport.Part("language", "en", 1, 0.25, 1.0)),
                WatchedParts.by("language", languages::get).of(new long[] {1, 2, 3, 4}, NUMBERS));
        assertEquals(List.of(), WatchedParts.by("language", request -> "en").of(new long[] {1, 2, 3, 4}, NUMBERS));
    }

    @Test
    void requestsWhoseRowsWereNotCountedAreLeftOut() {
        Map<Long, Long> rows = Map.of(1L, 9L, 4L, 500L);
        assertEquals(
                List.of(1, 1),
                WatchedParts.byLength(rows::get).of(new long[] {1, 2, 3, 4}, NUMBERS).stream()
                        .map(WatchedReport.Part::requests)
                        .toList());
    }

    @Test
    void whatIsLongerThanAllRangesIsInTheLast() {
        assertEquals(
                "2048 rows and more",
                WatchedParts.byLength(request -> request == 1 ? 1L : 1L << 40)
                        .of(new long[] {1, 2, 3, 4}, NUMBERS)
                        .get(0)
                        .value());
    }
}
