package io.plumbline.baseline;

import static org.junit.jupiter.api.Assertions.assertEquals;

import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class UsualRankTest {

    @ParameterizedTest
    @CsvSource({"2, 1", "6, 1", "64, 16", "127, 31", "128, 32", "768, 32"})
    void aQuarterOfTheWidthBelow128(int width, int rank) {
        assertEquals(rank, UsualRank.of(width));
    }
}
