package io.plumbline.adaptation;

import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Svd;

/**
 * Step 1: the rotation of the dictionary onto the window's subspace.
 *
 * <p>{@code G = U_dec^T W W^T U_OOD = S_r^2 U_dec^T U_OOD} (so {@code W W^T} is never formed), {@code G = U~ S V~^T},
 * {@code T* = V~ U~^T}, {@code W~ = U_OOD T* U_dec^T W}. {@code T*} is the rotation that moves the dictionary least. With
 * weights D as on file (k x d, {@code D = W^T}) and V the window's eigenvectors this is {@code D~ = (D L) V_m^T} with
 * {@code L = U_dec T*^T}: {@code D L} holds the rotated dictionary in the window's own coordinates.
 *
 * @param turn L, d x m: m = r as printed, m = d for the full-rank form
 * @param alignment singular values of G, descending; W~ is ill-determined when the last is tiny against the first
 */
record StepOne(Matrix turn, double[] alignment) {

    /** {@code 4 d r^2} flops and an SVD of r x r; for the full-rank form also of (d - r) x (d - r). */
    static StepOne of(ExplainerSubspace trained, Matrix windowVectors, int rank, Rotation rotation) {
        int dimension = windowVectors.rows();
        int width = rotation == Rotation.PRINTED ? rank : dimension;
        Matrix turn = Matrix.zeros(dimension, width);
        double[] alignment = turnOnto(trained, windowVectors, 0, rank, turn);
        if (rank < width) {
            turnOnto(trained, windowVectors, rank, dimension, turn);
        }
        return new StepOne(turn, alignment);
    }

    /** {@code D~} (k x d) from weights as on file. {@code 4 k d m} flops, or {@code 2 k d^2} if that is less. */
    Matrix rotate(Matrix weights, Matrix windowVectors) {
        return SettingsFit.backToTargetSpace(weights, turn, windowVectors);
    }

    private static double[] turnOnto(ExplainerSubspace trained, Matrix windowVectors, int from, int to, Matrix turn) {
        Matrix dictionary = columns(trained.leftVectors(), from, to);
        Matrix alignment = Kernels.transposeMultiply(dictionary, columns(windowVectors, from, to));
        for (int i = 0; i < alignment.rows(); i++) {
            double energy = trained.singularValues()[from + i] * trained.singularValues()[from + i];
            for (int j = 0; j < alignment.columns(); j++) {
                alignment.set(i, j, energy * alignment.get(i, j));
            }
        }
        Svd svd = Svd.of(alignment);
        // T*^T = U~ V~^T.
        Matrix part = Kernels.multiply(dictionary, Kernels.multiplyTranspose(svd.left(), svd.right()));
        for (int i = 0; i < turn.rows(); i++) {
            System.arraycopy(
                    part.values(), i * part.columns(), turn.values(), i * turn.columns() + from, part.columns());
        }
        return svd.values();
    }

    private static Matrix columns(Matrix matrix, int from, int to) {
        Matrix part = Matrix.zeros(matrix.rows(), to - from);
        for (int i = 0; i < matrix.rows(); i++) {
            System.arraycopy(matrix.values(), i * matrix.columns() + from, part.values(), i * (to - from), to - from);
        }
        return part;
    }
}
