package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.SymmetricEigen;
import java.util.HashMap;
import java.util.Map;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * What the settings of one search share. Everything is compared in the window's own coordinates, where an FVU is the same
 * number: {@code W^T V = D turn + Z^T dual} needs no k x d product for each setting.
 */
final class SearchRun {

    private final Decoder trained;
    private final ExplainerSubspace trainedSubspace;
    private final SymmetricEigen window;
    private final SampleRows fit;
    private final SampleRows validation;
    private final Matrix fitTargets;
    private final Matrix validationTargets;
    private final Matrix fitTrained;
    private final Matrix validationTrained;
    private final RidgeLevels levels;

    private record Turn(int rank, Rotation rotation) {}

    private record TurnAt(Turn turn, double lambda) {}

    private final Map<Turn, StepOne> stepOnes = new HashMap<>();
    private final Map<TurnAt, Matrix> turnedSolutions = new HashMap<>();
    private final Map<Double, Matrix> targetSolutions = new HashMap<>();

    SearchRun(
            Decoder trained,
            ExplainerSubspace trainedSubspace,
            SymmetricEigen window,
            SampleRows fit,
            SampleRows validation) {
        this.trained = trained;
        this.trainedSubspace = trainedSubspace;
        this.window = window;
        this.fit = fit;
        this.validation = validation;
        this.fitTargets = Kernels.multiply(fit.targets(), window.vectors());
        this.validationTargets = Kernels.multiply(validation.targets(), window.vectors());
        this.fitTrained = SparseProducts.multiply(fit.codes(), trained.weights());
        this.validationTrained = SparseProducts.multiply(validation.codes(), trained.weights());
        this.levels = new RidgeLevels(fit.codes(), fit.targets(), fitTrained);
    }

    /** The figures of one setting, or why it has none. */
    SearchReport.Figures evaluate(GaeSettings settings) {
        Candidate candidate = new Candidate.Refit(settings);
        String reason =
                GeometryAdapter.undecided(trained, trainedSubspace, window.values(), settings.rank(), fit.rows());
        if (reason != null) {
            return new SearchReport.Figures(candidate, null, null, reason);
        }
        SettingsFit result;
        try {
            result = fit(settings);
        } catch (ArithmeticException e) {
            Regularisation absolute = settings.regularisation().inUnitsOf(fit.codes());
            return new SearchReport.Figures(candidate, null, null, GeometryAdapter.singular(absolute, e));
        }
        Matrix learnt = SparseProducts.transposeMultiply(fit.codes(), result.dual());
        Matrix onFit = predict(fit, fitTrained, result.turn(), learnt);
        double[] bias = SparseProducts.columnMeans(fitTargets.minus(onFit));
        Matrix onValidation = predict(validation, validationTrained, result.turn(), learnt);
        return new SearchReport.Figures(
                candidate, score(onFit, bias, fitTargets), score(onValidation, bias, validationTargets), null);
    }

    /** The decoder of a setting that {@link #evaluate} had figures for. */
    Decoder decoder(GaeSettings settings) {
        Matrix weights = fit(settings).weights(trained.weights(), fit.codes(), window.vectors());
        return GeometryAdapter.withBias(weights, fit.codes(), fit.targets());
    }

    private SettingsFit fit(GaeSettings settings) {
        Turn turn = new Turn(settings.rank(), settings.rotation());
        StepOne stepOne = remember(
                stepOnes, turn, () -> StepOne.of(trainedSubspace, window.vectors(), turn.rank(), turn.rotation()));
        if (!settings.refits()) {
            return SettingsFit.stepOneOnly(stepOne, fit.rows());
        }
        return SettingsFit.of(
                stepOne,
                settings.rank(),
                settings.alpha(),
                settings.regularisation().inUnitsOf(fit.codes()),
                lambda -> remember(
                        targetSolutions,
                        lambda,
                        () -> Kernels.multiply(levels.at(lambda).targets(), window.vectors())),
                lambda -> remember(
                        turnedSolutions,
                        new TurnAt(turn, lambda),
                        () -> Kernels.multiply(levels.at(lambda).trained(), stepOne.turn())));
    }

    private static Matrix predict(SampleRows rows, Matrix trainedProduct, Matrix turn, Matrix learnt) {
        Matrix prediction = SparseProducts.multiply(rows.codes(), learnt);
        Matrix turned = Kernels.multiply(trainedProduct, turn);
        for (int i = 0; i < prediction.rows(); i++) {
            Kernels.addScaled(
                    1.0,
                    turned.values(),
                    i * turned.columns(),
                    prediction.values(),
                    i * prediction.columns(),
                    turned.columns());
        }
        return prediction;
    }

    private static Reconstruction score(Matrix prediction, double[] bias, Matrix targets) {
        for (int i = 0; i < prediction.rows(); i++) {
            Kernels.addScaled(1.0, bias, 0, prediction.values(), i * bias.length, bias.length);
        }
        return Reconstruction.between(prediction, targets);
    }

    /** As {@code computeIfAbsent}, whose function may not touch the map again; these never do, but may throw. */
    private static <K, V> V remember(Map<K, V> known, K key, Supplier<V> compute) {
        @Nullable V value = known.get(key);
        if (value == null) {
            value = compute.get();
            known.put(key, value);
        }
        return value;
    }
}
