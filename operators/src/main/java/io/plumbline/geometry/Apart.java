package io.plumbline.geometry;

import io.plumbline.linalg.Matrix;

/**
 * A reference subspace beside an active one, with what gap, angles and losses all need of the two.
 *
 * @param residual {@code (I - U U^T) V}, d x r: what the basis V of the active one has outside the reference
 */
record Apart(Subspace reference, Subspace active, Matrix residual) {

    /** {@code 8 d r^2} flops. */
    static Apart of(Subspace reference, Subspace active) {
        reference.requireComparable(active);
        return new Apart(reference, active, reference.residual(active.basis()));
    }

    int rank() {
        return reference.rank();
    }

    int dimension() {
        return reference.dimension();
    }
}
