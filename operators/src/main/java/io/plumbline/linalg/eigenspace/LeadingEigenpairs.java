package io.plumbline.linalg.eigenspace;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.OrthonormalRows;
import io.plumbline.linalg.kernel.RowUpdates;
import java.util.Arrays;
import java.util.Random;

/**
 * The leading eigenpairs of a small symmetric n x n matrix, without the other vectors: Householder's reduction to a
 * tridiagonal matrix, its eigenvalues by QL steps (Golub and Van Loan, Matrix Computations, 8.3), and inverse iteration
 * for each wanted vector.
 *
 * <p><b>Cost.</b> {@code 2 n^3 + 4 n^2 m} flops for m vectors: 2 ms at n = 160, m = 48, where a full decomposition
 * takes 6. <b>Accuracy.</b> That of values is a small multiple of {@code n 2^-53 ||A||}; vectors are orthonormal to
 * rounding, and one whose value is apart from the others by g errs by some {@code n 2^-53 ||A|| / g}.
 * <b>Deterministic.</b>
 */
final class LeadingEigenpairs {

    private static final int MOST_STEPS = 60;

    /** The square of what is far below the rounding of values near 1. */
    private static final double NOTHING = 0x1p-300;

    /**
     * The number of solves for a vector: from a random vector the first finds the eigenvector, the second what rounding
     * left.
     */
    private static final int SOLVES = 2;

    /**
     * The number of roundings of the largest value beside a value at which its vector is looked for. Right at it, one
     * of several values that are equal to rounding would outweigh the others by any number, and all their vectors would
     * be the same one.
     */
    private static final double BESIDE = 16.0;

    private final int n;

    /** The power of two by which the matrix is divided, so that squares neither vanish nor overflow. */
    private final int exponent;

    /** The rows of the matrix; those that are done hold the vectors of their reflections. */
    private final double[][] rows;

    private final double[] scales;
    private final double[] diagonal;
    private final double[] beside;

    private LeadingEigenpairs(Matrix symmetric) {
        this.n = symmetric.rows();
        this.rows = new double[n][];
        double largest = 0.0;
        for (double value : symmetric.values()) {
            largest = Math.max(largest, Math.abs(value));
        }
        this.exponent = Math.max(Math.getExponent(largest), -1000);
        double scale = Math.scalb(1.0, -exponent);
        for (int i = 0; i < n; i++) {
            rows[i] = Arrays.copyOfRange(symmetric.values(), i * n, (i + 1) * n);
            for (int j = 0; j < n; j++) {
                rows[i][j] *= scale;
            }
        }
        this.scales = new double[n];
        this.diagonal = new double[n];
        this.beside = new double[n];
    }

    /**
     * Eigenvalues, all of them, descending, and the leading vectors.
     *
     * @param vectors n x m, a column each
     */
    record Found(double[] values, Matrix vectors) {}

    /**
     * Returns the {@code count} leading eigenpairs.
     *
     * @param symmetric not changed
     * @param count 1 to n
     * @throws ArithmeticException if the matrix is not finite
     */
    static Found of(Matrix symmetric, int count) {
        LeadingEigenpairs small = new LeadingEigenpairs(symmetric);
        small.reduce();
        double[] values = small.values();
        double largest = Math.max(Math.abs(values[0]), Math.abs(values[small.n - 1]));
        double least = largest > 0.0 ? 0x1p-53 * largest : 1.0;
        Random random = new Random(1);
        Matrix vectors = Matrix.zeros(count, small.n);
        for (int i = 0; i < count; i++) {
            double shift = values[i] + BESIDE * least;
            System.arraycopy(small.vector(shift, least, random), 0, vectors.values(), i * small.n, small.n);
        }
        Matrix basis = OrthonormalRows.of(vectors, Matrix.zeros(0, small.n), random);
        return new Found(small.inUnitsOfTheMatrix(values), small.reflected(basis));
    }

