package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.moments.SecondMoment;
import io.plumbline.wire.DType;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** What the settings of one search share. No candidate needs a k x d product before it is the one to publish. */
final class SearchRun {

    private final Decoder trained;
    private final ExplainerSubspace trainedSubspace;
    private final Window window;
    private final Part fit;
    private final Part validation;
    private final @Nullable Part check;
    private final RidgeLevels levels;
    private final Map<Turn, StepOne> stepOnes = new HashMap<>();

    private record Turn(int rank, Rotation rotation) {}

    /** The directions of the drifted rows alone; those of full rank need no decomposition. */
    static final class Window {

        private final Matrix targets;
        private @Nullable Matrix moment;
        private @Nullable ActiveSubspace decomposed;

        Window(Matrix targets) {
            this.targets = targets;
        }

        /** What is outside the subspace has directions of its own in the full-rank rotation only. */
        ActiveSubspace at(int rank, Rotation rotation) {
            ActiveSubspace full = decomposed;
            if (full == null && rotation == Rotation.PRINTED) {
                return ActiveSubspace.leadingOnly(moment(), rank, null);
            }
            full = full == null ? ActiveSubspace.topEigenspace(moment(), rank) : full.ofRank(rank);
            decomposed = full;
            return full;
        }

        private Matrix moment() {
            Matrix known = moment;
            if (known == null) {
                known = SecondMoment.of(targets).matrix();
                moment = known;
            }
            return known;
        }
    }

    /** Rows, and what the trained weights make of them without a bias. */
    private record Part(SampleRows rows, Matrix trainedProduct) {

        Reconstruction of(Decoder decoder) {
            return Reconstruction.of(decoder, rows.codes(), rows.targets());
        }

        /** Of what is learnt the product with these rows' codes; overwritten. */
        Matrix predict(SettingsFit fit, Matrix learnt) {
            return learnt.plus(1.0, fit.stepOne().rotate(trainedProduct, fit.outerShare()));
        }

        Reconstruction score(Matrix prediction, double[] bias) {
            for (int i = 0; i < prediction.rows(); i++) {
                Kernels.addScaled(1.0, bias, 0, prediction.values(), i * bias.length, bias.length);
            }
            return Reconstruction.between(prediction, rows.targets());
        }
    }

    /**
     * @param fit rows to fit on
     * @param validation rows to choose by
     * @param check rows of the baseline, null where there are none
     */
    SearchRun(
            Decoder trained,
            ExplainerSubspace trainedSubspace,
            Window window,
            SampleRows fit,
            SampleRows validation,
            @Nullable SampleRows check) {
        this.trained = trained;
        this.trainedSubspace = trainedSubspace;
        this.window = window;
        this.fit = part(fit);
        this.validation = part(validation);
        this.check = check == null ? null : part(check);
        this.levels = new RidgeLevels(fit.codes(), fit.targets(), this.fit.trainedProduct());
    }

    private Part part(SampleRows rows) {
        return new Part(rows, SparseProducts.multiply(rows.codes(), trained.weights()));
    }

    /** The figures of a candidate, or why it has none. */
    SearchReport.Figures evaluate(Candidate candidate) {
        try {
            if (candidate instanceof Candidate.Refit refit) {
                return evaluate(candidate, refit.settings());
            }
            return candidate instanceof Candidate.BiasOnly
                    ? figures(candidate, untouched())
                    : figures(candidate, decoder(candidate, DType.F64));
        } catch (ArithmeticException e) {
            return new SearchReport.Figures(candidate, null, null, null, String.valueOf(e.getMessage()));
        }
    }

    /** The figures of a decoder that is not made of factors. */
    SearchReport.Figures figures(Candidate candidate, Decoder decoder) {
        return new SearchReport.Figures(
                candidate, fit.of(decoder), validation.of(decoder), check == null ? null : check.of(decoder), null);
    }

    private SearchReport.Figures evaluate(Candidate candidate, GaeSettings settings) {
        return figures(candidate, fit(settings));
    }

    private SearchReport.Figures figures(Candidate candidate, SettingsFit result) {
        List<Part> parts = check == null ? List.of(fit, validation) : List.of(fit, validation, check);
        List<Matrix> learnt = SparseProducts.through(
                fit.rows().codes(),
                result.dual(),
                parts.stream().map(part -> part.rows().codes()).toList());
        Matrix onFit = fit.predict(result, learnt.get(0));
        double[] bias = SparseProducts.columnMeans(fit.rows().targets().minus(onFit));
        return new SearchReport.Figures(
                candidate,
                fit.score(onFit, bias),
                validation.score(validation.predict(result, learnt.get(1)), bias),
                check == null ? null : check.score(check.predict(result, learnt.get(2)), bias),
                null);
    }

