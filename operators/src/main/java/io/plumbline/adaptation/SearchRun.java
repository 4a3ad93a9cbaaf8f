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
    private final Matrix fitTargets;
    private final Matrix fitTrained;
    private final Turned validation;
    private final @Nullable Turned check;
    private final RidgeLevels levels;

    private record Turn(int rank, Rotation rotation) {}

    private record TurnAt(Turn turn, double lambda) {}

    private final Map<Turn, StepOne> stepOnes = new HashMap<>();
    private final Map<TurnAt, Matrix> turnedSolutions = new HashMap<>();
    private final Map<Double, Matrix> targetSolutions = new HashMap<>();

    /**
     * @param window eigenvectors of the drifted rows alone
     * @param fit rows to fit on
     * @param validation rows to choose by
     * @param check rows of the baseline, null where there are none
     */
    SearchRun(
            Decoder trained,
            ExplainerSubspace trainedSubspace,
            SymmetricEigen window,
            SampleRows fit,
            SampleRows validation,
            @Nullable SampleRows check) {
        this.trained = trained;
        this.trainedSubspace = trainedSubspace;
        this.window = window;
        this.fit = fit;
        this.fitTargets = Kernels.multiply(fit.targets(), window.vectors());
        this.fitTrained = SparseProducts.multiply(fit.codes(), trained.weights());
        this.validation = turned(validation);
        this.check = check == null ? null : turned(check);
        this.levels = new RidgeLevels(fit.codes(), fit.targets(), fitTrained);
    }

    /** The figures of a candidate, or why it has none. */
    SearchReport.Figures evaluate(Candidate candidate) {
        if (candidate instanceof Candidate.Refit refit) {
            return evaluate(candidate, refit.settings());
        }
        try {
            return figures(candidate, decoder(candidate));
        } catch (ArithmeticException e) {
            return refused(candidate, String.valueOf(e.getMessage()));
        }
    }

    /** The figures of a decoder that is not made of factors. */
    SearchReport.Figures figures(Candidate candidate, Decoder decoder) {
        return new SearchReport.Figures(
                candidate,
                Reconstruction.of(decoder, fit.codes(), fit.targets()),
                validation.of(decoder),
                check == null ? null : check.of(decoder),
                null);
    }

    private SearchReport.Figures evaluate(Candidate candidate, GaeSettings settings) {
        String reason =
                GeometryAdapter.undecided(trained, trainedSubspace, window.values(), settings.rank(), fit.rows());
        if (reason != null) {
            return refused(candidate, reason);
        }
        SettingsFit result;
        try {
            result = fit(settings);
        } catch (ArithmeticException e) {
            Regularisation absolute = settings.regularisation().inUnitsOf(fit.codes());
            return refused(candidate, GeometryAdapter.singular(absolute, e));
        }
        Matrix learnt = SparseProducts.transposeMultiply(fit.codes(), result.dual());
        Matrix onFit = predict(fit, fitTrained, result.turn(), learnt);
        double[] bias = SparseProducts.columnMeans(fitTargets.minus(onFit));
        return new SearchReport.Figures(
                candidate,
                score(onFit, bias, fitTargets),
                validation.score(result.turn(), learnt, bias),
                check == null ? null : check.score(result.turn(), learnt, bias),
                null);
    }

    private static SearchReport.Figures refused(Candidate candidate, String reason) {
        return new SearchReport.Figures(candidate, null, null, null, reason);
    }

    /**
     * The decoder of a candidate.
     *
     * @throws ArithmeticException if these rows do not determine it
     */
    Decoder decoder(Candidate candidate) {
        if (candidate instanceof Candidate.Refit refit) {
            Matrix weights = fit(refit.settings()).weights(trained.weights(), fit.codes(), window.vectors());
            return GeometryAdapter.withBias(weights, fit.codes(), fit.targets());
        }
        if (candidate instanceof Candidate.AsAuthorsCode code) {
            Adaptation adaptation =
                    AuthorsCode.adapt(trained, trainedSubspace, fit.codes(), fit.targets(), code.settings());
            if (adaptation instanceof Adaptation.Adapted adapted) {
                return adapted.decoder();
            }
            throw new ArithmeticException(((Adaptation.Undecided) adaptation).reason());
        }
        // A copy: what comes back may be rounded in place.
        return GeometryAdapter.withBias(trained.weights().copy(), fit.codes(), fit.targets());
    }

    /** Rows that were not fitted on, in the window's coordinates. */
    private record Turned(SampleRows rows, Matrix targets, Matrix trainedProduct) {

        Reconstruction of(Decoder decoder) {
            return Reconstruction.of(decoder, rows.codes(), rows.targets());
        }

        Reconstruction score(Matrix turn, Matrix learnt, double[] bias) {
            return SearchRun.score(predict(rows, trainedProduct, turn, learnt), bias, targets);
        }
    }

    private Turned turned(SampleRows rows) {
        return new Turned(
                rows,
                Kernels.multiply(rows.targets(), window.vectors()),
                SparseProducts.multiply(rows.codes(), trained.weights()));
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
