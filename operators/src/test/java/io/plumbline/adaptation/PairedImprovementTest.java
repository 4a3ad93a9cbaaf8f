package io.plumbline.adaptation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class PairedImprovementTest {

    /** Tests two requests with ratios .8 and .6: a quarter of the resamples holds one of them twice. */
    @Test
    void theIntervalIsTheStretchedBootstrapByHand() {
        // m = 2: one degree of freedom, t = 12.7062, stretched by sqrt(2) 12.7062 / 1.95996 = 9.1682 about ln .7
        PairedImprovement two = PairedImprovement.of(new double[][] {{5, 1}, {5, 2}});
        assertEquals(0.3, two.share(), 1e-12);
        assertEquals(1 - 0.7 * Math.pow(0.8 / 0.7, 9.1682), two.lower(), 1e-4);
        assertEquals(1 - 0.7 * Math.pow(0.6 / 0.7, 9.1682), two.upper(), 1e-4);
        assertEquals(2, two.requests());
    }

    @Test
    void noIntervalReachesBeyondAllOfTheError() {
        // The jackknife gave 16.9 to 135.4 % here.
        PairedImprovement uneven = PairedImprovement.of(
                new double[][] {{10, 9.5}, {12, 11}, {9, 2}, {11, 10.5}, {10, 9.9}, {3, 1}, {12, 11.9}, {8, 1}});
        assertTrue(uneven.lower() < uneven.share() && uneven.share() < uneven.upper(), uneven::toString);
        assertTrue(uneven.upper() <= 1.0, uneven::toString);
        PairedImprovement all = PairedImprovement.of(new double[][] {{1, 1}, {2, 2}, {3, 3}});
        assertEquals(1.0, all.share());
        assertEquals(1.0, all.upper(), 1e-9);
        assertEquals(1.0, all.lower(), 1e-9);
    }

    @Test
    void theSameErrorsGiveTheSameInterval() {
        double[][] requests = {{1, 0}, {1, 0.5}, {1, 1}, {3, 1.5}};
        double[][] again = {{1, 0}, {1, 0.5}, {1, 1}, {3, 1.5}};
        assertEquals(PairedImprovement.of(requests), PairedImprovement.of(again));
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
     * Counts how often the lower end is above the truth and the upper end below it: 2.5 % each, three standard
     * deviations and a hundredth of a model error.
     */
    @ParameterizedTest
    @ValueSource(ints = {8, 16, 30})
    void theIntervalHoldsWhatIsTrueOfRequestsOfUnequalWeight(int requests) {
        long seed = 12;
        Random random = new Random(seed);
        double spread = 0.25;
        double truth = 1.0 - 0.7 * Math.exp(0.5 * spread * spread);
        int trials = 2_000;
        int above = 0;
        int below = 0;
        for (int trial = 0; trial < trials; trial++) {
            double[][] sums = new double[requests][];
            for (int request = 0; request < requests; request++) {
                double before = Math.exp(4.0 + random.nextGaussian());
                double ratio = 0.7 * Math.exp(spread * random.nextGaussian());
                sums[request] = new double[] {before, before * (1.0 - ratio)};
            }
            PairedImprovement found = PairedImprovement.of(sums);
            above += found.lower() > truth ? 1 : 0;
            below += found.upper() < truth ? 1 : 0;
        }
        double allowed = 0.035 * trials + 3 * Math.sqrt(trials * 0.025 * 0.975);
        String what =
                "%d above and %d below of %d, %d requests, seed %d".formatted(above, below, trials, requests, seed);
        assertTrue(above <= allowed && below <= allowed, what);
    }

    /**
     * Requests of 30 to 120 rows whose errors share a level and whose change of error shares another, mean 0: a gate
     * that asks for an interval above 0 lets 2.5 % of such decoders through. 4,000 trials, three standard deviations of
     * the binomial.
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
