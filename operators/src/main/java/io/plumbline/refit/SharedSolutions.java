package io.plumbline.refit;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.parallel.Cores;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;

/**
 * Holds what all settings share on one set of rows: the rows seen from themselves, and the solutions of Step 2's N x N
 * systems.
 *
 * <p><b>Life.</b> It takes the most memory of a refit ({@code 32 N d} bytes and its {@link RidgeLevels}) and lives as
 * long as somebody holds it: through a comparison, or for one fit. What comes of it ({@link FittedDecoder}) does not
 * hold it. Made again from the same {@link RefitInputs} it gives the same numbers. One owner, who may change.
 */
public final class SharedSolutions {

    private final RefitInputs inputs;
    private final RefitRows fitted;
    private final RidgeLevels levels;
    private final double[] targetMean;
    private final double[] productMean;
    private final double[] trainedOffset;
    private final Map<Regularisation, Regularisation> absolute = new HashMap<>();

    SharedSolutions(RefitInputs inputs) {
        this.inputs = inputs;
        Matrix product = inputs.product();
        Matrix targets = inputs.targets(product);
        this.targetMean = SparseProducts.centre(targets);
        this.productMean = SparseProducts.centre(product);
        this.trainedOffset =
                trainedOffset(targetMean, productMean, inputs.trained().bias());
        this.fitted = RefitRows.fittedOn(inputs.codes(), targets, product, inputs.answered());
        this.levels = new RidgeLevels(inputs.codes(), fitted);
    }

    /** Returns what the trained bias lacks to the one of the rows fitted on. */
    private static double[] trainedOffset(double[] targetMean, double[] productMean, double[] bias) {
        double[] offset = targetMean.clone();
        Kernels.addScaled(-1.0, productMean, 0, offset, 0, offset.length);
        Kernels.addScaled(-1.0, bias, 0, offset, 0, offset.length);
        return offset;
    }

    /** Returns other rows seen from the ones fitted on, each set with figures of its own. */
    public RefitRows others(List<SampleRows> sets) {
        return RefitRows.seenFrom(inputs.codes(), targetMean, productMean, sets, inputs.trained());
    }

    /** Returns how well a decoder gives back the rows fitted on. */
    public Reconstruction score(Decoder decoder) {
        // Of the trained decoder the products are there.
        return inputs.isTrained(decoder) ? fitted.scoredTrained(trainedOffset).get(0) : inputs.score(decoder);
    }

    /** Returns how well the trained decoder gives back each set of other rows. */
    public List<Reconstruction> scoreTrained(RefitRows others) {
        return others.scoredTrained(trainedOffset);
    }

    /** Returns the refit that keeps the trained weights and only gives them a new bias. */
    public Refit biasOnly() {
        return Refit.biasOnly(this);
    }

    /**
     * Fits with some settings.
     *
     * @throws ArithmeticException if the rows or the trained decoder do not determine it
     */
    public Refit refit(GaeSettings settings) {
        if (!settings.refits()) {
            return Refit.stepOneOnly(this, inputs.stepOne(settings));
        }
        Regularisation lambdas = absolute(settings);
        if (inputs.rotates(settings) && !inputs.window().isSummed()) {
            // Side by side: a moment is summed by one core. What cannot be solved is said below.
            Cores.each(2, part -> {
                if (part == 0) {
                    levels.prepare(lambdas);
                } else {
                    inputs.window().sum();
                }
            });
        }
        StepOne stepOne = inputs.stepOne(settings);
        try {
            return Refit.of(this, stepOne, StepTwo.of(stepOne, settings.alpha(), lambdas), lambdas);
        } catch (ArithmeticException e) {
            throw new ArithmeticException(RidgeLevels.singular(lambdas, e));
        }
    }

    private Regularisation absolute(GaeSettings settings) {
        return absolute.computeIfAbsent(settings.regularisation(), relative -> relative.inUnitsOf(inputs.codes()));
    }

    /** Gives up what these settings, the only ones that will be fitted from here on, do not need. */
    public void keepFor(List<GaeSettings> remaining) {
        Set<Double> whole = new HashSet<>();
        Map<Double, List<GaeSettings>> inner = new HashMap<>();
        for (GaeSettings settings : remaining) {
            if (settings.refits()) {
                Regularisation lambdas = absolute(settings);
                whole.add(lambdas.preservation() + lambdas.geometric());
                if (!inputs.rotates(settings)) {
                    whole.add(lambdas.preservation());
                }
                inner.computeIfAbsent(lambdas.preservation(), lambda -> new ArrayList<>())
                        .add(settings);
            }
        }
        levels.keep(whole, inner.keySet(), lambda -> inner.getOrDefault(lambda, List.of()).stream()
                .map(inputs::determinedStepOne)
                .filter(Objects::nonNull)
                .toList());
    }

    RefitInputs inputs() {
        return inputs;
    }

    /** Returns the rows fitted on, seen from themselves. */
    RefitRows fitted() {
        return fitted;
    }

    RidgeLevels levels() {
        return levels;
    }

    /** Returns the mean of the targets of the rows fitted on. */
    double[] targetMean() {
        return targetMean;
    }
}
