package io.plumbline.refit;

import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Cholesky;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import org.jspecify.annotations.Nullable;

/**
 * The N x N system {@code (K + N lambda I) X = B} of one ridge level, factored; {@code K = Zc Zc^T} for the centred
 * codes.
 *
 * <p>It depends on no rank, rotation or alpha, so every setting with this level shares it. Level 0 means the
 * pseudo-inverse {@code K^+ = Zc (Zc^T Zc)^-2 Zc^T} and needs more rows than features.
 *
 * <p><b>Cost.</b> {@code N^3/3} flops to factor, {@code 2 N^2} for each right-hand side. <b>Size.</b> {@code 4 N^2}
 * bytes until it is closed. One thread.
 */
final class RidgeSystem implements AutoCloseable {

    /** The relative residual of the system without ridge beyond which its matrix is singular to working precision. */
    private static final double LARGEST_RESIDUAL = 1e-6;

    private final double lambda;
    private @Nullable Inverse inverse;

    private interface Inverse {
        Matrix applyTo(Matrix rightHandSides);
    }

    private RidgeSystem(double lambda, Inverse inverse) {
        this.lambda = lambda;
        this.inverse = inverse;
    }

    /**
     * Factors the system.
     *
     * @param lambda in the units of Cov z
     * @throws IllegalArgumentException for lambda = 0 without more rows than features
     * @throws ArithmeticException for lambda = 0 when the features do not vary independently
     */
    static RidgeSystem of(SparseCodes codes, CentredGram gram, double lambda) {
        if (lambda == 0.0) {
            return new RidgeSystem(lambda, withoutRidge(codes));
        }
        Cholesky factor = gram.factored(codes.rows() * lambda);
        return new RidgeSystem(lambda, rightHandSides -> {
            factor.solveInPlace(rightHandSides);
            return rightHandSides;
        });
    }

    /**
     * Solves for B of N x m, which is used up: the solution may lie in its place.
     *
     * @throws ArithmeticException for lambda = 0 when the covariance is singular to working precision
     */
    Matrix solve(Matrix rightHandSides) {
        Inverse open = inverse;
        if (open == null) {
            throw new IllegalStateException("the system at lambda = %s is closed".formatted(lambda));
        }
        return open.applyTo(rightHandSides);
    }

    /** Frees the factorisation. */
    @Override
    public void close() {
        inverse = null;
    }

    private static Inverse withoutRidge(SparseCodes codes) {
        requireRowsForNoRidge(codes);
        Matrix centredCodes = SparseProducts.centred(codes.toDense());
        Cholesky covariance = Cholesky.of(Kernels.transposeMultiply(centredCodes, centredCodes));
        return rightHandSides -> {
            Matrix weights = covariance.solve(Kernels.transposeMultiply(centredCodes, rightHandSides));
            Matrix solution = Kernels.multiply(centredCodes, covariance.solve(weights));
            Matrix residual = Kernels.transposeMultiply(centredCodes, solution).minus(weights);
            if (!(residual.frobeniusNorm() <= LARGEST_RESIDUAL * weights.frobeniusNorm())) {
                throw new ArithmeticException("the covariance of the codes is singular to working precision");
            }
            return solution;
        };
    }

    static void requireRowsForNoRidge(SparseCodes codes) {
        if (codes.rows() <= codes.features()) {
            throw new IllegalArgumentException(
                    ("lambda preservation = 0 needs more rows than features: %d rows, %d features; "
                                    + "give a positive lambda")
                            .formatted(codes.rows(), codes.features()));
        }
    }
}
