package io.plumbline.linalg;

import java.util.Arrays;
import java.util.Optional;
import org.jspecify.annotations.Nullable;

/**
 * The leading eigenspace of a positive semidefinite d x d matrix M without the rest of its spectrum, and what is certain of both.
 *
 * <p>Found by a {@link KrylovStart} and, where that does not suffice, {@link BlockIteration}; what it found is then <b>proven</b>, since an iteration cannot know of an eigenvector that
 * it never saw, and Ritz values are lower estimates. Let W (d x q, q >= r) be Ritz vectors with values Theta, residual
 * {@code R = M W - W Theta}, and C the restriction of M to the complement of W.
 * <ol>
 *   <li>{@code sigma I - M + W Theta W^T} is factored by Cholesky. In the basis (W, complement) it is
 *       {@code [[sigma I, -B^T], [-B, sigma I - C]]}, so a success proves {@code lambda_max(C) < sigma}.
 *   <li>For {@code x > sigma} the number of eigenvalues of M above x is that of positive eigenvalues of the Schur complement
 *       {@code Theta - x I + B^T (x I - C)^-1 B <= Theta - x I + R^T R / (x - sigma)} (Haynsworth 1968). So with any
 *       {@code x_0 > sigma}, {@code lambda_i(M) <= max(x_0, lambda_i(Theta + R^T R / (x_0 - sigma)))} for i <= q, and
 *       {@code lambda_i(M) <= sigma} after.
 *   <li>Davis and Kahan's sine theorem (1970, doi:10.1137/0707001): with the bound u of lambda_{r+1} from 2.,
 *       {@code ||sin angle(V, leading eigenspace)||_F <= ||M V - V Theta_r||_F / (theta_r - u)}.
 * </ol>
 * All three allow for rounding: {@code (d + 3) 2^-53} of the trace for the Cholesky factorisation (Higham, Accuracy and Stability,
 * theorem 10.5) and {@code 6 d 2^-53 ||M||_F} for products.
 *
 * <p><b>Cost.</b> Some 3 r + 60 products of M and a vector where r is small beside d, else 8 to 15 with a block of 1.5 r, and {@code d^3 / 3} for the proof. <b>Size.</b> About {@code 12 d^2} bytes
 * while it works. <b>Deterministic</b>: depends on M and the start alone. The start says how fast it goes
 * and, within {@link #sineBound()}, the last digits. Immutable.
 */
public final class TopEigenspace {

    /** Products of M with a block before it is given up: as long as a full decomposition takes. */
    private static final int MOST_BLOCKS = 120;

    /** Columns that a product handles together ({@link VectorRightFactor}); a block of a multiple of it wastes none. */
    private static final int BLOCK_STEP = 24;

    private static final int LEAST_GUARD = 8;

    private static final int MOST_PROOFS = 4;

    private final double[] values;
    private final Matrix vectors;
    private final double[] atMost;
    private final Matrix residual;
    private final double sineBound;
    private final int products;

    private TopEigenspace(BlockIteration found, int rank, Claim proof) {
        this.values = found.values();
        this.vectors = found.vectors().rowRange(0, rank).transpose();
        this.residual = found.residualRows(rank).transpose();
        this.atMost = proof.atMost();
        this.sineBound = proof.sineBound();
        this.products = found.products();
    }

    /**
     * The leading eigenspace, proven to within {@code tolerance}; empty where that takes too long, since eigenvalues r and r + 1
     * lie too close to each other. Then a full decomposition ({@link SymmetricEigen}) must do.
     *
     * <p>Where both are equal to rounding there is a result too, and its {@link #sineBound()} is infinite: any basis would do.
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
        double rounding = 6 * d * 0x1p-53 * norm;
        BlockIteration iteration = BlockIteration.of(psd, rank, size, start, norm, tolerance, krylov);
        int proofs = 0;
        while (iteration.products() < MOST_BLOCKS * size && proofs < MOST_PROOFS) {
            double gap = iteration.values()[rank - 1] - iteration.values()[rank];
            double wanted = iteration.wanted(tolerance);
            boolean equal = gap <= rounding;
            if (iteration.residual() <= wanted || (equal && iteration.residual() <= rounding)) {
                Claim claim = claim(psd, iteration, rank, rounding, 2 << (2 * proofs));
                if (equal || claim.sineBound() <= tolerance) {
                    if (isBelow(psd, iteration, claim.known(), claim.level())) {
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

    /** What follows once an eigenvalue outside of the first {@code known} vectors is known to be below {@code level}. */
    private record Claim(int known, double level, double[] atMost, double sineBound) {}

