package io.plumbline.moments;

import io.plumbline.linalg.Matrix;
import java.util.SplittableRandom;

/**
 * Draws float rows with what makes summing activations hard: a mean far from zero, a few directions that carry most of
 * the energy, and a spectrum that falls as a power.
 */
final class ActivationLikeRows {

    private static final int LOUD = 3;

    private final int dimension;
    private final SplittableRandom random;

    ActivationLikeRows(int dimension, long seed) {
        this.dimension = dimension;
        this.random = new SplittableRandom(seed);
    }

    int dimension() {
        return dimension;
    }

    Matrix next(int rows) {
        Matrix batch = Matrix.zeros(rows, dimension);
        double[] values = batch.values();
        for (int row = 0; row < rows; row++) {
            // One factor shared by all columns, so that the moment is not diagonal.
            double common = random.nextGaussian();
            for (int j = 0; j < dimension; j++) {
                double spread = j < LOUD ? 100.0 : 3.0 / Math.sqrt(j);
                double mean = j < LOUD ? 300.0 : 0.5;
                values[row * dimension + j] = (float) (mean + spread * (0.6 * common + 0.8 * random.nextGaussian()));
            }
        }
        return batch;
    }
}
