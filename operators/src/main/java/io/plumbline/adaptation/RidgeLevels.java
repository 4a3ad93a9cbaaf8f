package io.plumbline.adaptation;

import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Cholesky;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * The N x N systems of Step 2 over one set of rows: {@code (K + N lambda I)^-1} of the centred targets {@code Yc} and
 * of the centred reconstructions {@code Zc D} by the trained weights, {@code K = Zc Zc^T}.
 *
 * <p>These do not depend on rank, rotation or alpha, so every setting with a ridge level in common shares them, and so
 * it does with what they give for other rows. <b>Cost</b> per level: {@code N^3/3} flops and {@code 2 N^2 d} for each
 * of the two; for other rows a {@link CentredCross} product. <b>Size:</b> {@code 4 N^2} bytes for the factorisation of
 * a level that is not yet solved for both, {@code 16 N d} for its solutions.
 *
 * <p>Level 0 means the pseudo-inverse {@code K^+ = Zc (Zc^T Zc)^-2 Zc^T} and needs more rows than features.
 */
final class RidgeLevels {

    /** Beyond this relative residual of the system without ridge, its matrix is singular to working precision. */
    private static final double LARGEST_RESIDUAL = 1e-6;

    private final SparseCodes codes;
    private final RefitRows fit;
    private final Map<Double, Level> levels = new HashMap<>();
    private final CentredGram gram;

    /**
     * Of rows that nobody answered.
     *
     * @param targets n x d, not changed
     * @param trainedProduct {@code Z D}, likewise
     */
    static RidgeLevels of(SparseCodes codes, Matrix targets, Matrix trainedProduct) {
        return new RidgeLevels(
                codes,
                RefitRows.fittedOn(codes, SparseProducts.centred(targets), SparseProducts.centred(trainedProduct), 0));
    }

    /** @param fit the rows of these codes, seen from themselves */
    RidgeLevels(SparseCodes codes, RefitRows fit) {
        this.codes = codes;
        this.fit = fit;
        this.gram = new CentredGram(codes);
    }

    /** Solutions at one lambda. The factorisation goes when two of the three are known. */
    final class Level extends Solutions {

        private final double lambda;
        private final Map<RefitRows, Solutions> onRows = new HashMap<>();
        // By identity: every set of rows asks for the same few.
        private final IdentityHashMap<Matrix, Matrix> narrowTargets = new IdentityHashMap<>();
        private final IdentityHashMap<Matrix, Matrix> narrowTrained = new IdentityHashMap<>();
        private @Nullable Inverse inverse;
        private int solved;
        private boolean inProductsOnly;

        private Level(double lambda) {
            this.lambda = lambda;
            this.inverse = factored(lambda);
        }

        /** What the solutions give for some rows, {@code cross X}. */
        Solutions on(RefitRows rows) {
            // Those of the rows fitted on take no product to make, and are the largest.
            return rows == fit
                    ? new OnRows(this, rows)
                    : onRows.computeIfAbsent(rows, these -> new OnRows(this, these));
        }

        /** Products with L and V of these are all that will be asked for. */
        void keepProducts(List<StepOne> stepOnes) {
            for (StepOne stepOne : stepOnes) {
                Matrix turn = stepOne.turn();
                Matrix basis = stepOne.basis();
                if (turn != null && basis != null) {
                    narrowTrained.put(turn, trainedTimes(turn));
                    narrowTargets.put(basis, targetsTimes(basis));
                }
            }
            inverse = null;
            inProductsOnly = true;
            forget();
            onRows.clear();
        }

        @Override
        boolean inProductsOnly() {
            return inProductsOnly;
        }

        @Override
        Matrix ofTargets() {
            return wide(fit.targets().copy());
        }

        @Override
        Matrix ofTrained() {
            return wide(fit.trained().copy());
        }

        @Override
        Matrix ofResidual() {
            Matrix solution = wide(fit.residual());
            // The row that was taken from all comes back as a mean, since Zc^T 1 = 0.
            SparseProducts.centre(solution);
            return solution;
        }

