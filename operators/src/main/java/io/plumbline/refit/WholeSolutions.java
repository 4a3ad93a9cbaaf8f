package io.plumbline.refit;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import org.jspecify.annotations.Nullable;

/** Solutions that are made when first asked for and then kept: two of the three, which give the other. */
abstract class WholeSolutions implements Solutions {

    private @Nullable Matrix targets;
    private @Nullable Matrix trained;
    private @Nullable Matrix residual;

    @Override
    public final Matrix targets() {
        if (targets == null && residual != null && trained != null) {
            return residual.plus(1.0, trained);
        }
        Matrix known = targets == null ? ofTargets() : targets;
        targets = known;
        return known;
    }

    @Override
    public final Matrix trained() {
        if (trained == null && residual != null && targets != null) {
            return targets.minus(residual);
        }
        Matrix known = trained == null ? ofTrained() : trained;
        trained = known;
        return known;
    }

    /**
     * Adds {@link #trained()} times a factor, which is not made for that where it is the difference of the two others.
     */
    final void addTrained(double factor, Matrix sum) {
        if (trained == null && residual != null && targets != null) {
            add(factor, targets, sum);
            add(-factor, residual, sum);
        } else {
            add(factor, trained(), sum);
        }
    }

    private static void add(double factor, Matrix matrix, Matrix sum) {
        Kernels.addScaled(factor, matrix.values(), 0, sum.values(), 0, sum.values().length);
    }

    @Override
    public final Matrix residual() {
        if (residual == null && targets != null && trained != null) {
            return targets.minus(trained);
        }
        Matrix known = residual == null ? ofResidual() : residual;
        residual = known;
        return known;
    }

    @Override
    public final Matrix targetsTimes(Matrix x) {
        boolean known = targets != null || (residual != null && trained != null);
        return !known && isNarrow(x) ? ofTargetsTimes(x) : Kernels.multiply(targets(), x);
    }

    @Override
    public final Matrix trainedTimes(Matrix x) {
        boolean known = trained != null || (residual != null && targets != null);
        return !known && isNarrow(x) ? ofTrainedTimes(x) : Kernels.multiply(trained(), x);
    }

    private static boolean isNarrow(Matrix x) {
        return 2 * x.columns() < x.rows();
    }

    /** Makes {@link #targets}. */
    abstract Matrix ofTargets();

    /** Makes {@link #trained}. */
    abstract Matrix ofTrained();

    /** Makes {@link #residual}. */
    abstract Matrix ofResidual();

    /** Makes {@link #targetsTimes} alone. */
    abstract Matrix ofTargetsTimes(Matrix x);

    /** Makes {@link #trainedTimes} alone. */
    abstract Matrix ofTrainedTimes(Matrix x);
}
