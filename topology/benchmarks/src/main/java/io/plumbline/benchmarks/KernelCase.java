package io.plumbline.benchmarks;

import java.util.Arrays;
import java.util.SplittableRandom;

/**
 * A piece of linear algebra, its sizes, its numbers and the answer.
 *
 * <p>Rows and weights are integers up to 50 in size, so that every sum is exact even in float32 and all variants must
 * agree to the last bit; the matrices of the other two have an answer that is known.
 *
 * @param d width of a row; size of the matrix
 * @param n rows
 * @param features of the encoder
 * @param rank of the eigenspace
 * @param threads that may work at the same time
 */
public record KernelCase(Kind kind, int d, int n, int features, int rank, int threads) {

    private static final int PROBES = 64;
    private static final int TOP_K_ROWS = 8;
    private static final double LARGE_FLOPS = 5e8;

    /** The number of codes kept a row. */
    public static final int TOP_K = 32;

    /** The kinds of work. */
    public enum Kind {
        /** {@code M += X^T X}: {@code n d (d + 1)} flops. */
        UPDATE,
        /** {@code Z = X W^T}: {@code 2 n d features} flops. */
        PRODUCT,
        /** A product of which each row keeps only the {@value KernelCase#TOP_K} largest entries, as sparse codes. */
        TOP_K,
        /** {@code A = R^T R}: {@code d^3 / 3} flops. */
        CHOLESKY,
        /** The leading {@code rank} eigenvectors; without a number of flops. */
        EIGENSPACE
    }

    static KernelCase update(int d, int n, int threads) {
        return new KernelCase(Kind.UPDATE, d, n, 0, 0, threads);
    }

    static KernelCase product(int d, int n, int features) {
        return new KernelCase(Kind.PRODUCT, d, n, features, 0, 1);
    }

    static KernelCase topK(int d, int n, int features, int threads) {
        return new KernelCase(Kind.TOP_K, d, n, features, 0, threads);
    }

    static KernelCase cholesky(int d) {
        return new KernelCase(Kind.CHOLESKY, d, 0, 0, 0, 1);
    }

    static KernelCase eigenspace(int d, int rank) {
        return new KernelCase(Kind.EIGENSPACE, d, 0, 0, rank, 1);
    }

    /** Useful flops: what a library computes twice counts once. */
    public double flops() {
        return switch (kind) {
            case UPDATE -> (double) n * d * (d + 1);
            case PRODUCT, TOP_K -> 2.0 * n * d * features;
            case CHOLESKY -> (double) d * d * d / 3.0;
            case EIGENSPACE -> 0.0;
        };
    }

    /** Returns whether a variant a hundred times slower would take too long to wait for. */
    public boolean isLarge() {
        return flops() > LARGE_FLOPS;
    }

    public String title() {
        String by = threads == 1 ? "" : ", %d threads".formatted(threads);
        return switch (kind) {
            case UPDATE -> "update, d = %,d, %,d rows%s".formatted(d, n, by);
            case PRODUCT -> "encoder product, d = %,d, %,d rows, %,d features".formatted(d, n, features);
            case TOP_K -> "encoder with TopK, d = %,d, %,d rows, %,d features%s".formatted(d, n, features, by);
            case CHOLESKY -> "Cholesky, n = %,d".formatted(d);
            case EIGENSPACE -> "eigenspace, d = %,d, r = %d".formatted(d, rank);
        };
    }

    /** n x d. */
    public double[] rows() {
        return integers((long) n * d, 1);
    }

    /**
     * Returns a name that all work has which the same code does. Small matrices are decomposed in full, others are not,
     * so that no eigenspace warms up another.
     */
    String code() {
        return kind == Kind.EIGENSPACE ? title() : kind.name();
    }

    /** features x d. */
    public double[] weights() {
        return integers((long) features * d, 2);
    }

    /**
     * Returns the symmetric d x d matrix that the Cholesky factorisation and the eigenspace are of. For the Cholesky
     * factorisation {@code 2 sqrt(d) I + S} with entries of S in (-1, 1), whose eigenvalues lie within a factor of 4;
     * for the eigenspace {@code H diag(w) H} with a reflection H.
     */
    public double[] matrix() {
        return kind == Kind.CHOLESKY ? positiveDefinite() : withKnownEigenvalues();
    }

    private double[] positiveDefinite() {
        SplittableRandom random = new SplittableRandom(3);
        double[] a = new double[d * d];
        for (int i = 0; i < d; i++) {
            for (int j = 0; j < i; j++) {
                double value = 2.0 * random.nextDouble() - 1.0;
                a[i * d + j] = value;
                a[j * d + i] = value;
            }
            a[i * d + i] = 2.0 * Math.sqrt(d);
        }
        return a;
    }

