package io.plumbline.linalg.eigenspace;

import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.SymmetricEigen;
import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The leading eigenspace of a positive semidefinite d x d matrix M without the rest of its spectrum, and what is
 * certain of both.
 *
 * <p>Found by a {@link KrylovStart} and, where that does not suffice, {@link BlockIteration}; what it found is then
 * <b>proven</b>, since an iteration cannot know of an eigenvector that it never saw, and Ritz values are lower
 * estimates. Let W (d x q, q >= r) be Ritz vectors with values Theta, residual {@code R = M W - W Theta}, and C the
 * restriction of M to the complement of W.
 * <ol>
 *   <li>{@code sigma I - M + W Theta W^T} is factored by Cholesky. In the basis (W, complement) it is
 *       {@code [[sigma I, -B^T], [-B, sigma I - C]]}, so a success proves {@code lambda_max(C) < sigma}.
 *   <li>For {@code x > sigma} the number of eigenvalues of M above x is that of positive eigenvalues of the Schur
 * complement {@code Theta - x I + B^T (x I - C)^-1 B <= Theta - x I + R^T R / (x - sigma)} (Haynsworth 1968). So with
 * any {@code x_0 > sigma}, {@code lambda_i(M) <= max(x_0, lambda_i(Theta + R^T R / (x_0 - sigma)))} for i <= q, and
 * {@code lambda_i(M) <= sigma} after.
 *   <li>Davis and Kahan's sine theorem (1970, doi:10.1137/0707001): with the bound u of lambda_{r+1} from 2.,
 *       {@code ||sin angle(V, leading eigenspace)||_F <= ||M V - V Theta_r||_F / (theta_r - u)}.
 * </ol>
 * All three allow for rounding: {@code (d + 3) 2^-53} of the trace for the Cholesky factorisation (Higham, Accuracy and
 * Stability, theorem 10.5), or {@link FloatCholesky#share} of it where the factorisation is done in float32, and
 * {@code 6 d 2^-53 ||M||_F} for products.
 *
 * <p><b>Cost.</b> Some 3 r + 60 products of M and a vector where r is small beside d, else 8 to 15 with a block of 1.5
 * r, and {@code d^3 / 3} for the proof. <b>Size.</b> About {@code 12 d^2} bytes while it works. <b>Deterministic</b>:
 * depends on M and the start alone. The start says how fast it goes and, within {@link #sineBound()}, the last digits.
 * Immutable.
 */
public final class TopEigenspace {

    /**
     * Products of M with a block before it is given up: at d = 768 as long as a full decomposition takes, below that
     * several times as long.
     */
    private static final int MOST_BLOCKS = 120;

    /** The number of columns that a product handles together; a block of a multiple of it wastes none. */
    private static final int BLOCK_STEP = 24;

    private static final int LEAST_GUARD = 8;

    private static final int MOST_PROOFS = 4;

    /** The largest norm, as a power of two, beyond which squares of residuals would vanish or overflow. */
    private static final int LARGEST_EXPONENT = 200;

    private final double[] values;
    private final Matrix vectors;
    private final double[] atMost;
    private final Matrix residual;
    private final double sineBound;
    private final int products;

    private TopEigenspace(BlockIteration found, int rank, EigenspaceProof proof) {
        this.values = found.values();
        this.vectors = found.vectors().rowRange(0, rank).transpose();
        this.residual = found.residualRows(rank).transpose();
        this.atMost = proof.atMost();
        this.sineBound = proof.sineBound();
        this.products = found.products();
    }

    /** Returns the eigenspace of a matrix that is {@code 2^exponent} times as large. */
    private TopEigenspace(TopEigenspace of, int exponent) {
        this.values = timesPowerOfTwo(of.values, exponent);
        this.vectors = of.vectors;
        double[] scaled = timesPowerOfTwo(of.residual.values(), exponent);
        this.residual = new Matrix(of.residual.rows(), of.residual.columns(), scaled);
        this.atMost = timesPowerOfTwo(of.atMost, exponent);
        this.sineBound = of.sineBound;
        this.products = of.products;
    }

    private static double[] timesPowerOfTwo(double[] values, int exponent) {
        double[] scaled = new double[values.length];
        for (int i = 0; i < scaled.length; i++) {
            scaled[i] = Math.scalb(values[i], exponent);
        }
        return scaled;
    }

    /**
     * The leading eigenspace, proven to within {@code tolerance}; empty where that takes too long, since eigenvalues r
     * and r + 1 lie too close to each other. Then a full decomposition ({@link SymmetricEigen}) must do.
     *
     * <p>Where both are equal to rounding there is a result too, and its {@link #sineBound()} is infinite: any basis
     * would do.
     *
     * @param psd positive semidefinite, not changed
     * @param rank in 1 .. d - 1
     * @param start d x s, columns that may lie near the leading eigenvectors; null to begin anywhere
     * @param tolerance of {@link #sineBound()}
     */
    public static Optional<TopEigenspace> of(Matrix psd, int rank, @Nullable Matrix start, double tolerance) {
        return of(psd, rank, start, tolerance, KrylovStart.pays(psd.rows(), rank, tolerance));
    }

    static Optional<TopEigenspace> of(Matrix psd, int rank, @Nullable Matrix start, double tolerance, boolean krylov) {
        int d = psd.rows();
        if (psd.columns() != d || rank < 1 || rank >= d) {
            throw new IllegalArgumentException(
                    "the leading %d eigenvectors of a %d x %d matrix: expected a square one and 1 to %d"
                            .formatted(rank, d, psd.columns(), d - 1));
        }
        int size = blockSize(rank);
        double norm = psd.frobeniusNorm();
        if (size >= d || norm == 0.0) {
            return Optional.empty();
        }
        int exponent = Math.getExponent(norm);
        if (Double.isFinite(norm) && Math.abs(exponent) > LARGEST_EXPONENT) {
            Matrix usual = new Matrix(d, d, timesPowerOfTwo(psd.values(), -exponent));
            return of(usual, rank, start, tolerance, krylov).map(found -> new TopEigenspace(found, exponent));
        }
        double rounding = 6 * d * 0x1p-53 * norm;
        BlockIteration iteration = BlockIteration.of(psd, rank, size, start, norm, tolerance, krylov);
        int proofs = 0;
        while (iteration.products() < MOST_BLOCKS * size && proofs < MOST_PROOFS) {
            double gap = iteration.values()[rank - 1] - iteration.values()[rank];
            double wanted = iteration.wanted(tolerance);
            boolean equal = gap <= rounding;
            if (!equal && iteration.residual() <= rounding && tolerance * gap < Math.sqrt(rank) * rounding) {
                // The vectors cannot get better, and the error that rounding alone leaves exceeds the tolerance.
                return Optional.empty();
            }
            if (iteration.residual() <= wanted || (equal && iteration.residual() <= rounding)) {
                int margin = 2 << (2 * proofs);
                EigenspaceProof quick = EigenspaceProof.of(psd, iteration, rank, rounding, margin, true);
                if (quick.sineBound() <= tolerance && quick.isProven(psd, iteration)) {
                    return Optional.of(new TopEigenspace(iteration, rank, quick));
                }
                EigenspaceProof claim = EigenspaceProof.of(psd, iteration, rank, rounding, margin, false);
                if (equal || claim.sineBound() <= tolerance) {
                    if (claim.isProven(psd, iteration)) {
                        return Optional.of(new TopEigenspace(iteration, rank, claim));
                    }
                    proofs++;
                    continue;
                }
                wanted = Math.max(0.5 * wanted, iteration.floor());
            }
            iteration.step(wanted);
        }
        return Optional.empty();
    }

    private static int blockSize(int rank) {
        int least = Math.max(rank + LEAST_GUARD, rank + (rank + 1) / 2);
        return (least + BLOCK_STEP - 1) / BLOCK_STEP * BLOCK_STEP;
    }

    /**
     * Ritz values, descending, at least r + 1 of them: lower bounds of the leading eigenvalues, and up to r + 1 equal
     * to them but for the square of {@link #sineBound()}, about. Not copied.
     */
    public double[] values() {
        return values;
    }

    /** d x r, one orthonormal column each. Not copied. */
    public Matrix vectors() {
        return vectors;
    }

    /** Returns {@code M V - V Theta}, d x r. Not copied. */
    public Matrix residual() {
        return residual;
    }

    /** Proven upper bounds of all d eigenvalues, descending. Not copied. */
    public double[] atMost() {
        return atMost;
    }

    /** Proven lower bounds of all d eigenvalues, descending: the Ritz values, and 0 where there is none. */
    public double[] atLeast() {
        return Arrays.copyOf(values, atMost.length);
    }

    /**
     * Proven upper bound of {@code ||sin angle||_F} between the space of {@link #vectors()} and the leading eigenspace;
     * infinite where eigenvalues r and r + 1 are equal to rounding.
     */
    public double sineBound() {
        return sineBound;
    }

    /** Products of M with a vector that it took. */
    int products() {
        return products;
    }
}
