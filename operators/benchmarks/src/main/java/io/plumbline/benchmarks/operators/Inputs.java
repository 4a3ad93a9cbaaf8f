package io.plumbline.benchmarks.operators;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.Arrays;
import java.util.Random;
import java.util.SplittableRandom;

/** Makes the numbers that benchmarks work on, and the answers that are known. */
final class Inputs {

    /** The number of rows in a window; moments are computed from them. */
    private static final int WINDOW = 2048;

    private static final int PROBES = 64;
    private static final int MOST_WEIGHTS = 1 << 25;
    private static final double[] OUTLIERS = {50, 20, 5};

    private Inputs() {}

    /** Returns an entry of a result. */
    @FunctionalInterface
    interface Entry {
        double at(int row, int column);
    }

    /** Returns integers up to 50 in size: every sum of their products is exact, even in float32. */
    static double[] integers(int count, long seed) {
        return new SplittableRandom(seed).ints(count, -50, 51).asDoubleStream().toArray();
    }

    static float[] floats(double[] values) {
        float[] floats = new float[values.length];
        for (int i = 0; i < values.length; i++) {
            floats[i] = (float) values[i];
        }
        return floats;
    }

    /** Returns some entries of the lower triangle of a d x d matrix, always the same. */
    static double[] probes(int d, Entry matrix) {
        SplittableRandom random = new SplittableRandom(5);
        double[] values = new double[PROBES];
        Arrays.setAll(values, p -> {
            int i = random.nextInt(d);
            int j = random.nextInt(d);
            return matrix.at(Math.max(i, j), Math.min(i, j));
        });
        return values;
    }

    /** Returns an entry of {@code X^T X} of rows of d numbers. */
    static double product(double[] x, int d, int i, int j) {
        double sum = 0.0;
        for (int row = 0; row < x.length; row += d) {
            sum += x[row + i] * x[row + j];
        }
        return sum;
    }

    /** Returns {@code n x d} Gaussian rows with a steep spectrum and three outliers, like those of a language model. */
    static Matrix rows(int n, int d, long seed) {
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

    /** Returns {@code X^T X / n} of a window of such rows. */
    static Matrix moment(int d, long seed) {
        Matrix rows = rows(WINDOW, d, seed);
        Matrix moment = Kernels.transposeMultiply(rows, rows);
        for (int i = 0; i < moment.values().length; i++) {
            moment.values()[i] /= WINDOW;
        }
        return moment;
    }

    /** Returns {@code 2 sqrt(d) I + S} with entries of S in (-1, 1): its eigenvalues lie within a factor of 4. */
    static Matrix positiveDefinite(int d) {
        SplittableRandom random = new SplittableRandom(3);
        Matrix a = Matrix.zeros(d, d);
        for (int i = 0; i < d; i++) {
            for (int j = 0; j < i; j++) {
                double value = 2.0 * random.nextDouble() - 1.0;
                a.set(i, j, value);
                a.set(j, i, value);
            }
            a.set(i, i, 2.0 * Math.sqrt(d));
        }
        return a;
    }

    /** Returns {@code A (1, .., 1)}. */
    static double[] rowSums(Matrix a) {
        int d = a.columns();
        double[] sums = new double[a.rows()];
        Arrays.setAll(sums, i -> Arrays.stream(a.values(), i * d, (i + 1) * d).sum());
        return sums;
    }

    /** Returns the rank to compute: 16 below d = 768, 32 below 2,048, 64 from there on. */
    static int rank(int d) {
        if (d < 768) {
            return 16;
        }
        return d < 2048 ? 32 : 64;
    }

    /** Returns GPT-2's 24,576 features of 768; of wider rows as many as make about as many weights. */
    static int features(int d) {
        return Math.max(d, Math.min(32 * d, MOST_WEIGHTS / d));
    }
}