        @Override
        Matrix ofTargetsTimes(Matrix x) {
            return narrowTargets.computeIfAbsent(x, these -> inverse().applyTo(Kernels.multiply(fit.targets(), these)));
        }

        @Override
        Matrix ofTrainedTimes(Matrix x) {
            return narrowTrained.computeIfAbsent(x, these -> inverse().applyTo(Kernels.multiply(fit.trained(), these)));
        }

        private Matrix wide(Matrix rightHandSides) {
            Matrix solution = inverse().applyTo(rightHandSides);
            solved++;
            if (solved == 2) {
                inverse = null;
            }
            return solution;
        }

        private Inverse inverse() {
            Inverse known = inverse;
            return known == null ? factored(lambda) : known;
        }
    }

    /** Of the rows fitted on {@code K X = Y - N lambda X} needs no product. */
    private final class OnRows extends Solutions {

        private final Level level;
        private final RefitRows rows;

        private OnRows(Level level, RefitRows rows) {
            this.level = level;
            this.rows = rows;
        }

        @Override
        boolean inProductsOnly() {
            return level.inProductsOnly;
        }

        @Override
        Matrix ofTargets() {
            return takesNoProduct() ? image(level.targets(), fit.targets()) : rows.times(level.targets());
        }

        @Override
        Matrix ofTrained() {
            if (!takesNoProduct()) {
                return rows.times(level.trained());
            }
            Matrix image = fit.trained().copy();
            level.addTrained(-image.rows() * level.lambda, image);
            return image;
        }

        @Override
        Matrix ofResidual() {
            return takesNoProduct()
                    ? image(level.residual(), fit.targets().minus(fit.trained()))
                    : rows.times(level.residual());
        }

        @Override
        Matrix ofTargetsTimes(Matrix x) {
            return rows.times(level.targetsTimes(x));
        }

        @Override
        Matrix ofTrainedTimes(Matrix x) {
            return rows.times(level.trainedTimes(x));
        }

        private boolean takesNoProduct() {
            return rows == fit && level.lambda > 0.0;
        }

        private Matrix image(Matrix solution, Matrix rightHandSide) {
            return rightHandSide.plus(-rightHandSide.rows() * level.lambda, solution);
        }
    }

    private interface Inverse {
        /** The right-hand sides are used up: the solution may lie in their place. */
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
            level = new Level(lambda);
            levels.put(lambda, level);
        }
        return level;
    }

    /**
     * Makes room for the next level.
     *
     * @param outer levels that will be asked for outside
     * @param inner levels that will be asked for inside
     * @param stepOnes what those that are not asked for outside will be asked for inside
     */
    void keep(Set<Double> outer, Set<Double> inner, Function<Double, List<StepOne>> stepOnes) {
        levels.keySet().removeIf(lambda -> !outer.contains(lambda) && !inner.contains(lambda));
        levels.forEach((lambda, level) -> {
            if (!outer.contains(lambda) && !level.inProductsOnly) {
                level.keepProducts(stepOnes.apply(lambda));
            }
        });
    }

    /** Makes room where nothing is left to be solved; it would be factored anew. */
    void forgetFactors() {
        levels.values().forEach(level -> level.inverse = null);
    }

    /** @param absolute the weights in the units of Cov z */
    SettingsFit fit(StepOne stepOne, double alpha, Regularisation absolute) {
        RefitFormula formula = RefitFormula.of(stepOne, alpha, absolute);
        return SettingsFit.of(stepOne, formula, inner(absolute), outer(absolute));
    }

    /** Of what is fitted inside the window's subspace. */
    Level inner(Regularisation absolute) {
        return at(absolute.preservation());
    }

    /** Of what is fitted outside. */
    Level outer(Regularisation absolute) {
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

    private Inverse factored(double lambda) {
        if (lambda == 0.0) {
            return withoutRidge();
        }
        Cholesky factor = gram.factored(codes.rows() * lambda);
        return rightHandSides -> {
            factor.solveInPlace(rightHandSides);
            return rightHandSides;
        };
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
