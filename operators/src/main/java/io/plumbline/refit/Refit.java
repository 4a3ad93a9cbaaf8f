package io.plumbline.refit;

import io.plumbline.linalg.Matrix;
import io.plumbline.parallel.Cores;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * One setting of the Geometry-Adaptive Explainer on {@link SharedSolutions}: {@link StepOne} rotates the dictionary,
 * {@link StepTwo} refits it.
 *
 * <p>Its figures need no k x d matrix; {@link #fitted} makes what the weights are made of. It holds the shared
 * solutions and lives no longer than they. One thread.
 */
public final class Refit {

    private final SharedSolutions shared;
    private final StepOne stepOne;
    private final StepTwo stepTwo;
    private final @Nullable RidgeLevel inner;
    private final @Nullable RidgeLevel outer;
    private final boolean keepsWeights;
    private @Nullable Matrix image;

    private Refit(
            SharedSolutions shared,
            StepOne stepOne,
            StepTwo stepTwo,
            @Nullable RidgeLevel inner,
            @Nullable RidgeLevel outer,
            boolean keepsWeights) {
        this.shared = shared;
        this.stepOne = stepOne;
        this.stepTwo = stepTwo;
        this.inner = inner;
        this.outer = outer;
        this.keepsWeights = keepsWeights;
    }

    /** @throws ArithmeticException if a system of these lambdas is singular */
    static Refit of(SharedSolutions shared, StepOne stepOne, StepTwo stepTwo, Regularisation absolute) {
        RidgeLevels levels = shared.levels();
        return new Refit(shared, stepOne, stepTwo, levels.inner(absolute), levels.outer(absolute), false);
    }

    static Refit stepOneOnly(SharedSolutions shared, StepOne stepOne) {
        return new Refit(shared, stepOne, StepTwo.leftOut(stepOne), null, null, false);
    }

    static Refit biasOnly(SharedSolutions shared) {
        StepOne identity = StepOne.identity(shared.inputs().trainedSubspace());
        return new Refit(shared, identity, StepTwo.leftOut(identity), null, null, true);
    }

    /** Returns how well the refit gives back the rows fitted on. */
    public Reconstruction score() {
        return score(shared.fitted()).get(0);
    }

    /** Returns how well the refit gives back each set of these rows. */
    public List<Reconstruction> score(RefitRows rows) {
        Solutions within = inner == null ? null : inner.on(rows);
        return stepTwo.score(rows, within, outside(within, rows));
    }

    /**
     * Returns how well the refit gives back the rows fitted on, from the image that {@link #fitted} needs too. It
     * differs from {@link #score()} by rounding alone.
     */
    public Reconstruction scoreBeforeFitted() {
        RefitRows own = shared.fitted();
        double[] left = stepOne.rotate(own.trained(), stepTwo.outerShare()).values();
        double[] targets = own.targets().values();
        double[] added = image().values();
        double[] sums = new double[own.targets().rows()];
        int columns = own.targets().columns();
        Cores.each(sums.length, 3.0 * targets.length, row -> {
            double sum = 0.0;
            for (int i = row * columns; i < (row + 1) * columns; i++) {
                double error = targets[i] - left[i] - added[i];
                sum += error * error;
            }
            sums[row] = sum;
        });
        return own.scored(sums).get(0);
    }

    /**
     * Returns what the decoder is made of. Nothing else may be asked of the shared solutions from here on: they are
     * given up where {@code products} needs the room.
     *
     * @param products whether {@code W W^T} is wanted, from the factors ({@link SettingsFit#gram}) instead of
     *     {@code k d^2} flops
     */
    public FittedDecoder fitted(boolean products) {
        SettingsFit fit = inner == null || outer == null
                ? SettingsFit.stepOneOnly(
                        stepOne,
                        shared.inputs().codes().rows(),
                        shared.inputs().trained().dimension())
                : SettingsFit.of(stepOne, stepTwo, inner, outer);
        return new FittedDecoder(
                shared.inputs().trained(),
                shared.inputs().codes(),
                shared.targetMean(),
                fit,
                keepsWeights,
                products ? products(fit) : null);
    }

    private Matrix products(SettingsFit fit) {
        Matrix added = image();
        shared.levels().release();
        return fit.gram(shared.inputs().trainedSubspace(), shared.fitted().trained(), added);
    }

    /** Returns what the refit adds on the rows fitted on, {@code K dual}. */
    private Matrix image() {
        Matrix known = image;
        if (known == null) {
            RefitRows rows = shared.fitted();
            Solutions within = inner == null ? null : inner.on(rows);
            Solutions beyond = outside(within, rows);
            known = within == null || beyond == null
                    ? Matrix.zeros(rows.targets().rows(), rows.targets().columns())
                    : stepTwo.of(within, beyond);
            image = known;
        }
        return known;
    }

    /** Returns the same object where it is the same level: the formula is shorter then. */
    private @Nullable Solutions outside(@Nullable Solutions within, RefitRows rows) {
        return outer == null || outer == inner ? within : outer.on(rows);
    }
}