    /**
     * The eigenvalues alone, descending: {@code 2 n^3} flops.
     *
     * @throws ArithmeticException if the matrix is not finite
     */
    static double[] values(Matrix symmetric) {
        LeadingEigenpairs small = new LeadingEigenpairs(symmetric);
        small.reduce();
        return small.inUnitsOfTheMatrix(small.values());
    }

    private double[] inUnitsOfTheMatrix(double[] values) {
        double[] scaled = new double[n];
        for (int i = 0; i < n; i++) {
            scaled[i] = Math.scalb(values[i], exponent);
        }
        return scaled;
    }

    private void reduce() {
        double[] image = new double[n];
        for (int step = 0; step < n; step++) {
            double[] vector = rows[step];
            diagonal[step] = vector[step];
            if (step == n - 1) {
                return;
            }
            int from = step + 1;
            double rest = Kernels.dot(vector, from + 1, vector, from + 1, n - from - 1);
            double first = vector[from];
            beside[step] = first;
            if (rest <= NOTHING) {
                continue;
            }
            double length = Math.copySign(Math.sqrt(first * first + rest), first);
            beside[step] = -length;
            vector[from] = first + length;
            double scale = 1.0 / (length * vector[from]);
            scales[step] = scale;
            // A - v w^T - w v^T with w = p - (scale / 2 v^T p) v and p = scale A v.
            Arrays.fill(image, from, n, 0.0);
            RowUpdates.subtract(image, vector, rows, from, n, from, n);
            double inner = Kernels.dot(image, from, vector, from, n - from);
            for (int j = from; j < n; j++) {
                image[j] = -scale * (image[j] - 0.5 * scale * inner * vector[j]);
            }
            for (int i = from; i < n; i++) {
                subtractBoth(rows[i], vector[i], image, image[i], vector, from, n);
            }
        }
    }

    private static void subtractBoth(double[] row, double a, double[] x, double b, double[] y, int from, int to) {
        for (int j = from; j < to; j++) {
            row[j] -= a * x[j] + b * y[j];
        }
    }

    /** The eigenvalues of the tridiagonal matrix, descending, by implicit QL steps with Wilkinson's shift. */
    private double[] values() {
        double[] d = diagonal.clone();
        double[] e = beside.clone();
        e[n - 1] = 0.0;
        double largest = 0.0;
        for (int i = 0; i < n; i++) {
            largest = Math.max(largest, Math.abs(d[i]) + Math.abs(e[i]));
        }
        if (!Double.isFinite(largest)) {
            throw new ArithmeticException("a %d x %d matrix is not finite".formatted(n, n));
        }
        // Not beside its own neighbours: where many eigenvalues are 0, these are rounding of what the large ones left.
        double negligible = 0x1p-53 * largest;
        for (int first = 0; first < n; first++) {
            for (int steps = 0; ; steps++) {
                int last = first;
                while (last < n - 1 && Math.abs(e[last]) > negligible) {
                    last++;
                }
                if (last == first) {
                    break;
                }
                if (steps == MOST_STEPS) {
                    throw new ArithmeticException(
                            "eigenvalue %d of a tridiagonal %d x %d matrix did not converge".formatted(first, n, n));
                }
                chase(d, e, first, last);
            }
        }
        Arrays.sort(d);
        double[] descending = new double[n];
        for (int i = 0; i < n; i++) {
            descending[i] = d[n - 1 - i];
        }
        return descending;
    }

