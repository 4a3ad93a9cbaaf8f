package io.plumbline.linalg.eigenspace;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.OrthonormalRows;
import io.plumbline.linalg.SymmetricEigen;
import io.plumbline.linalg.kernel.PackedMatrix;
import io.plumbline.linalg.kernel.UpdateKernels;
import java.util.Random;
import org.jspecify.annotations.Nullable;

/**
 * Chebyshev-filtered subspace iteration for the leading eigenvectors of a positive semidefinite d x d matrix (Zhou,
 * Saad, Tiago and Chelikowsky 2006, doi:10.1016/j.jcp.2006.03.017), one vector per row of the block.
 *
 * <p>Each {@link #step} multiplies the block by a polynomial of the matrix that is small on {@code [0, c]}, c the least
 * Ritz value of the block, and grows past it: for each degree by {@code x + sqrt(x^2 - 1)}, {@code x = 2 theta / c -
 * 1}. Then the block is made orthonormal and the matrix restricted to it is decomposed (Rayleigh-Ritz, by ojAlgo).
 * Vectors whose residual is far below what is wanted are locked: no longer multiplied, kept in the small problem.
 *
 * <p>The degree is what the wanted residual needs, and no more than what leaves the filtered rows independent enough to
 * be made orthonormal by products.
 */
final class BlockIteration {

    private static final int HIGHEST_DEGREE = 16;

    /** How far the rows of the block may grow apart, as a power of e: some 1e6. */
    private static final double GROWTH = 14.0;

    /**
     * The share of its part of the residual that is wanted below which a vector is locked: locked for good, it must not
     * hold it up.
     */
    private static final double LOCKED = 0.02;

    /**
     * The share of a random direction that is mixed into each start vector, lest an eigenvector be orthogonal to all of
     * them.
     */
    static final double DISTURBANCE = 0.02;

    private final Matrix psd;
    private final int rank;
    private final double floor;
    private final Random random;

    /** The matrix laid out for products; often a start leaves none to be done. */
    private @Nullable PackedMatrix factor;

    private Matrix vectors;
    private Matrix images;
    private double[] values;
    private final double[] residuals;
    private int products;

    private BlockIteration(Matrix psd, int rank, double floor, Random random, Matrix vectors) {
        this.psd = psd;
        this.rank = rank;
        this.floor = floor;
        this.random = random;
        this.vectors = vectors;
        this.images = vectors;
        this.residuals = new double[vectors.rows()];
        this.values = residuals;
    }

    /**
     * Starts from the Krylov space of a block, where that is wanted and the matrix large enough for one; else from rows
     * multiplied once.
     *
     * @param size rows of the block, more than {@code rank}
     * @param start d x s, one start vector per column, or null
     * @param norm Frobenius norm of the matrix
     * @param tolerance of the sine of the leading eigenspace
     */
    static BlockIteration of(
            Matrix psd, int rank, int size, @Nullable Matrix start, double norm, double tolerance, boolean krylov) {
        Random random = new Random(1);
        double floor = floor(psd, norm);
        KrylovStart.Found found = krylov ? KrylovStart.of(psd, rank, size, start, tolerance, floor, random) : null;
        if (found == null) {
            return ofRows(psd, rank, floor, startRows(psd.rows(), size, start, random), random);
        }
        BlockIteration iteration = new BlockIteration(psd, rank, floor, random, found.vectors());
        iteration.images = found.images();
        iteration.products = found.products();
        iteration.rayleighRitz();
        return iteration;
    }

    private static BlockIteration ofRows(Matrix psd, int rank, double floor, Matrix rows, Random random) {
        BlockIteration iteration = new BlockIteration(psd, rank, floor, random, rows);
        // A random block says little of the spectrum before it was multiplied once.
        Matrix multiplied = iteration.product(rows);
        iteration.vectors = OrthonormalRows.of(multiplied, Matrix.zeros(0, psd.rows()), random);
        iteration.images = iteration.product(iteration.vectors);
        iteration.rayleighRitz();
        return iteration;
    }

    private static double floor(Matrix psd, double norm) {
        return 4 * 0x1p-53 * Math.sqrt(psd.rows()) * norm;
    }

    private static Matrix startRows(int d, int size, @Nullable Matrix start, Random random) {
        Matrix rows = Matrix.zeros(size, d);
        double disturbance = DISTURBANCE / Math.sqrt(d);
        for (int i = 0; i < size; i++) {
            boolean given = start != null && i < start.columns();
            for (int j = 0; j < d; j++) {
                double noise = random.nextGaussian();
                rows.set(i, j, given && start != null ? start.get(j, i) + disturbance * noise : noise);
            }
        }
        return rows;
    }

    private Matrix product(Matrix rows) {
        PackedMatrix known = factor;
        if (known == null) {
            known = UpdateKernels.kernel().pack(psd.view());
            factor = known;
        }
        Matrix product = Matrix.zeros(rows.rows(), psd.columns());
        known.addProduct(rows.view(), product.values());
        products += rows.rows();
        return product;
    }

    private void rayleighRitz() {
        Matrix restricted = Kernels.multiplyTranspose(vectors, images);
        if (isDiagonal(restricted)) {
            values = new double[residuals.length];
            for (int i = 0; i < values.length; i++) {
                values[i] = restricted.get(i, i);
            }
        } else {
            SymmetricEigen small = SymmetricEigen.of(restricted);
            values = small.values();
            vectors = Kernels.transposeMultiply(small.vectors(), vectors);
            images = Kernels.transposeMultiply(small.vectors(), images);
        }
        int d = psd.columns();
        double[] residual = new double[d];
        for (int i = 0; i < residuals.length; i++) {
            for (int j = 0; j < d; j++) {
                residual[j] = images.get(i, j) - values[i] * vectors.get(i, j);
            }
            residuals[i] = Math.sqrt(Kernels.dot(residual, 0, residual, 0, d));
        }
    }

