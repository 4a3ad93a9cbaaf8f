package io.plumbline.refit;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * The solutions of one ridge level, {@code X = (K + N lambda I)^-1 B}, N x d each: T for the centred targets and R for
 * what the trained weights leave of them. {@code T - R} is the solution for the trained weights' reconstructions.
 *
 * <p><b>Size.</b> {@code 8 N d} bytes each.
 *
 * @param targets T; null where the plan has no setting that needs it
 * @param residual R; null where the plan has no setting that needs it
 */
record Solutions(
        double lambda, @Nullable Matrix targets, @Nullable Matrix residual) {

    /** The images of T and of R under a linear map. */
    record Image(@Nullable RowBlocks ofTargets, @Nullable RowBlocks ofResidual) {

        RowBlocks targets() {
            return Objects.requireNonNull(ofTargets, "the plan of this level has no setting that needs T");
        }

        RowBlocks residual() {
            return Objects.requireNonNull(ofResidual, "the plan of this level has no setting that needs R");
        }
    }

    /** Solves for what a level is planned to have: {@code 2 N^2 d} flops for each of the two. */
    static Solutions of(RefitPlan.Level level, RidgeSystem system, CentredRows fitted) {
        return new Solutions(
                level.lambda(),
                level.needsTargets() ? system.solve(fitted.targets().copy()) : null,
                level.needsResidual() ? residual(system, fitted) : null);
    }

    private static Matrix residual(RidgeSystem system, CentredRows fitted) {
        Matrix solution = system.solve(fitted.residual());
        // The row that was taken from all comes back as a mean, since Zc^T 1 = 0.
        SparseProducts.centre(solution);
        return solution;
    }

    /** Returns the solutions themselves; the dual is computed from them. */
    Image duals() {
        return new Image(
                targets == null ? null : RowBlocks.of(targets), residual == null ? null : RowBlocks.of(residual));
    }

    /**
     * Returns what the solutions give for some rows, n x d: a {@link CentredCross} product for each of the two. For the
     * rows fitted on {@code K X = B - N lambda X} needs none.
     */
    Image on(CentredRows rows, CentredRows fitted) {
        if (rows != fitted || lambda == 0.0) {
            return new Image(
                    targets == null ? null : RowBlocks.of(rows.times(targets)),
                    residual == null ? null : RowBlocks.of(rows.times(residual)));
        }
        double ridge = -fitted.targets().rows() * lambda;
        RowBlocks given = RowBlocks.of(fitted.targets());
        return new Image(
                targets == null ? null : given.plus(ridge, targets),
                residual == null ? null : given.plus(-1.0, fitted.trained()).plus(ridge, residual));
    }

    /** Returns {@code T M}. */
    Matrix targetsTimes(Matrix narrow) {
        return Kernels.multiply(Objects.requireNonNull(targets), narrow);
    }
}
