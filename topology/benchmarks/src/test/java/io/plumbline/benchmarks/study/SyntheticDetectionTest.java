package io.plumbline.benchmarks.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.detection.Scores;
import io.plumbline.linalg.Matrix;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

/** The benchmark with a known truth, small: 1,024 features in 384 dimensions. */
class SyntheticDetectionTest {

    private static final SyntheticBench.Size SMALL = new SyntheticBench.Size(1_024, 384, 32, 16, 16, 32, 128, 39, 8);

    private final SyntheticBench bench = new SyntheticBench(SMALL, 1);

    @Test
    void aWholeDriftIsSeenByWhatItMoves() {
        for (SyntheticDrift drift : bench.drifts(7)) {
            Scores scores = bench.windows(drift.world(), 1.0, SMALL.windows());
            String best = drift.name().equals("branches swapped") ? "PCA share" : "whitened_mean_shift";
            assertTrue(bench.power(scores, best) >= 0.75, () -> bench.line(drift.name(), scores));
        }
    }

    @Test
    void turnedFeaturesAreListedAndOnCleanRowsHardlyAnyIs() {
        SyntheticDrift rotated = bench.drifts(7).get(3);
        SyntheticBench.Attribution[] found = bench.attribution(rotated, 1.0, 256);
        assertTrue(found[0].precision() >= 0.5, found[0].toString());
        assertTrue(found[0].recall() > 2.0 * found[1].recall(), found[0] + " against " + found[1]);
        SyntheticBench.Attribution clean = bench.attribution(rotated, 0.0, 256)[0];
        assertTrue(clean.listed() <= 5, clean.toString());
    }

    /** Tests how many features fire in a row: 34 by the definition, whose magnitudes are about 4.9. */
    @Test
    void theFullWorldFiresAsOftenAsItIsDefinedTo() {
        SyntheticWorld world = SyntheticWorld.of(SyntheticWorld.FEATURES, SyntheticWorld.DIMENSION, 1);
        SplittableRandom random = new SplittableRandom(2);
        double energy = 0.0;
        for (int request = 0; request < 60; request++) {
            Matrix rows = world.request(16, random).activations();
            energy += Math.pow(rows.frobeniusNorm(), 2) / rows.rows() / 60;
        }
        assertEquals(34.0, energy / (4.9 * 4.9), 4.0);
    }
}
