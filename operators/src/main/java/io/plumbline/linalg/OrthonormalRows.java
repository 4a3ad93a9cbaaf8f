package io.plumbline.linalg;

import io.plumbline.linalg.kernel.RowUpdates;
import java.util.Arrays;
import java.util.Random;

/**
 * Computes orthonormal bases of what the rows of a wide b x d matrix span.
 *
 * <p>By two passes of Cholesky QR (Yamamoto, Nakatsukasa, Yanagisawa and Fukaya 2015, doi:10.1553/etna_vol44s306),
 * nearly all of it products: {@code 8 b^2 d} flops. The first makes the rows orthonormal up to the square of their
 * condition number times {@code 2^-53}, the second to rounding. Where the rows are too dependent for that, by
 * Gram-Schmidt, twice for each row; a row that is a combination of others is replaced by a random direction, so that
 * there are always b.
 */
public final class OrthonormalRows {

    /** Least pivot of the Gram matrix of rows of length 1: their condition number is then below some 1e6. */
    private static final double LEAST_PIVOT = 1e-12;

    /** The share of its length below which a row is a combination of the others, and what is left of it rounding. */
    private static final double DEPENDENT = 1e-12;

    private OrthonormalRows() {}

    /**
     * An orthonormal basis of the rows of {@code matrix}, which must be no more than its columns; the argument is used
     * up.
     *
     * @param fixed orthonormal rows that the basis is orthogonal to; none to do without
     */
    public static Matrix of(Matrix matrix, Matrix fixed, Random random) {
        Matrix rows = matrix;
        for (int pass = 0; pass < 2; pass++) {
            project(rows, fixed);
            normalise(rows);
            Matrix factor = inverseOfFactor(Kernels.multiplyTranspose(rows, rows));
            if (factor == null) {
                return oneByOne(rows, fixed, random);
            }
            rows = Kernels.multiply(factor, rows);
        }
        return rows;
    }

    private static void project(Matrix rows, Matrix fixed) {
        if (fixed.rows() > 0 && rows.rows() > 0) {
            Matrix inside = Kernels.multiply(Kernels.multiplyTranspose(rows, fixed), fixed);
            for (int i = 0; i < inside.values().length; i++) {
                rows.values()[i] -= inside.values()[i];
            }
        }
    }

    private static void normalise(Matrix rows) {
        int d = rows.columns();
        for (int i = 0; i < rows.rows(); i++) {
            double length = Math.sqrt(Kernels.dot(rows.values(), i * d, rows.values(), i * d, d));
            if (length > 0.0) {
                scale(rows, i, 1.0 / length);
            }
        }
    }

    private static void scale(Matrix rows, int row, double factor) {
        int d = rows.columns();
        for (int j = row * d; j < (row + 1) * d; j++) {
            rows.values()[j] *= factor;
        }
    }

    /** Returns {@code L^-1} of {@code G = L L^T}; null where G is singular to working precision. */
    private static @org.jspecify.annotations.Nullable Matrix inverseOfFactor(Matrix gram) {
        int n = gram.rows();
        double[][] lower = new double[n][n];
        double[][] inverse = new double[n][n];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j <= i; j++) {
                double rest = gram.get(i, j) - Kernels.dot(lower[i], 0, lower[j], 0, j);
                if (j < i) {
                    lower[i][j] = rest / lower[j][j];
                } else if (rest > LEAST_PIVOT) {
                    lower[i][i] = Math.sqrt(rest);
                } else {
                    return null;
                }
            }
            // Row i of the inverse: (e_i - sum over j < i of L_ij (row j)) / L_ii.
            RowUpdates.subtract(inverse[i], lower[i], inverse, 0, i, 0, i);
            inverse[i][i] = 1.0;
            for (int j = 0; j <= i; j++) {
                inverse[i][j] /= lower[i][i];
            }
        }
        Matrix factor = Matrix.zeros(n, n);
        for (int i = 0; i < n; i++) {
            System.arraycopy(inverse[i], 0, factor.values(), i * n, n);
        }
        return factor;
    }

    private static Matrix oneByOne(Matrix rows, Matrix fixed, Random random) {
        int d = rows.columns();
        int known = fixed.rows();
        double[][] basis = new double[known + rows.rows()][];
        for (int i = 0; i < known; i++) {
            basis[i] = Arrays.copyOfRange(fixed.values(), i * d, (i + 1) * d);
        }
        for (int i = 0; i < rows.rows(); i++) {
            double[] row = Arrays.copyOfRange(rows.values(), i * d, (i + 1) * d);
            double left = orthogonalise(row, basis, known + i);
            while (!(left > DEPENDENT)) {
                for (int j = 0; j < d; j++) {
                    row[j] = random.nextGaussian();
                }
                left = orthogonalise(row, basis, known + i);
            }
            basis[known + i] = row;
            System.arraycopy(row, 0, rows.values(), i * d, d);
        }
        return rows;
    }

    /**
     * Makes {@code row} orthogonal to the first {@code count} of {@code basis} and of length 1; the share of it that
     * was left.
     */
    private static double orthogonalise(double[] row, double[][] basis, int count) {
        int d = row.length;
        double before = Math.sqrt(Kernels.dot(row, 0, row, 0, d));
        double[] shares = new double[count];
        for (int pass = 0; pass < 2; pass++) {
            for (int h = 0; h < count; h++) {
                shares[h] = Kernels.dot(row, 0, basis[h], 0, d);
            }
            RowUpdates.subtract(row, shares, basis, 0, count, 0, d);
        }
        double after = Math.sqrt(Kernels.dot(row, 0, row, 0, d));
        if (!(after > DEPENDENT * before)) {
            return 0.0;
        }
        for (int j = 0; j < d; j++) {
            row[j] /= after;
        }
        return after / before;
    }
}
