package io.plumbline.refit;

import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Cholesky;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;

/**
 * The N x N systems of {@link StepTwo} over one set of rows: {@code (K + N lambda I)^-1} of the centred targets
 * {@code Yc} and of the centred reconstructions {@code Zc D} by the trained weights, {@code K = Zc Zc^T}.
 *
 * <p>These do not depend on rank, rotation or alpha, so every setting with a ridge level in common shares them, and so
 * it does with what they give for other rows. <b>Cost</b> per level: {@code N^3/3} flops and {@code 2 N^2 d} for each
 * of the two; for other rows a {@link CentredCross} product. <b>Size:</b> {@code 4 N^2} bytes for the factorisation of
 * a level that is not yet solved for both, {@code 16 N d} for its solutions.
 *
 * <p><b>Life of a level.</b> It is factored when first asked for ({@link SolvedLevel}); once it is needed inside the
 * windows' subspaces alone only products are kept ({@link NarrowLevel}); when no setting needs it, it goes ({@link
 * #keep}).
 *
 * <p>Level 0 means the pseudo-inverse {@code K^+ = Zc (Zc^T Zc)^-2 Zc^T} and needs more rows than features.
 */
final class RidgeLevels {

    /** The relative residual of the system without ridge beyond which its matrix is singular to working precision. */
    private static final double LARGEST_RESIDUAL = 1e-6;

    private final SparseCodes codes;
    private final RefitRows fitted;
    private final Map<Double, RidgeLevel> levels = new HashMap<>();
    private final CentredGram gram;

    /**
     * Makes the levels of rows that nobody answered.
     *
     * @param targets n x d, not changed
     * @param trainedProduct {@code Z D}, not changed
     */
    static RidgeLevels of(SparseCodes codes, Matrix targets, Matrix trainedProduct) {
        return new RidgeLevels(
                codes,
                RefitRows.fittedOn(codes, SparseProducts.centred(targets), SparseProducts.centred(trainedProduct), 0));
    }

    /** @param fitted the rows of these codes, seen from themselves */
    RidgeLevels(SparseCodes codes, RefitRows fitted) {
        this.codes = codes;
        this.fitted = fitted;
        this.gram = new CentredGram(codes);
    }

    /**
     * Returns a level, factored when it is first asked for.
     *
     * @param lambda in the units of Cov z
     * @throws IllegalArgumentException for lambda = 0 without more rows than features
     * @throws ArithmeticException for lambda = 0 when the features do not vary independently
     */
    RidgeLevel at(double lambda) {
        RidgeLevel level = levels.get(lambda);
        if (level == null) {
            level = new SolvedLevel(fitted, lambda, factored(lambda));
            levels.put(lambda, level);
        }
        return level;
    }

    /** Returns the level of what is fitted inside the window's subspace. */
    RidgeLevel inner(Regularisation absolute) {
        return at(absolute.preservation());
    }

    /** Returns the level of what is fitted outside the window's subspace. */
    RidgeLevel outer(Regularisation absolute) {
        return at(absolute.preservation() + absolute.geometric());
    }

    /** Solves ahead what any rotation below full rank will ask for. */
    void prepare(Regularisation absolute) {
        try {
            inner(absolute);
            outer(absolute).targets();
        } catch (ArithmeticException | IllegalArgumentException e) {
            // Whoever asks for that level is told again.
        }
    }

    /**
     * Makes room for the next level.
     *
     * @param whole levels whose N x d solutions will be asked for
     * @param inner levels that will be asked for inside the window's subspace
     * @param stepOnes what the levels that are not in {@code whole} will be asked for
     */
    void keep(Set<Double> whole, Set<Double> inner, Function<Double, List<StepOne>> stepOnes) {
        levels.keySet().removeIf(lambda -> !whole.contains(lambda) && !inner.contains(lambda));
        levels.replaceAll((lambda, level) -> whole.contains(lambda) || level instanceof NarrowLevel
                ? level
                : new NarrowLevel(level, stepOnes.apply(lambda)));
    }

    /** Gives all factorisations up: what is asked for from here on is known. */
    void release() {
        for (RidgeLevel level : levels.values()) {
            if (level instanceof SolvedLevel solved) {
                solved.release();
            }
        }
    }

    private SolvedLevel.Inverse factored(double lambda) {
        if (lambda == 0.0) {
            return withoutRidge();
        }
        Cholesky factor = gram.factored(codes.rows() * lambda);
        return rightHandSides -> {
            factor.solveInPlace(rightHandSides);
            return rightHandSides;
        };
    }

    private SolvedLevel.Inverse withoutRidge() {
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

    /** Returns the sentence on a system that cannot be solved. */
    static String singular(Regularisation absolute, ArithmeticException cause) {
        return "the system of the refit is singular at lambda preservation = %s (%s); give a larger lambda"
                .formatted(absolute.preservation(), cause.getMessage());
    }
}
