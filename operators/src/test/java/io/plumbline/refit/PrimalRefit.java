package io.plumbline.refit;

import io.plumbline.linalg.Cholesky;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;

/**
 * Computes Step 2 in the k x k form of the paper, as an oracle: {@code W = (P C) B^-1 + ((I-P) C) (B + lg I)^-1} with
 * {@code B = Cov z + lp I}, {@code C = Cov(y, z) + lp W~}; here transposed, weights k x d.
 */
final class PrimalRefit {

    private PrimalRefit() {}

    static Matrix weights(Matrix codes, Matrix targets, Matrix projector, Matrix rotated, double lg, double lp) {
        int n = codes.rows();
        Matrix z = SparseProducts.centred(codes);
        Matrix y = SparseProducts.centred(targets);
        Matrix covariance = scaled(1.0 / n, Kernels.transposeMultiply(z, z));
        Matrix cross = scaled(1.0 / n, Kernels.transposeMultiply(z, y)).plus(lp, rotated);
        Matrix inside = Kernels.multiply(cross, projector);
        Matrix unit = Matrix.identity(codes.columns());
        Matrix solvedInside = Cholesky.of(covariance.plus(lp, unit)).solve(inside);
        Matrix solvedOutside = Cholesky.of(covariance.plus(lp + lg, unit)).solve(cross.minus(inside));
        return solvedInside.plus(1.0, solvedOutside);
    }

    /** The value Step 2 minimises, bias chosen best. */
    static double objective(
            Matrix weights, Matrix codes, Matrix targets, Matrix projector, Matrix rotated, double lg, double lp) {
        Matrix error = SparseProducts.centred(targets).minus(Kernels.multiply(SparseProducts.centred(codes), weights));
        Matrix outside = weights.minus(Kernels.multiply(weights, projector));
        return squared(error) / codes.rows() + lg * squared(outside) + lp * squared(weights.minus(rotated));
    }

    private static double squared(Matrix matrix) {
        double norm = matrix.frobeniusNorm();
        return norm * norm;
    }

    private static Matrix scaled(double factor, Matrix matrix) {
        return Matrix.zeros(matrix.rows(), matrix.columns()).plus(factor, matrix);
    }
}
