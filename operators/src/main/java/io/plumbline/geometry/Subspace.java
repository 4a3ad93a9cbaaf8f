package io.plumbline.geometry;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;

/**
 * A subspace of dimension {@link #rank()} of R^d, given by an orthonormal basis.
 *
 * @param basis d x r, one orthonormal column per direction. Orthonormality is the maker's duty and is not checked (that
 *     would cost as much as the gap)
 */
public record Subspace(Matrix basis) {

    public Subspace {
        if (basis.columns() < 1 || basis.columns() > basis.rows()) {
            throw new IllegalArgumentException("a basis of %d directions in dimension %d: expected 1 to %d"
                    .formatted(basis.columns(), basis.rows(), basis.rows()));
        }
    }

    /** Number of directions, r. */
    public int rank() {
        return basis.columns();
    }

    /** Dimension d of the space around it. */
    public int dimension() {
        return basis.rows();
    }

    /** The orthogonal projector {@code U U^T}, d x d: the same for every basis. {@code 2 d^2 r} flops. */
    public Matrix projector() {
        return Kernels.multiplyTranspose(basis, basis);
    }

    /**
     * Returns {@code (I - U U^T) V}: what {@code other} (d x m) has outside this subspace, {@code 8 d r m} flops.
     *
     * <p>Projected twice: after one pass a residual of size 1e-10 still carries rounding of size 1e-16 inside the
     * subspace, and the basis is orthonormal only to that precision itself.
     */
    Matrix residual(Matrix other) {
        Matrix once = other.minus(Kernels.multiply(basis, Kernels.transposeMultiply(basis, other)));
        return once.minus(Kernels.multiply(basis, Kernels.transposeMultiply(basis, once)));
    }

    void requireComparable(Subspace other) {
        if (rank() != other.rank() || dimension() != other.dimension()) {
            throw new IllegalArgumentException("subspaces of rank %d in dimension %d and rank %d in dimension %d"
                    .formatted(rank(), dimension(), other.rank(), other.dimension()));
        }
    }
}
