package io.plumbline.benchmarks.operators;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.Random;

/**
 * Second moments like those of a language model's activations: a steep spectrum with three outliers, of 2,048 Gaussian
 * rows.
 */
public final class Moments {

    private static final double[] OUTLIERS = {50, 20, 5};

    private Moments() {}

    /** Returns {@code n x d} rows. */
    public static Matrix rows(int n, int d, long seed) {
        Random random = new Random(seed);
        Matrix rows = Matrix.zeros(n, d);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < d; j++) {
                double variance = j < OUTLIERS.length ? OUTLIERS[j] : 1.0 / (j + 1);
                rows.set(i, j, random.nextGaussian() * Math.sqrt(variance));
            }
        }
        return rows;
    }

    /** Returns {@code X^T X / n} of 2,048 such rows. */
    static Matrix of(int d, long seed) {
        Matrix rows = rows(2048, d, seed);
        Matrix moment = Kernels.transposeMultiply(rows, rows);
        for (int i = 0; i < moment.values().length; i++) {
            moment.values()[i] /= rows.rows();
        }
        return moment;
    }

    /** Returns the rank to compute: 16 below d = 768, 32 below 2,048, 64 from there on. */
    public static int rank(int d) {
        if (d < 768) {
            return 16;
        }
        return d < 2048 ? 32 : 64;
    }
}
