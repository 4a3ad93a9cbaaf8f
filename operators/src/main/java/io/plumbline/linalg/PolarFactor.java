package io.plumbline.linalg;

import java.util.Optional;

/**
 * The orthogonal factor Q of a square matrix {@code A = Q H}, H symmetric positive semidefinite: of all orthogonal matrices the one
 * nearest to A. Without a singular value decomposition, by products, Cholesky factorisations and their solves.
 *
 * <p>Dynamically weighted Halley iteration in its Cholesky form (Nakatsukasa, Bai, Gygi, doi:10.1137/090774999, eq. 3.5 and 5.7):
 * {@code X' = b/c X + (a - b/c) X (I + c X^T X)^-1}, with weights from a lower bound of the smallest singular value, which grows to 1
 * cubically.
 *
 * <p><b>Cost.</b> {@code 13/3 d^3} flops a step, 3 steps for a condition number of 100 and 4 for 100,000, and {@code 4 d^3} at the end. <b>Accuracy.</b> Rounding is
 * magnified by {@code c <= }{@value #LARGEST_WEIGHT} of the first step at most: about 1e-9 there, 1e-13 for a condition number of 1,000.
 * <b>Size.</b> {@code 40 d^2} bytes.
 */
public final class PolarFactor {

    /** Beyond it rounding takes too much; reached at a condition number of some 250,000. */
    private static final double LARGEST_WEIGHT = 1e7;

    /** Of {@code ||X^T X - I||_F}. */
    private static final double NEARLY_ORTHOGONAL = 1e-7;

    /** Twice what the largest weight allows takes. */
    private static final int MOST_STEPS = 10;

    private PolarFactor() {}

    /**
     * @param matrix d x d
     * @param largest at least its largest singular value
     * @param smallest more than 0, and at most its smallest
     * @return empty where the condition is too bad, or the bounds are none
     */
    public static Optional<Matrix> of(Matrix matrix, double largest, double smallest) {
        int d = matrix.rows();
        if (d != matrix.columns()) {
            throw new IllegalArgumentException("not square: %d x %d".formatted(d, matrix.columns()));
        }
        double bound = Math.min(1.0, smallest / largest);
        // Written so that NaN is caught.
        if (!(bound > 0.0) || !(weight(bound) <= LARGEST_WEIGHT)) {
            return Optional.empty();
        }
        // Of the transpose, whose rows are the right-hand sides of the solve: Y' = b/c Y + (a - b/c) (I + c Y Y^T)^-1
        // Y.
        Matrix y = combined(1.0 / largest, matrix, 0.0, Matrix.zeros(d, d)).transpose();
        for (int step = 0; step < MOST_STEPS; step++) {
            Matrix products = Kernels.multiplyTranspose(y, y);
            if (products.minus(Matrix.identity(d)).frobeniusNorm() < NEARLY_ORTHOGONAL) {
                // Newton-Schulz: what is left becomes its square.
                Matrix last = Kernels.multiply(products, y);
                return Optional.of(combined(1.5, y, -0.5, last).transpose());
            }
            double a = first(bound);
            double b = (a - 1.0) * (a - 1.0) / 4.0;
            double c = a + b - 1.0;
            Matrix system = combined(c, products, 1.0, Matrix.identity(d));
            y = combined(b / c, y, a - b / c, Cholesky.of(system).solve(y));
            bound = Math.min(1.0, bound * (a + b * bound * bound) / (1.0 + c * bound * bound));
        }
        return Optional.empty();
    }

    /** {@code s A + t B}, in place of B. */
    private static Matrix combined(double s, Matrix a, double t, Matrix b) {
        double[] values = b.values();
        for (int i = 0; i < values.length; i++) {
            values[i] = s * a.values()[i] + t * values[i];
        }
        return b;
    }

    private static double first(double bound) {
        double square = bound * bound;
        double root = Math.cbrt(4.0 * (1.0 - square) / (square * square));
        double base = Math.sqrt(1.0 + root);
        return base + 0.5 * Math.sqrt(8.0 - 4.0 * root + 8.0 * (2.0 - square) / (square * base));
    }

    private static double weight(double bound) {
        double a = first(bound);
        return a + (a - 1.0) * (a - 1.0) / 4.0 - 1.0;
    }
}