    private double[] withKnownEigenvalues() {
        SplittableRandom random = new SplittableRandom(4);
        double[] h = random.doubles(d, -1.0, 1.0).toArray();
        double scale = 2.0 / Arrays.stream(h).map(x -> x * x).sum();
        double[] w = eigenvalues();
        // (I - s h h^T) W (I - s h h^T), without a product of matrices.
        double hwh = 0.0;
        for (int i = 0; i < d; i++) {
            hwh += h[i] * w[i] * h[i];
        }
        double[] a = new double[d * d];
        for (int i = 0; i < d; i++) {
            for (int j = 0; j < d; j++) {
                a[i * d + j] = scale * h[i] * h[j] * (scale * hwh - w[i] - w[j]);
            }
            a[i * d + i] += w[i];
        }
        return a;
    }

    /** Returns {@code 1 / i} behind three that stand out, as moments of hidden states have them; descending. */
    private double[] eigenvalues() {
        double[] w = new double[d];
        for (int i = 0; i < d; i++) {
            w[i] = i < 3 ? 40.0 / (i + 1) : 1.0 / (i + 1);
        }
        return w;
    }

    /** Returns indices into n x d of rows, or the like: which of the many numbers are compared. */
    int[][] probes(int height, int width) {
        SplittableRandom random = new SplittableRandom(5);
        int[][] probes = new int[PROBES][];
        for (int p = 0; p < PROBES; p++) {
            probes[p] = new int[] {random.nextInt(height), random.nextInt(width)};
        }
        return probes;
    }

    /**
     * Returns what every variant must answer: for an update and a product 64 entries, read by {@link #entries}; for
     * TopK the sums of the codes of 8 rows; for Cholesky the solution of {@code A x = A (1, .., 1)}; else the leading
     * eigenvalues.
     */
    public double[] expected() {
        return switch (kind) {
            case UPDATE -> {
                double[] x = rows();
                yield entries((i, j) -> inner(x, i, d, x, j, d, n));
            }
            case PRODUCT -> {
                double[] x = rows();
                double[] w = weights();
                yield entries((i, j) -> inner(x, i * d, 1, w, j * d, 1, d));
            }
            case TOP_K -> {
                double[] x = rows();
                double[] w = weights();
                yield sumsOfLargest((i, j) -> inner(x, i * d, 1, w, j * d, 1, d));
            }
            case CHOLESKY -> {
                double[] ones = new double[d];
                Arrays.fill(ones, 1.0);
                yield ones;
            }
            case EIGENSPACE -> Arrays.copyOf(eigenvalues(), rank);
        };
    }

    /**
     * Returns how far an answer may be off. Sums of integers: not at all. Cholesky: with a condition number below 4,
     * {@code 4 * 8 n 2^-53} times the norm of the solution. Eigenvalues: 1e-6 of the largest, since an iteration may
     * stop early.
     */
    public double tolerance() {
        return switch (kind) {
            case UPDATE, PRODUCT, TOP_K -> 0.0;
            case CHOLESKY -> 32.0 * d * 0x1p-53 * Math.sqrt(d);
            case EIGENSPACE -> 40.0 * 1e-6;
        };
    }

    /** Returns an entry of a result. */
    @FunctionalInterface
    public interface Entry {
        double at(int row, int column);
    }

    /**
     * Returns the entries of a variant's result that are compared; of an update those with {@code column <= row} only.
     */
    public double[] entries(Entry entry) {
        int[][] probes = kind == Kind.UPDATE ? probes(d, d) : probes(n, features);
        double[] values = new double[PROBES];
        for (int p = 0; p < PROBES; p++) {
            int row = probes[p][0];
            int column = probes[p][1];
            values[p] = kind == Kind.UPDATE
                    ? entry.at(Math.max(row, column), Math.min(row, column))
                    : entry.at(row, column);
        }
        return values;
    }

    /** Returns {@code A (1, .., 1)}. */
    public double[] rowSums(double[] matrix) {
        double[] sums = new double[d];
        for (int i = 0; i < d; i++) {
            for (int j = 0; j < d; j++) {
                sums[i] += matrix[i * d + j];
            }
        }
        return sums;
    }

    /** Returns how many rows of a TopK are compared. */
    public int comparedRows() {
        return Math.min(TOP_K_ROWS, n);
    }

    /** Returns the sum of the {@value #TOP_K} largest entries above 0 of each of the first rows of a product. */
    public double[] sumsOfLargest(Entry product) {
        double[] sums = new double[comparedRows()];
        for (int row = 0; row < sums.length; row++) {
            double[] codes = new double[features];
            for (int j = 0; j < features; j++) {
                codes[j] = product.at(row, j);
            }
            Arrays.sort(codes);
            for (int j = features - Math.min(TOP_K, features); j < features; j++) {
                sums[row] += Math.max(0.0, codes[j]);
            }
        }
        return sums;
    }

    private static double inner(double[] x, int from, int step, double[] y, int start, int stride, int count) {
        double sum = 0.0;
        for (int p = 0; p < count; p++) {
            sum += x[from + p * step] * y[start + p * stride];
        }
        return sum;
    }

    private static double[] integers(long count, long seed) {
        return new SplittableRandom(seed).ints(count, -50, 51).asDoubleStream().toArray();
    }
}