    /**
     * The best that the residuals promise to be provable.
     *
     * @param margin how many residuals above a Ritz value its eigenvalue is looked for; too few, and the proof fails
     */
    private static Claim claim(Matrix psd, BlockIteration found, int rank, double rounding, int margin) {
        int d = psd.rows();
        double[] values = found.values();
        int known = rank;
        double level = Double.POSITIVE_INFINITY;
        double worst = 0.0;
        // The last vectors of the block have converged least: eigenvalues after them may be larger than their Ritz
        // values.
        for (int q = rank; q <= rank + (found.size() - rank) * 3 / 4; q++) {
            worst = Math.max(worst, found.residuals()[q]);
            double candidate = values[q] + margin * worst;
            if (candidate < level) {
                level = candidate;
                known = q;
            }
        }
        level += 2.0 * rounding;
        double sigma = level + (d + 3) * 0x1p-53 * d * level + rounding;
        double from = values[rank] > sigma ? 0.5 * (sigma + values[rank]) : sigma + 0.05 * (values[rank - 1] - sigma);
        from = Math.max(from, sigma + rounding);
        Matrix residual = found.residualRows(known);
        Matrix raised = Kernels.multiplyTranspose(residual, residual);
        for (int i = 0; i < raised.values().length; i++) {
            raised.values()[i] /= from - sigma;
        }
        double rest = psd.trace();
        for (int i = 0; i < known; i++) {
            raised.set(i, i, raised.get(i, i) + values[i]);
            rest -= values[i];
        }
        double[] raisedValues = LeadingEigenpairs.values(raised);
        double[] atMost = new double[d];
        for (int i = 0; i < d; i++) {
            // The eigenvalues between the known ones and this one are no smaller, and together no more than what is
            // left.
            atMost[i] = i < known
                    ? Math.max(from, raisedValues[i]) + rounding
                    : Math.min(sigma, Math.max(rest, 0.0) / (i - known + 1) + rounding);
        }
        double separation = values[rank - 1] - atMost[rank];
        double sine = separation > 0.0
                ? (found.residual() + Math.sqrt(rank) * rounding) / separation
                : Double.POSITIVE_INFINITY;
        return new Claim(known, level, atMost, sine);
    }

    /** Whether {@code level I - M + W Theta W^T} is positive definite, W the first {@code known} vectors. */
    static boolean isBelow(Matrix psd, BlockIteration found, int known, double level) {
        int d = psd.rows();
        int width = TriangularStrips.WIDTH;
        TileKernel kernel = UpdateKernels.kernel().tiles();
        double[][] basis = flatStrips(found.vectors(), known);
        double[][] negative = new double[basis.length][];
        Cores.each(basis.length, (double) d * d * known, strip -> {
            double[] rows = TriangularStrips.upperPart(psd, strip);
            for (int row = strip * width; row < (strip + 1) * width; row++) {
                rows[row * width + row - strip * width] -= row < d ? level : 1.0;
            }
            double[] scaled = basis[strip].clone();
            for (int i = 0; i < scaled.length; i++) {
                scaled[i] *= -found.values()[i / width];
            }
            for (int group = 0; group <= strip; group++) {
                for (int i = 0; i < width; i += TileKernel.ROWS) {
                    kernel.add(basis[group], i, scaled, 0, known, rows, (group * width + i) * width);
                }
            }
            negative[strip] = rows;
        });
        try {
            TriangularStrips unused = TriangularStrips.factorOf(negative, d, kernel);
            return true;
        } catch (ArithmeticException notDefinite) {
            return false;
        }
    }

    /** The first {@code count} rows, a strip of their columns after the other. */
    private static double[][] flatStrips(Matrix rows, int count) {
        int width = TriangularStrips.WIDTH;
        int d = rows.columns();
        double[][] strips = new double[(d + width - 1) / width][count * width];
        for (int row = 0; row < count; row++) {
            for (int strip = 0; strip < strips.length; strip++) {
                int length = Math.min(width, d - strip * width);
                System.arraycopy(rows.values(), row * d + strip * width, strips[strip], row * width, length);
            }
        }
        return strips;
    }

    /**
     * Ritz values, descending, at least r + 1 of them: lower bounds of the leading eigenvalues, and up to r + 1 equal to them but
     * for the square of {@link #sineBound()}, about. Not copied.
     */
    public double[] values() {
        return values;
    }

    /** d x r, one orthonormal column each. Not copied. */
    public Matrix vectors() {
        return vectors;
    }

    /** {@code M V - V Theta}, d x r. Not copied. */
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
     * Proven upper bound of {@code ||sin angle||_F} between the space of {@link #vectors()} and the leading eigenspace; infinite
     * where eigenvalues r and r + 1 are equal to rounding.
     */
    public double sineBound() {
        return sineBound;
    }

    /** Products of M with a vector that it took. */
    public int products() {
        return products;
    }
}
