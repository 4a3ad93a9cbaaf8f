package io.plumbline.refit;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.HashMap;
import java.util.IdentityHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A level with its factorisation, which solves for what is asked. It is given up, once and for all, when two of the
 * three solutions are known, which give the third, or when somebody says that nothing is left to be solved.
 */
final class SolvedLevel extends WholeSolutions implements RidgeLevel {

    private final RefitRows fitted;
    private final double lambda;
    private final Map<RefitRows, Solutions> onRows = new HashMap<>();
    // By identity: every set of rows asks for the same few.
    private final IdentityHashMap<Matrix, Matrix> narrowTargets = new IdentityHashMap<>();
    private final IdentityHashMap<Matrix, Matrix> narrowTrained = new IdentityHashMap<>();
    private @Nullable Inverse inverse;
    private int solved;

    /** Solves the level's system. */
    interface Inverse {
        /** Solves; the right-hand sides are used up, since the solution may lie in their place. */
        Matrix applyTo(Matrix rightHandSides);
    }

    SolvedLevel(RefitRows fitted, double lambda, Inverse inverse) {
        this.fitted = fitted;
        this.lambda = lambda;
        this.inverse = inverse;
    }

    @Override
    public Solutions on(RefitRows rows) {
        // Those of the rows fitted on take no product to make, and are the largest.
        return rows == fitted ? new OnRows(this, rows) : onRows.computeIfAbsent(rows, these -> new OnRows(this, these));
    }

    /** Gives the factorisation up: what is asked for from here on is known. */
    void release() {
        inverse = null;
    }

    @Override
    Matrix ofTargets() {
        return wide(fitted.targets().copy());
    }

    @Override
    Matrix ofTrained() {
        return wide(fitted.trained().copy());
    }

    @Override
    Matrix ofResidual() {
        Matrix solution = wide(fitted.residual());
        // The row that was taken from all comes back as a mean, since Zc^T 1 = 0.
        SparseProducts.centre(solution);
        return solution;
    }

    @Override
    Matrix ofTargetsTimes(Matrix x) {
        return narrowTargets.computeIfAbsent(x, these -> inverse().applyTo(Kernels.multiply(fitted.targets(), these)));
    }

    @Override
    Matrix ofTrainedTimes(Matrix x) {
        return narrowTrained.computeIfAbsent(x, these -> inverse().applyTo(Kernels.multiply(fitted.trained(), these)));
    }

    private Matrix wide(Matrix rightHandSides) {
        Matrix solution = inverse().applyTo(rightHandSides);
        solved++;
        if (solved == 2) {
            release();
        }
        return solution;
    }

    private Inverse inverse() {
        Inverse open = inverse;
        if (open == null) {
            throw new IllegalStateException("the system at lambda = %s was given up".formatted(lambda));
        }
        return open;
    }

    /** The rows that the solutions give; {@code K X = Y - N lambda X} for the rows fitted on needs no product. */
    private static final class OnRows extends WholeSolutions {

        private final SolvedLevel level;
        private final RefitRows rows;

        private OnRows(SolvedLevel level, RefitRows rows) {
            this.level = level;
            this.rows = rows;
        }

        @Override
        Matrix ofTargets() {
            return takesNoProduct() ? image(level.targets(), rows.targets()) : rows.times(level.targets());
        }

        @Override
        Matrix ofTrained() {
            if (!takesNoProduct()) {
                return rows.times(level.trained());
            }
            Matrix image = rows.trained().copy();
            level.addTrained(-image.rows() * level.lambda, image);
            return image;
        }

        @Override
        Matrix ofResidual() {
            return takesNoProduct()
                    ? image(level.residual(), rows.targets().minus(rows.trained()))
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
            return rows == level.fitted && level.lambda > 0.0;
        }

        private Matrix image(Matrix solution, Matrix rightHandSide) {
            return rightHandSide.plus(-rightHandSide.rows() * level.lambda, solution);
        }
    }
}
