package io.plumbline.adaptation;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import org.jspecify.annotations.Nullable;

/**
 * Three matrices of n x d of which the third is the first less the second, made when first asked for: two of them are
 * kept and give the other. Something linear of the centred targets, of the centred reconstructions by the trained
 * weights, and of what these leave.
 */
abstract class Solutions {

    private @Nullable Matrix targets;
    private @Nullable Matrix trained;
    private @Nullable Matrix residual;

    /** Of the targets. */
    final Matrix targets() {
        if (targets == null && residual != null && trained != null) {
            return residual.plus(1.0, trained);
        }
        Matrix known = targets == null ? ofTargets() : targets;
        targets = known;
        return known;
    }

    /** Of the reconstructions by the trained weights. */
    final Matrix trained() {
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

    /** Of what the trained weights leave. */
    final Matrix residual() {
        if (residual == null && targets != null && trained != null) {
            return targets.minus(trained);
        }
        Matrix known = residual == null ? ofResidual() : residual;
        residual = known;
        return known;
    }

    /** {@code targets() X}, without the whole where X is narrow and nobody needed it so far. */
    final Matrix targetsTimes(Matrix x) {
        boolean known = targets != null || (residual != null && trained != null);
        return !known && inProducts(x) ? ofTargetsTimes(x) : Kernels.multiply(targets(), x);
    }

    /** {@code trained() X}, likewise. */
    final Matrix trainedTimes(Matrix x) {
        boolean known = trained != null || (residual != null && targets != null);
        return !known && inProducts(x) ? ofTrainedTimes(x) : Kernels.multiply(trained(), x);
    }

    private boolean inProducts(Matrix x) {
        return inProductsOnly() || 2 * x.columns() < x.rows();
    }

    /** Forgets the wholes. */
    final void forget() {
        targets = null;
        trained = null;
        residual = null;
    }

    /** Whether the wholes were given up, and only products will be asked for. */
    abstract boolean inProductsOnly();

    abstract Matrix ofTargets();

    abstract Matrix ofTrained();

    abstract Matrix ofResidual();

    abstract Matrix ofTargetsTimes(Matrix x);

    abstract Matrix ofTrainedTimes(Matrix x);
}
