package io.plumbline.geometry;

import io.plumbline.linalg.Matrix;

/**
 * How far a window's second moment lies from the baseline's, in the units of both (squared activations). Immutable.
 *
 * @param norm {@code ‖E‖_F}, {@code E = M − M_ID}
 * @param traceless {@code ‖E − (tr E/d) I‖_F}: a multiple of the identity moves no eigenvector, only the rest counts
 */
record MomentShift(double norm, double traceless) {

    /** Measures both in one pass, of what is below the diagonals: moments are symmetric. {@code 3 d^2 / 2} flops. */
    static MomentShift between(Matrix before, Matrix after) {
        double besideDiagonal = Math.sqrt(2.0) * after.distanceBelowDiagonal(before);
        Matrix diagonal = Matrix.zeros(1, after.rows());
        double[] values = diagonal.values();
        for (int i = 0; i < values.length; i++) {
            values[i] = after.get(i, i) - before.get(i, i);
        }
        double norm = diagonal.frobeniusNorm();
        double mean = (after.trace() - before.trace()) / values.length;
        for (int i = 0; i < values.length; i++) {
            values[i] -= mean;
        }
        return new MomentShift(Math.hypot(besideDiagonal, norm), Math.hypot(besideDiagonal, diagonal.frobeniusNorm()));
    }
}
