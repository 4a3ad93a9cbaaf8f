package io.plumbline.baseline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class ScoreRanksTest {

    private static final double[] HUNDRED =
            IntStream.rangeClosed(1, 100).map(i -> 101 - i).asDoubleStream().toArray();

    @Test
    void belowTheTailThePValueIsTheRank() {
        ScoreRanks ranks = ScoreRanks.of(HUNDRED);
        assertEquals(1.0, ranks.pValue(0.5));
        assertEquals(51.0 / 101.0, ranks.pValue(50.5));
        assertEquals(52.0 / 101.0, ranks.pValue(50.0), "a score that is as large counts");
        assertEquals(11.0 / 101.0, ranks.pValue(91.0), "the tenth largest");
    }

    @Test
    void inTheTailItFallsExponentiallyByTheMeanExcess() {
        ScoreRanks ranks = ScoreRanks.of(HUNDRED);
        double meanExcess = (1 + 2 + 3 + 4 + 5 + 6 + 7 + 8 + 9) / 9.0;
        assertEquals(10.0 / 101.0 * Math.exp(-1.0 / meanExcess), ranks.pValue(92.0), 1e-15);
        assertEquals(10.0 / 101.0 * Math.exp(-49.0 / meanExcess), ranks.pValue(140.0), 1e-15);
        assertEquals(Math.exp(-30.0), ranks.pValue(1e9));
        assertEquals(Math.exp(-30.0), ranks.pValue(Double.POSITIVE_INFINITY));
    }

    @Test
    void oneOfTheScoresHasThePValueThatItHasAmongTheOthers() {
        ScoreRanks ranks = ScoreRanks.of(HUNDRED);
        for (int own : new int[] {1, 50, 90, 91, 95, 100}) {
            double[] others =
                    Arrays.stream(HUNDRED).filter(score -> score != own).toArray();
            assertEquals(ScoreRanks.of(others).pValue(own), ranks.pValueOfOwn(own), 1e-15, own + "");
        }
        assertEquals(1.0 / 101.0, ranks.rank(1e9), "no model of the tail");
    }

    @Test
    void aLargerScoreNeverHasALargerPValue() {
        for (double[] scores : new double[][] {HUNDRED, new double[40], Arrays.copyOf(HUNDRED, 500)}) {
            ScoreRanks ranks = ScoreRanks.of(scores);
            double before = 1.0;
            for (double score = -1.0; score < 150.0; score += 0.25) {
                double pValue = ranks.pValue(score);
                assertTrue(pValue <= before && pValue > 0.0, "%s at %s".formatted(pValue, score));
                before = pValue;
            }
        }
    }

    @Test
    void whatIsBeyondEqualScoresIsBeyondAllOfThem() {
        ScoreRanks ranks = ScoreRanks.of(new double[40]);
        assertEquals(1.0, ranks.pValue(0.0));
        assertEquals(1.0 / 41.0, ranks.pValue(1.0));
    }

    @Test
    void fewScoresAndScoresThatAreNotFiniteAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> ScoreRanks.of(new double[19]));
        double[] poisoned = HUNDRED.clone();
        poisoned[3] = Double.NaN;
        assertThrows(IllegalArgumentException.class, () -> ScoreRanks.of(poisoned));
        poisoned[3] = Double.POSITIVE_INFINITY;
        assertThrows(IllegalArgumentException.class, () -> ScoreRanks.of(poisoned));
    }
}
