package io.plumbline.refit;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;

/**
 * The Geometry-Adaptive Explainer as the paper has it, for one setting: a {@link RefitPlan} of one.
 *
 * <p><b>The gap is not 0 afterwards.</b> Step 1 closes it to the rows it was fitted on; Step 2 opens it again, and on
 * other rows both show the sampling error of the window. Measure it there.
 *
 * <p><b>Cost.</b> The leading eigenspace of d x d, {@code N^3/3} flops for each ridge level (two as printed), {@code 2
 * N^2} for each right-hand side (d or 2 d outside the window's subspace, r inside), {@code 4 k d r} to turn the
 * dictionary. <b>Size.</b> {@code 4 N^2} bytes and {@code 16 k d} for the rotated and the refitted decoder, which are
 * not rounded. Stateless; any number of threads.
 */
public final class GeometryAdapter {

    private GeometryAdapter() {}

    /**
     * Fits one decoder with given settings.
     *
     * @param trained the decoder as trained: rotations start from it, never from an earlier adaptation
     * @param trainedSubspace of the trained decoder, at any rank: all its singular vectors are used
     * @param codes N rows of codes, and {@code targets} (N x d) what the decoder should give for them
     * @throws IllegalArgumentException if shapes differ, or no preservation weight is given without more rows than
     *     features
     */
    public static Adaptation adapt(
            Decoder trained,
            ExplainerSubspace trainedSubspace,
            SparseCodes codes,
            Matrix targets,
            GaeSettings settings) {
        Identifiability.requireShapes(trained, trainedSubspace, codes, targets);
        Regularisation absolute = settings.regularisation().inUnitsOf(codes);
        if (settings.refits() && absolute.preservation() == 0.0) {
            RidgeSystem.requireRowsForNoRidge(codes);
        }
        ActiveSubspace active =
                ActiveSubspace.leadingOnly(SecondMoment.of(targets).matrix(), settings.rank(), null);
        String reason = Identifiability.undecided(trainedSubspace, active, codes.rows());
        if (reason != null) {
            return new Adaptation.Undecided(reason);
        }
        StepOne stepOne = StepOne.of(trainedSubspace, active, settings.rotation());
        FittedRows rows = FittedRows.of(trained, codes, targets);
        Decoder rotated = Refit.withoutStepTwo(rows, stepOne).fitted().exact();
        try {
            Decoder decoder = settings.refits()
                    ? PlannedRefits.single(settings, rows, stepOne, Refit::fitted)
                            .exact()
                    : rotated;
            return new Adaptation.Adapted(decoder, rotated, active, stepOne.alignment(), absolute);
        } catch (ArithmeticException e) {
            return new Adaptation.Undecided(String.valueOf(e.getMessage()));
        }
    }
}
