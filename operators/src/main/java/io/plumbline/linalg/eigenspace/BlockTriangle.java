package io.plumbline.linalg.eigenspace;

import io.plumbline.linalg.kernel.TileKernel;
import org.jspecify.annotations.Nullable;

/**
 * The upper triangle R that makes a block of a {@link KrylovStart} orthonormal, a row every {@value TileKernel#WIDTH}
 * entries.
 */
final class BlockTriangle {

    private static final int BLOCK = KrylovStart.BLOCK;
    private static final int WIDTH = TileKernel.WIDTH;

    /** Least pivot, beside the entry of the Gram matrix on the diagonal. */
    private static final double LEAST_PIVOT = 1e-12;

    private BlockTriangle() {}

    /** Returns {@code R^T R = gram - inside^T inside}, R upper triangular; null where a pivot is rounding. */
    static double @Nullable [] of(double[] gram, double[] inside, int known) {
        double[] r = new double[BLOCK * WIDTH];
        for (int j = 0; j < BLOCK; j++) {
            for (int i = 0; i <= j; i++) {
                double rest = gram[i * WIDTH + j];
                for (int h = 0; h < known; h++) {
                    rest -= inside[h * WIDTH + i] * inside[h * WIDTH + j];
                }
                for (int h = 0; h < i; h++) {
                    rest -= r[h * WIDTH + i] * r[h * WIDTH + j];
                }
                if (i < j) {
                    r[i * WIDTH + j] = rest / r[i * WIDTH + i];
                } else if (rest > LEAST_PIVOT * gram[j * WIDTH + j]) {
                    r[j * WIDTH + j] = Math.sqrt(rest);
                } else {
                    return null;
                }
            }
        }
        return r;
    }

    /** Returns {@code R^-1}, laid out as R. */
    static double[] inverse(double[] r) {
        double[] inverse = new double[BLOCK * WIDTH];
        for (int j = 0; j < BLOCK; j++) {
            inverse[j * WIDTH + j] = 1.0 / r[j * WIDTH + j];
            for (int i = j - 1; i >= 0; i--) {
                double sum = 0.0;
                for (int h = i + 1; h <= j; h++) {
                    sum += r[i * WIDTH + h] * inverse[h * WIDTH + j];
                }
                inverse[i * WIDTH + j] = -sum / r[i * WIDTH + i];
            }
        }
        return inverse;
    }
}
