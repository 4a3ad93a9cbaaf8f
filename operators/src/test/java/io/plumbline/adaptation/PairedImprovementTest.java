package io.plumbline.adaptation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PairedImprovementTest {

    @Test
    void theIntervalIsTheRatioEstimatorsByHand() {
        // R = 3 / 10; v = (1 - 1.5) / 5 and (2 - 1.5) / 5 around R = .3; error sqrt(1/2 (.01 + .01)) = .1; t(1) =
        // 12.7062
        PairedImprovement two = PairedImprovement.of(new double[][] {{5, 1}, {5, 2}});
        assertEquals(0.3, two.share(), 1e-12);
        assertEquals(0.3 - 12.706205 * 0.1, two.lower(), 1e-6);
        assertEquals(0.3 + 12.706205 * 0.1, two.upper(), 1e-6);
        assertEquals(2, two.requests());
        // Errors 1, 1, 1, 3 weigh like m = 36 / 12 = 3 equal ones: t(2) = 4.30265. R = 3 / 6; v = -.5 / 5, 0, .5 / 5, 0
        PairedImprovement four = PairedImprovement.of(new double[][] {{1, 0}, {1, 0.5}, {1, 1}, {3, 1.5}});
        assertEquals(0.5 - 4.302653 * Math.sqrt(0.75 * 0.02), four.lower(), 1e-6);
    }

    @Test
    void oneRequestProvesNothing() {
        PairedImprovement one = PairedImprovement.of(new double[][] {{4, 3.9}});
        assertEquals(Double.NEGATIVE_INFINITY, one.lower());
        assertEquals(0.0, PairedImprovement.of(new double[][] {{0, 0}, {0, 0}}).share());
        assertEquals(
                Double.NEGATIVE_INFINITY,
                PairedImprovement.of(new double[][] {{5, 1}, {0, 0}}).lower());
    }

    @Test
    void theSameShareOfEveryRequestIsCertain() {
        PairedImprovement sure = PairedImprovement.of(new double[][] {{1, 0.25}, {8, 2}, {3, 0.75}});
        assertEquals(0.25, sure.lower(), 1e-12);
        assertEquals(0.25, sure.upper(), 1e-12);
    }

    /**
     * Requests of 30 to 120 rows whose errors share a level and whose change of error shares another, mean 0: a gate that asks for
     * an interval above 0 lets 2.5 % of such decoders through. 4,000 trials, three standard deviations of the binomial.
     */
    @ParameterizedTest
    @ValueSource(ints = {4, 8, 30})
    void aDecoderThatIsNoBetterIsRarelyTakenForBetter(int requests) {
        long seed = 11;
        Random random = new Random(seed);
        int trials = 4_000;
        int above = 0;
        for (int trial = 0; trial < trials; trial++) {
            double[][] sums = new double[requests][];
            for (int request = 0; request < requests; request++) {
                int rows = 30 + random.nextInt(91);
                double level = Math.exp(0.5 * random.nextGaussian());
                double change = 0.2 * random.nextGaussian();
                double before = 0.0;
                double taken = 0.0;
                for (int row = 0; row < rows; row++) {
                    before += level * Math.exp(0.5 * random.nextGaussian());
                    taken += level * (change + 0.3 * random.nextGaussian());
                }
                sums[request] = new double[] {before, taken};
            }
            above += PairedImprovement.of(sums).lower() > 0.0 ? 1 : 0;
        }
        double allowed = 0.025 * trials + 3 * Math.sqrt(trials * 0.025 * 0.975);
        assertTrue(above <= allowed, above + " of " + trials + " above 0, " + requests + " requests, seed " + seed);
        assertTrue(above >= 10, above + " of " + trials + ": far too wide, seed " + seed);
    }
}