    /**
     * Returns whether the restriction is diagonal up to rounding, and descending: Ritz vectors from a
     * {@link KrylovStart} need no turning.
     */
    private boolean isDiagonal(Matrix restricted) {
        double beside = 0.0;
        for (int i = 0; i < restricted.rows(); i++) {
            for (int j = 0; j < restricted.rows(); j++) {
                beside += i == j ? 0.0 : restricted.get(i, j) * restricted.get(i, j);
            }
            if (i > 0 && !(restricted.get(i, i) <= restricted.get(i - 1, i - 1))) {
                return false;
            }
        }
        return Math.sqrt(beside) <= floor;
    }

    /** Takes one filter and Rayleigh-Ritz step, aiming at {@code wanted} as the residual of the leading vectors. */
    void step(double wanted) {
        double each = Math.max(LOCKED * wanted / Math.sqrt(rank), floor);
        int locked = 0;
        while (locked < rank && residuals[locked] <= each) {
            locked++;
        }
        Matrix fixed = vectors.rowRange(0, locked);
        Matrix filtered = filter(locked, wanted);
        Matrix free = OrthonormalRows.of(filtered, fixed, random);
        Matrix freeImages = product(free);
        System.arraycopy(free.values(), 0, vectors.values(), fixed.values().length, free.values().length);
        System.arraycopy(freeImages.values(), 0, images.values(), fixed.values().length, free.values().length);
        rayleighRitz();
    }

    private Matrix filter(int locked, double wanted) {
        Matrix previous = vectors.rowRange(locked, size());
        Matrix current = images.rowRange(locked, size());
        double half = 0.5 * values[size() - 1];
        double top = values[Math.min(locked, rank)];
        if (!(half > 1e-12 * values[0]) || !(top > 2.0 * half)) {
            // Nothing is left to damp, or nothing stands out: the power method.
            return current;
        }
        int degree = degree(locked, half, wanted);
        // The scaled recurrence of Zhou et al.: the filter is 1 at the largest value that is not locked.
        double scale = half / (top - half);
        double ratio = scale;
        combine(current, ratio / half, previous, -ratio, current);
        for (int k = 2; k <= degree; k++) {
            double next = 1.0 / (2.0 / scale - ratio);
            Matrix image = product(current);
            for (int i = 0; i < image.values().length; i++) {
                image.values()[i] = 2.0 * next / half * image.values()[i]
                        - 2.0 * next * current.values()[i]
                        - ratio * next * previous.values()[i];
            }
            previous = current;
            current = image;
            ratio = next;
        }
        return current;
    }

    private static void combine(Matrix a, double ofA, Matrix b, double ofB, Matrix into) {
        for (int i = 0; i < into.values().length; i++) {
            into.values()[i] = ofA * a.values()[i] + ofB * b.values()[i];
        }
    }

    private int degree(int locked, double half, double wanted) {
        double slowest = growth(values[rank - 1], half);
        double fastest = growth(values[Math.min(locked, rank)], half);
        double worst = 0.0;
        for (int i = locked; i < size(); i++) {
            worst = Math.max(worst, residuals[i]);
        }
        double apart = GROWTH - Math.log(Math.min(1.0, Math.max(worst / values[Math.min(locked, rank)], 1e-6)));
        double needed = Math.log(Math.max(residual() / wanted, 1.0)) / Math.max(slowest, 1e-3);
        double allowed = apart / Math.max(fastest, 1e-3);
        return (int) Math.max(1.0, Math.min(HIGHEST_DEGREE, Math.min(Math.ceil(needed), Math.floor(allowed))));
    }

    /** Logarithm of what a degree multiplies an eigenvalue's share by. */
    private static double growth(double value, double half) {
        double x = Math.max(1.0, value / half - 1.0);
        return Math.log(x + Math.sqrt(x * x - 1.0));
    }

    /** Returns {@code ||M V - V Theta||_F} of the leading {@code rank} vectors. */
    double residual() {
        double sum = 0.0;
        for (int i = 0; i < rank; i++) {
            sum += residuals[i] * residuals[i];
        }
        return Math.sqrt(sum);
    }

    int size() {
        return residuals.length;
    }

    /** Ritz values, descending; lower bounds of as many leading eigenvalues. */
    double[] values() {
        return values;
    }

    /** One Ritz vector per row. */
    Matrix vectors() {
        return vectors;
    }

    /** Returns {@code M v_i - theta_i v_i} of the first {@code count} vectors, one per row. */
    Matrix residualRows(int count) {
        Matrix rows = images.rowRange(0, count);
        int d = rows.columns();
        for (int i = 0; i < count; i++) {
            Kernels.addScaled(-values[i], vectors.values(), i * d, rows.values(), i * d, d);
        }
        return rows;
    }

    /** The lengths of the residuals, one for each vector. */
    double[] residuals() {
        return residuals;
    }

    /**
     * The residual of the leading vectors at which their space is within {@code tolerance}: half of what theorem and
     * Ritz values say, since value r + 1 is a little below its eigenvalue, and the proof needs room too.
     */
    double wanted(double tolerance) {
        return wanted(values, rank, tolerance, floor);
    }

    static double wanted(double[] values, int rank, double tolerance, double floor) {
        return Math.max(0.5 * tolerance * (values[rank - 1] - values[rank]), floor);
    }

    /** The least residual that rounding lets a vector have, about. */
    double floor() {
        return floor;
    }

    /** Products of the matrix and a vector so far. */
    int products() {
        return products;
    }
}
