package io.plumbline.adaptation;

import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Cholesky;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.HashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The N x N systems of Step 2 over one set of rows: {@code (K + N lambda I)^-1} of the centred targets {@code Yc} and of
 * the centred reconstructions {@code Zc D} by the trained weights, {@code K = Zc Zc^T}.
 *
 * <p>These do not depend on rank, rotation or alpha, so every setting with a ridge level in common shares them.
 * <b>Cost</b> per level: {@code N^3/3} flops and {@code 2 N^2 d} for each of the two. <b>Size:</b> {@code 8 N^2} bytes for K
 * and again for every level.
 *
 * <p>Level 0 means the pseudo-inverse {@code K^+ = Zc (Zc^T Zc)^-2 Zc^T} and needs more rows than features.
 */
final class RidgeLevels {

    /** Beyond this relative residual of the system without ridge, its matrix is singular to working precision. */
    private static final double LARGEST_RESIDUAL = 1e-6;

    private final SparseCodes codes;
    private final Matrix centredTargets;
    private final Matrix centredTrained;
    private @Nullable Matrix gram;
    private final Map<Double, Level> levels = new HashMap<>();

    /** @param trainedProduct {@code Z D}, n x d, not centred */
    RidgeLevels(SparseCodes codes, Matrix targets, Matrix trainedProduct) {
        this.codes = codes;
        this.centredTargets = SparseProducts.centred(targets);
        this.centredTrained = SparseProducts.centred(trainedProduct);
    }

    /** Solutions at one lambda, computed when first asked for. */
    final class Level {

        private final Inverse inverse;
        private @Nullable Matrix targets;
        private @Nullable Matrix trained;
        private @Nullable Matrix residual;

        private Level(Inverse inverse) {
            this.inverse = inverse;
        }

        /** Of the targets, n x d. */
        Matrix targets() {
            Matrix known = targets;
            if (known == null) {
                known = residual != null && trained != null
                        ? residual.plus(1.0, trained)
                        : inverse.applyTo(centredTargets);
                targets = known;
            }
            return known;
        }

        /** Of the reconstructions by the trained weights, n x d. */
        Matrix trained() {
            Matrix known = trained;
            if (known == null) {
                known = residual != null && targets != null ? targets.minus(residual) : inverse.applyTo(centredTrained);
                trained = known;
            }
            return known;
        }

        /** Of what the trained weights leave, n x d: {@code targets - trained}; any two give the third. */
        Matrix residual() {
            Matrix known = residual;
            if (known == null) {
                known = targets != null && trained != null
                        ? targets.minus(trained)
                        : inverse.applyTo(centredTargets.minus(centredTrained));
                residual = known;
            }
            return known;
        }

        /** {@code targets() X}, without the whole solution where X is narrow and nobody needed it so far. */
        Matrix targetsTimes(Matrix x) {
            return targets == null && isNarrow(x)
                    ? inverse.applyTo(Kernels.multiply(centredTargets, x))
                    : Kernels.multiply(targets(), x);
        }

        /** {@code trained() X}, likewise. */
        Matrix trainedTimes(Matrix x) {
            return trained == null && isNarrow(x)
                    ? inverse.applyTo(Kernels.multiply(centredTrained, x))
                    : Kernels.multiply(trained(), x);
        }

        private static boolean isNarrow(Matrix x) {
            return 2 * x.columns() < x.rows();
        }
    }

    private interface Inverse {
        Matrix applyTo(Matrix rightHandSides);
    }

    /**
     * @param lambda in the units of Cov z
     * @throws IllegalArgumentException for lambda = 0 without more rows than features
     * @throws ArithmeticException for lambda = 0 when the features do not vary independently
     */
    Level at(double lambda) {
        Level level = levels.get(lambda);
        if (level == null) {
            level = new Level(lambda > 0.0 ? ridge(lambda) : withoutRidge());
            levels.put(lambda, level);
        }
        return level;
    }

    private Inverse ridge(double lambda) {
        Matrix system = gram().copy();
        for (int i = 0; i < system.rows(); i++) {
            system.set(i, i, system.get(i, i) + system.rows() * lambda);
        }
        return Cholesky.of(system)::solve;
    }

    /** K, n x n. */
    Matrix gram() {
        Matrix known = gram;
        if (known == null) {
            known = SparseProducts.centredGram(codes);
            gram = known;
        }
        return known;
    }

    private Inverse withoutRidge() {
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
                    "lambda preservation = 0 needs more rows than features: %d rows, %d features; give a positive lambda"
                            .formatted(codes.rows(), codes.features()));
        }
    }
}
