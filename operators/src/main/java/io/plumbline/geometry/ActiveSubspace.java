package io.plumbline.geometry;

import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.SymmetricEigen;
import io.plumbline.linalg.eigenspace.TopEigenspace;
import io.plumbline.moments.SecondMoment;
import java.util.Optional;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * The directions with the most energy: the span of the {@code rank} leading eigenvectors of an uncentred second moment
 * (the paper's {@code Π_ID} and {@code Π_OOD}).
 *
 * <p>Either from all eigenpairs ({@link #topEigenspace}: 8 s at d = 2,048, 138 s at 4,096), for a command that wants
 * the last digits. Or from the leading ones alone ({@link #leadingOnly}: 0.2 and 0.7 s), for what the service watches:
 * then the subspace is right up to {@link #sineBound()}, which is proven, and of the other eigenvalues proven bounds
 * are known, from which follow bounds that are as valid and a little wider.
 *
 * <p>Keeps the moment, {@code 8 d^2} bytes, and where all eigenpairs were computed as much again. Immutable; safe for
 * any number of threads as long as nobody writes to the arrays it hands out.
 */
public final class ActiveSubspace {

    /** Proven sine up to which a subspace may be off; the true one is some tens of times smaller. */
    private static final double TOLERANCE = 1e-4;

    /** The dimension below which a full decomposition takes no more than some 30 ms. */
    private static final int SMALLEST_DIMENSION = 300;

    /** The share of the dimension, as a divisor, above which a full decomposition is no slower. */
    private static final int LARGEST_SHARE = 4;

    private final Matrix moment;
    private final Subspace subspace;
    private final double[] atLeast;
    private final double[] atMost;
    private final double sineBound;
    private final @Nullable SymmetricEigen full;
    private final @Nullable TopEigenspace leading;

    private ActiveSubspace(Matrix moment, SymmetricEigen full, int rank) {
        this.moment = moment;
        this.full = full;
        this.leading = null;
        this.subspace = new Subspace(full.vectors().leadingColumns(rank));
        this.atLeast = full.values();
        this.atMost = full.values();
        this.sineBound = 0.0;
    }

    private ActiveSubspace(Matrix moment, TopEigenspace leading) {
        this.moment = moment;
        this.full = null;
        this.leading = leading;
        this.subspace = new Subspace(leading.vectors());
        this.atLeast = leading.atLeast();
        this.atMost = leading.atMost();
        this.sineBound = leading.sineBound();
    }

    /** The leading eigenspace of {@code (1/N) Σ y yᵀ}. */
    public static ActiveSubspace topEigenspace(SecondMoment moment, int rank) {
        return topEigenspace(moment.matrix(), rank);
    }

    /** The leading eigenspace of a symmetric d x d matrix, by a full decomposition; {@code rank} in 1 .. d. */
    public static ActiveSubspace topEigenspace(Matrix moment, int rank) {
        requireRank(rank, moment.rows());
        return new ActiveSubspace(moment, SymmetricEigen.of(moment), rank);
    }

    /**
     * The leading eigenspace of a positive semidefinite d x d matrix by {@link TopEigenspace}; where the rank is large,
     * the dimension small, or the eigengap too small for a proof, by a full decomposition.
     *
     * <p>Depends on the arguments alone: the start should be the same for all windows of a site, and not the window
     * before, or a window that is assessed again after a restart would differ in its last digits.
     *
     * @param start d x s, columns that may lie near the leading eigenvectors; null for none
     */
    public static ActiveSubspace leadingOnly(Matrix moment, int rank, @Nullable Matrix start) {
        int dimension = moment.rows();
        requireRank(rank, dimension);
        if (dimension < SMALLEST_DIMENSION || rank > dimension / LARGEST_SHARE) {
            return topEigenspace(moment, rank);
        }
        Optional<TopEigenspace> found = TopEigenspace.of(moment, rank, start, TOLERANCE);
        return found.isPresent() ? new ActiveSubspace(moment, found.get()) : topEigenspace(moment, rank);
    }

    static void requireRank(int rank, int dimension) {
        if (rank < 1 || rank > dimension) {
            throw new IllegalArgumentException(
                    "rank = %d: expected 1 to %d, the dimension of the target space".formatted(rank, dimension));
        }
    }

    public Subspace subspace() {
        return subspace;
    }

    public int rank() {
        return subspace.rank();
    }

    public int dimension() {
        return subspace.dimension();
    }

    /**
     * Proven upper bound of {@code ‖sin ∠‖_F} between {@link #subspace()} and the leading eigenspace: the gap to any
     * subspace is right within {@code √2} times that. 0 from a full decomposition, which is right to rounding; infinite
     * where the subspace is not identified.
     */
    public double sineBound() {
        return sineBound;
    }

    /** Returns whether all eigenpairs are known: {@link #eigenvalues()} and {@link #eigenvectors()}. */
    public boolean isFull() {
        return full != null;
    }

    /** The largest eigenvalue. */
    public double largestEigenvalue() {
        return atLeast[0];
    }

    /** Eigenvalue {@code i} from 1 to r + 1. */
    public double eigenvalue(int i) {
        return atLeast[i - 1];
    }

    /**
     * All d eigenvalues, descending. Not copied.
     *
     * @throws IllegalStateException unless {@link #isFull()}
     */
    public double[] eigenvalues() {
        return all().values();
    }

    /** All eigenvectors, d x d, one column each, in the order of {@link #eigenvalues()}. Not copied. As there. */
    public Matrix eigenvectors() {
        return all().vectors();
    }

    private SymmetricEigen all() {
        if (full == null) {
            throw new IllegalStateException(
                    "only the leading %d eigenpairs of %d were computed".formatted(rank(), dimension()));
        }
        return full;
    }

    /** Lower bounds of all d eigenvalues, descending; of a full decomposition the eigenvalues. Not copied. */
    double[] atLeast() {
        return atLeast;
    }

    /** Returns upper bounds of all d eigenvalues, descending; of a full decomposition the eigenvalues. */
    double[] atMost() {
        return atMost;
    }

    /** Returns the moment whose leading eigenspace this is. Not copied. */
    Matrix moment() {
        return moment;
    }

    /**
     * Returns {@code M V − V Θ}, d x r: what the leading vectors lack to being eigenvectors. Null from a full
     * decomposition.
     */
    @Nullable
    Matrix residual() {
        return leading == null ? null : leading.residual();
    }

    /** Returns {@code λ_r - λ_{r+1}}, in the units of the moment; empty at r = d, where there is no next eigenvalue. */
    public OptionalDouble eigengap() {
        return rank() == dimension()
                ? OptionalDouble.empty()
                : OptionalDouble.of(eigenvalue(rank()) - eigenvalue(rank() + 1));
    }

    /**
     * Returns what {@link #eigengap} is at least: the proven bounds of both eigenvalues apart. 0 where they overlap;
     * after a full decomposition the eigengap itself.
     */
    double provenEigengap() {
        return rank() == dimension() ? 0.0 : Math.max(0.0, atLeast[rank() - 1] - atMost[rank()]);
    }

    /**
     * Returns whether the moment determines this subspace: false where eigenvalues r and r + 1 are equal to rounding,
     * and any basis would have done as well.
     */
    public boolean isIdentified() {
        return Double.isFinite(sineBound) && Identification.separated(atLeast, rank(), dimension());
    }

    /** Returns {@code tr M}. */
    double trace() {
        return moment.trace();
    }
}
