package io.plumbline.topology.assessment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.adaptation.PairedErrors;
import io.plumbline.judgement.DriftPolicy;
import java.util.Random;
import org.junit.jupiter.api.Test;

class SwapWatchTest {

    private static final DriftPolicy RULE = new DriftPolicy(2, 5);
    private static final PairedErrors WORSE = new PairedErrors(50, 1.0, 0.1);
    private static final PairedErrors BETTER = new PairedErrors(50, -1.0, 0.1);
    private static final PairedErrors UNKNOWN = new PairedErrors(3, 1.0, 0.1);

    @Test
    void twoWorseWindowsOfTheFirstFiveUndoASwapAndOneDoesNot() {
        SwapWatch one = watch(BETTER, WORSE, BETTER, BETTER, BETTER);
        assertFalse(one.hasFailed(RULE), one.toString());
        assertTrue(watch(WORSE, BETTER, BETTER, BETTER, WORSE).hasFailed(RULE));
        assertFalse(
                watch(WORSE, BETTER, BETTER, BETTER, BETTER, WORSE, WORSE).hasFailed(RULE), "too long after the swap");
        assertEquals(5, watch(WORSE, BETTER, BETTER, BETTER, BETTER, WORSE).windows());
    }

    @Test
    void windowsThatCannotBeComparedCountNeitherWay() {
        assertTrue(
                watch(WORSE, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, UNKNOWN, WORSE).hasFailed(RULE));
    }

    @Test
    void aWindowIsWorseWhereTheModelPredictsWorseThoughRowsAreReconstructedBetter() {
        SwapWatch watch = SwapWatch.NONE;
        for (int window = 0; window < 2; window++) {
            watch = watch.after(7, BETTER, WORSE, RULE);
        }
        assertTrue(watch.hasFailed(RULE));
        assertEquals(new SwapWatch(7, 1, 0), SwapWatch.NONE.after(7, BETTER, BETTER, RULE));
        assertEquals(new SwapWatch(7, 1, 0), SwapWatch.NONE.after(7, BETTER, UNKNOWN, RULE), "too few requests");
    }

    @Test
    void anotherDecoderBeginsAnew() {
        SwapWatch next = watch(WORSE).after(8, WORSE, null, RULE);
        assertEquals(new SwapWatch(8, 1, 1), next);
        assertFalse(next.hasFailed(RULE));
    }

    /** Simulates 10,000 windows of 10 requests, 2,000 swaps: expected are 100 and 2; 99.99 % margins. */
    @Test
    void aDecoderThatDoesNoWorseIsUndoneAsSeldomAsPromised() {
        long seed = 20261121;
        Random random = new Random(seed);
        int worse = 0;
        int undone = 0;
        for (int swap = 0; swap < 2_000; swap++) {
            SwapWatch watch = SwapWatch.NONE;
            for (int window = 0; window < RULE.memory(); window++) {
                double[] differences = new double[PairedErrors.FEWEST_REQUESTS];
                for (int i = 0; i < differences.length; i++) {
                    differences[i] = random.nextGaussian();
                }
                PairedErrors errors = PairedErrors.of(differences);
                worse += errors.firstIsWorse() ? 1 : 0;
                watch = watch.after(1, errors, null, RULE);
            }
            undone += watch.hasFailed(RULE) ? 1 : 0;
        }
        assertTrue(worse > 60 && worse < 140, "seed %d: %d of 10000 windows".formatted(seed, worse));
        assertTrue(undone < 9, "seed %d: %d of 2000 swaps".formatted(seed, undone));
    }

    @Test
    void aDecoderThatDoesWorseIsUndone() {
        long seed = 20261122;
        Random random = new Random(seed);
        int undone = 0;
        for (int swap = 0; swap < 200; swap++) {
            SwapWatch watch = SwapWatch.NONE;
            for (int window = 0; window < RULE.memory(); window++) {
                double[] differences = new double[40];
                for (int i = 0; i < differences.length; i++) {
                    differences[i] = 0.7 + random.nextGaussian();
                }
                watch = watch.after(1, PairedErrors.of(differences), null, RULE);
            }
            undone += watch.hasFailed(RULE) ? 1 : 0;
        }
        assertTrue(undone > 190, "seed %d: %d of 200".formatted(seed, undone));
    }

    private static SwapWatch watch(PairedErrors... windows) {
        SwapWatch watch = SwapWatch.NONE;
        for (PairedErrors window : windows) {
            watch = watch.after(7, window, null, RULE);
        }
        return watch;
    }
}