    /** Takes one step on rows {@code first .. last}, from the last one up. */
    private static void chase(double[] d, double[] e, int first, int last) {
        double half = (d[first + 1] - d[first]) / (2.0 * e[first]);
        double root = Math.sqrt(half * half + 1.0);
        double bulge = d[last] - d[first] + e[first] / (half + Math.copySign(root, half));
        double sine = 1.0;
        double cosine = 1.0;
        double taken = 0.0;
        for (int i = last - 1; i >= first; i--) {
            double f = sine * e[i];
            double b = cosine * e[i];
            double length = Math.sqrt(f * f + bulge * bulge);
            e[i + 1] = length;
            if (length == 0.0) {
                d[i + 1] -= taken;
                e[last] = 0.0;
                return;
            }
            sine = f / length;
            cosine = bulge / length;
            double next = d[i + 1] - taken;
            double sum = (d[i] - next) * sine + 2.0 * cosine * b;
            taken = sine * sum;
            d[i + 1] = next + taken;
            bulge = cosine * sum - b;
        }
        d[first] -= taken;
        e[first] = bulge;
        e[last] = 0.0;
    }

    /** An eigenvector of the tridiagonal matrix, by inverse iteration with rows exchanged for the larger pivot. */
    private double[] vector(double value, double least, Random random) {
        double[] pivots = new double[n];
        double[] above = new double[n];
        double[] farAbove = new double[n];
        double[] factors = new double[n];
        boolean[] exchanged = new boolean[n];
        double pivot = diagonal[0] - value;
        double next = n > 1 ? beside[0] : 0.0;
        for (int i = 0; i < n - 1; i++) {
            double below = beside[i];
            double own = diagonal[i + 1] - value;
            double after = i + 2 < n ? beside[i + 1] : 0.0;
            if (Math.abs(below) > Math.abs(pivot)) {
                exchanged[i] = true;
                factors[i] = pivot / below;
                pivots[i] = below;
                above[i] = own;
                farAbove[i] = after;
                pivot = next - factors[i] * own;
                next = -factors[i] * after;
            } else {
                pivots[i] = Math.abs(pivot) < least ? least : pivot;
                factors[i] = below / pivots[i];
                above[i] = next;
                pivot = own - factors[i] * next;
                next = after;
            }
        }
        pivots[n - 1] = Math.abs(pivot) < least ? least : pivot;
        double[] x = new double[n];
        for (int i = 0; i < n; i++) {
            x[i] = random.nextDouble() - 0.5;
        }
        for (int solve = 0; solve < SOLVES; solve++) {
            for (int i = 0; i < n - 1; i++) {
                if (exchanged[i]) {
                    double own = x[i];
                    x[i] = x[i + 1];
                    x[i + 1] = own - factors[i] * x[i];
                } else {
                    x[i + 1] -= factors[i] * x[i];
                }
            }
            double largest = 0.0;
            for (int i = n - 1; i >= 0; i--) {
                double sum = x[i];
                if (i + 1 < n) {
                    sum -= above[i] * x[i + 1];
                }
                if (i + 2 < n) {
                    sum -= farAbove[i] * x[i + 2];
                }
                x[i] = sum / pivots[i];
                largest = Math.max(largest, Math.abs(x[i]));
            }
            for (int i = 0; i < n; i++) {
                x[i] /= largest;
            }
        }
        return x;
    }

    /** Returns the vectors of the given matrix for rows that are vectors of the tridiagonal one, as columns. */
    private Matrix reflected(Matrix basis) {
        int count = basis.rows();
        double[][] coordinates = new double[n][count];
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < count; j++) {
                coordinates[i][j] = basis.get(j, i);
            }
        }
        double[] shares = new double[count];
        for (int step = n - 2; step >= 0; step--) {
            if (scales[step] != 0.0) {
                Arrays.fill(shares, 0.0);
                RowUpdates.subtract(shares, rows[step], coordinates, step + 1, n, 0, count);
                for (int i = step + 1; i < n; i++) {
                    RowUpdates.subtractOne(coordinates[i], -scales[step] * rows[step][i], shares, 0, count);
                }
            }
        }
        Matrix columns = Matrix.zeros(n, count);
        for (int i = 0; i < n; i++) {
            System.arraycopy(coordinates[i], 0, columns.values(), i * count, count);
        }
        return columns;
    }
}
