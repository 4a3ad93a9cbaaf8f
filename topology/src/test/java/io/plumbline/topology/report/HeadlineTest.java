package io.plumbline.topology.report;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import org.junit.jupiter.api.Test;

class HeadlineTest {

    @Test
    void itSaysHowManyTimesTheThresholdTheStatisticThatDecidesIs() {
        assertEquals(
                "1.07 of the threshold, by FVU",
                Headline.of("reconstruction_fvu_trained", 0.535, 0.5).sentence());
        assertEquals(
                "0.640 of the threshold, by faithfulness_gap",
                Headline.of("faithfulness_gap", 3.2, 5.0).sentence());
    }

    @Test
    void aNumberBesideItsThresholdHasAsManyDigitsAsTellItFromOne() {
        assertEquals(
                "1.001 of the threshold, by kl", Headline.of("kl", 1.0013, 1.0).sentence());
        assertEquals(
                "0.9999996 of the threshold, by kl",
                Headline.of("kl", 0.9999996, 1.0).sentence());
        assertEquals("1.00 of the threshold, by kl", Headline.of("kl", 1.0, 1.0).sentence());
    }

    @Test
    void thereIsNoneWithoutAValueOrAThresholdThatCanBeDividedBy() {
        assertNull(Headline.of("kl", null, 5.0).overThreshold());
        assertNull(Headline.of("kl", 1.0, null).overThreshold());
        assertNull(Headline.of("delta_ce", 0.1, -0.2).overThreshold());
        assertNull(Headline.of("delta_ce", 0.1, 0.0).overThreshold());
        assertEquals(
                "no value over a threshold, by delta_ce",
                Headline.of("delta_ce", 0.1, 0.0).sentence());
    }
}
