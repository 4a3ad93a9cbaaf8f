package io.plumbline.geometry;

import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.SymmetricEigen;
import io.plumbline.moments.SecondMoment;
import java.util.OptionalDouble;

/**
 * The directions with the most energy: the span of the {@code rank} leading eigenvectors of an uncentred second moment
 * (the paper's {@code Π_ID} and {@code Π_OOD}).
 *
 * <p>All eigenpairs are computed and kept ({@code 8 d^2} bytes): the bounds need the whole spectrum, and the energies the
 * directions outside. Cost: one full symmetric eigendecomposition, 0.7 s at d = 768.
 *
 * <p>Immutable; safe for any number of threads as long as nobody writes to the arrays it hands out.
 */
public final class ActiveSubspace {

    private final SymmetricEigen eigen;
    private final Subspace subspace;

    private ActiveSubspace(SymmetricEigen eigen, int rank) {
        this.eigen = eigen;
        this.subspace = new Subspace(eigen.vectors().leadingColumns(rank));
    }

    /** The leading eigenspace of {@code (1/N) Σ y yᵀ}. */
    public static ActiveSubspace topEigenspace(SecondMoment moment, int rank) {
        return topEigenspace(moment.matrix(), rank);
    }

    /** The leading eigenspace of a symmetric d x d matrix; {@code rank} in 1 .. d. */
    public static ActiveSubspace topEigenspace(Matrix moment, int rank) {
        requireRank(rank, moment.rows());
        return new ActiveSubspace(SymmetricEigen.of(moment), rank);
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

    /** All d eigenvalues, descending. Not copied. */
    public double[] eigenvalues() {
        return eigen.values();
    }

    /** All eigenvectors, d x d, one column each, in the order of {@link #eigenvalues()}. Not copied. */
    public Matrix eigenvectors() {
        return eigen.vectors();
    }

    /** {@code λ_r - λ_{r+1}}, in the units of the moment; empty at r = d, where there is no next eigenvalue. */
    public OptionalDouble eigengap() {
        double[] values = eigen.values();
        return rank() == values.length
                ? OptionalDouble.empty()
                : OptionalDouble.of(values[rank() - 1] - values[rank()]);
    }

    /**
     * Whether the moment determines this subspace: false where eigenvalues r and r + 1 are equal to rounding, and any
     * basis would have done as well.
     */
    public boolean isIdentified() {
        return Identification.separated(eigen.values(), rank(), dimension());
    }

    /** {@code tr M}, the sum of the eigenvalues. */
    double trace() {
        double sum = 0.0;
        for (double value : eigen.values()) {
            sum += value;
        }
        return sum;
    }
}
