package io.plumbline.features;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.Objects;
import java.util.Random;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

class MeanTestTest {

    private static final MeanTest TEST = MeanTest.resolving(1e-4);

    @Test
    void theChanceIsTheShareOfAllSplitsThatAreAsFarApart() {
        double[] window = {2.0, 3.5, 1.0, 4.0, 6.5};
        double[] baseline = {1.5, 0.0, 2.5, 0.5, 3.0, 1.0};
        double[] all = new double[11];
        System.arraycopy(window, 0, all, 0, 5);
        System.arraycopy(baseline, 0, all, 5, 6);
        double observed = apart(window, baseline);
        int splits = 0;
        int asFar = 0;
        for (int mask = 0; mask < 1 << 11; mask++) {
            if (Integer.bitCount(mask) == 5) {
                int chosen = mask;
                double[] one = values(all, chosen);
                double[] other = values(all, ~chosen & ((1 << 11) - 1));
                splits++;
                asFar += apart(one, other) >= observed - 1e-9 ? 1 : 0;
            }
        }
        double exact = (double) asFar / splits;
        double found = Objects.requireNonNull(TEST.pValue(baseline, window));
        // Drawing ends with the twentieth, so the error is a fifth to a quarter of the chance.
        assertEquals(exact, found, 3.0 * exact / Math.sqrt(20.0));
        assertEquals(found, TEST.pValue(baseline, window));
    }

    @Test
    void skewedRequestsOfOneKindAreCalledChangedAtTheRate() {
        Random random = new Random(1);
        int below = 0;
        int windows = 2_000;
        for (int i = 0; i < windows; i++) {
            double chance = Objects.requireNonNull(TEST.pValue(skewed(random, 33, 1.0), skewed(random, 7, 1.0)));
            below += chance <= 0.05 ? 1 : 0;
        }
        assertEquals(0.05, (double) below / windows, 3.0 * Math.sqrt(0.05 * 0.95 / windows));
    }

    @Test
    void requestsThatAreTenTimesAsLargeAreFoundAndFewerThanFiveAreNotTested() {
        Random random = new Random(2);
        assertTrue(Objects.requireNonNull(TEST.pValue(skewed(random, 60, 1.0), skewed(random, 60, 10.0))) < 1e-3);
        assertNull(TEST.pValue(skewed(random, 60, 1.0), skewed(random, 4, 2.0)));
        assertNull(TEST.pValue(new double[0], skewed(random, 9, 2.0)));
    }

    @Test
    void numbersThatAreAllEqualHaveNotChangedAndTwoConstantsHave() {
        assertEquals(1.0, TEST.pValue(new double[8], new double[8]));
        double[] ones = new double[8];
        Arrays.fill(ones, 1.0);
        assertTrue(Objects.requireNonNull(TEST.pValue(new double[8], ones)) < 1e-3);
    }

    @Test
    void aQValueIsTheSmallestRateAtWhichATestIsTaken() {
        assertArrayEquals(
                new double[] {0.04, 0.04, 0.5, 0.04 * 4 / 3}, FalseDiscoveries.qValues(0.01, 0.02, 0.5, 0.04), 1e-15);
        assertArrayEquals(
                new double[] {Double.NaN, 0.02, 0.02, Double.NaN},
                FalseDiscoveries.qValues(2.0, 0.01, 0.02, 2.0),
                1e-15);
        assertArrayEquals(new double[0], FalseDiscoveries.qValues());
    }

    @Test
    void theSmallestChanceIsOneSplitOfAllOrOneOfTheDraws() {
        assertEquals(1.0 / 252.0, TEST.least(5, 5), 1e-12);
        assertEquals(1.0 / 40_001.0, TEST.least(400, 60), 1e-12);
        assertEquals(1.0 / 200_000.0, MeanTest.resolving(1e-9).least(4_000, 900), 1e-15);
        assertEquals(MeanTest.LEAST, MeanTest.resolving(1e-9).least(400, 60));
    }

    private static double[] values(double[] all, int mask) {
        return IntStream.range(0, all.length)
                .filter(i -> (mask >> i & 1) == 1)
                .mapToDouble(i -> all[i])
                .toArray();
    }

    private static double apart(double[] one, double[] other) {
        return Math.abs(ByRequest.mean(one) - ByRequest.mean(other));
    }

    private static double[] skewed(Random random, int requests, double scale) {
        double[] values = new double[requests];
        for (int i = 0; i < requests; i++) {
            values[i] = scale * Math.exp(1.5 * random.nextGaussian());
        }
        return values;
    }
}