    /**
     * The decoder of a candidate with the values it has once it was written as {@code travelling}.
     *
     * @throws ArithmeticException if these rows do not determine it, or the type cannot hold a value
     */
    Decoder decoder(Candidate candidate, DType travelling) {
        SampleRows rows = fit.rows();
        Rounding rounding = new Rounding(candidate, travelling);
        Decoder decoder =
                GeometryAdapter.withBias(rounding.of(weights(candidate, rounding)), rows.codes(), rows.targets());
        rounding.round(decoder.bias(), "bias");
        return decoder;
    }

    private Weights weights(Candidate candidate, Rounding rounding) {
        SampleRows rows = fit.rows();
        if (candidate instanceof Candidate.Refit refit) {
            return fit(refit.settings()).weights(trained.weights(), rows.codes(), rounding);
        }
        if (candidate instanceof Candidate.AsAuthorsCode code) {
            Adaptation adaptation =
                    AuthorsCode.adapt(trained, trainedSubspace, rows.codes(), rows.targets(), code.settings());
            if (adaptation instanceof Adaptation.Adapted adapted) {
                return adapted.decoder().weights();
            }
            throw new ArithmeticException(((Adaptation.Undecided) adaptation).reason());
        }
        return trained.weights();
    }

    /**
     * {@code W W^T} of a candidate's decoder, d x d, from its factors: {@code 4 N d^2 + 2 N^2 d} flops instead of {@code k d^2}. Null
     * for a candidate without factors.
     */
    @Nullable
    Matrix gram(Candidate candidate) {
        SettingsFit result = inFactors(candidate);
        return result == null ? null : result.gram(trainedSubspace, fit.trainedProduct(), levels.gram());
    }

    /**
     * The decoder of a candidate with the values that others will get, and the factors it is made of where it travels as such.
     *
     * @throws ArithmeticException if these rows do not determine it, or the type cannot hold it
     */
    Travelled travelled(Candidate candidate, Travelling travelling) {
        DecoderFactors factors = travelling.factored() ? factors(candidate) : null;
        if (factors == null || !factors.isSmallerThanDense()) {
            return new Travelled(decoder(candidate, travelling.dtype()), null);
        }
        Weights weights = factors.of(trained).weights();
        SampleRows rows = fit.rows();
        DecoderFactors whole = factors.withBias(
                GeometryAdapter.withBias(weights, rows.codes(), rows.targets()).bias());
        return new Travelled(new Decoder(weights, whole.bias()), whole);
    }

    record Travelled(Decoder decoder, @Nullable DecoderFactors factors) {}

    /**
     * What a candidate's decoder is made of, rounded to floats and without its bias; null for a candidate without factors.
     *
     * @throws ArithmeticException if these rows do not determine it, or a float cannot hold it
     */
    @Nullable
    DecoderFactors factors(Candidate candidate) {
        SettingsFit result = inFactors(candidate);
        return result == null ? null : DecoderFactors.of(result, fit.rows().codes());
    }

    private @Nullable SettingsFit inFactors(Candidate candidate) {
        return candidate instanceof Candidate.Refit refit
                ? fit(refit.settings())
                : candidate instanceof Candidate.BiasOnly ? untouched() : null;
    }

    /** The trained weights in factors. */
    private SettingsFit untouched() {
        return SettingsFit.stepOneOnly(
                StepOne.identity(trainedSubspace), fit.rows().rows(), trained.dimension());
    }

    private SettingsFit fit(GaeSettings settings) {
        StepOne stepOne = stepOne(settings.rank(), settings.rotation());
        if (!settings.refits()) {
            return SettingsFit.stepOneOnly(stepOne, fit.rows().rows(), trained.dimension());
        }
        Regularisation absolute = settings.regularisation().inUnitsOf(fit.rows().codes());
        try {
            return SettingsFit.of(stepOne, settings.alpha(), absolute, levels);
        } catch (ArithmeticException e) {
            throw new ArithmeticException(GeometryAdapter.singular(absolute, e));
        }
    }

    private StepOne stepOne(int rank, Rotation rotation) {
        Turn turn = new Turn(rank, rotation);
        StepOne known = stepOnes.get(turn);
        if (known == null) {
            ActiveSubspace active = rank == trained.dimension() ? null : window.at(rank, rotation);
            String reason = active == null
                    ? GeometryAdapter.undecided(trained, trainedSubspace, rank)
                    : GeometryAdapter.undecided(
                            trained, trainedSubspace, active, fit.rows().rows());
            if (reason != null) {
                throw new ArithmeticException(reason);
            }
            known = active == null ? StepOne.identity(trainedSubspace) : StepOne.of(trainedSubspace, active, rotation);
            stepOnes.put(turn, known);
        }
        return known;
    }
}
