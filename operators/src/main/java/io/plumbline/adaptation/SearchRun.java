package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Cores;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.wire.DType;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.jspecify.annotations.Nullable;

/** What the settings of one search share. No candidate needs a k x d product before it is the one to publish. */
final class SearchRun {

    private final Decoder trained;
    private final ExplainerSubspace trainedSubspace;
    private final WindowDirections window;
    private final SampleRows fit;
    private final @Nullable SampleRows anchor;
    private final SparseCodes codes;
    private final SampleRows validation;
    private final @Nullable SampleRows check;
    private final double[] targetMean;
    private final double[] productMean;
    private final double[] trainedOffset;
    private final Map<Turn, StepOne> stepOnes = new ConcurrentHashMap<>();
    private final Map<Regularisation, Regularisation> absolute = new HashMap<>();
    private final Map<Candidate, SettingsFit> made = new HashMap<>();
    private final Map<Candidate, Matrix> images = new HashMap<>();
    private final Map<Candidate, Weights> asAuthorsCode = new HashMap<>();

    private @Nullable Shared shared;
    private @Nullable RefitRows others;

    /** What takes the most memory and can be made again: the rows fitted on and the solutions for them. */
    private record Shared(RefitRows own, RidgeLevels levels) {}

    private record Turn(int rank, Rotation rotation) {}

    /**
     * @param fit rows of the window to fit on
     * @param anchor rows to fit on before them, with the trained decoder's own answers as targets; null where there are
     *     none
     * @param validation rows to choose by
     * @param check rows of the baseline, null where there are none
     */
    SearchRun(
            Decoder trained,
            ExplainerSubspace trainedSubspace,
            WindowDirections window,
            SampleRows fit,
            @Nullable SampleRows anchor,
            SampleRows validation,
            @Nullable SampleRows check) {
        this.trained = trained;
        this.trainedSubspace = trainedSubspace;
        this.window = window;
        this.fit = fit;
        this.anchor = anchor;
        this.codes = anchor == null ? fit.codes() : anchor.codes().and(fit.codes());
        this.validation = validation;
        this.check = check;
        Matrix product = product();
        Matrix targets = targets(product);
        this.targetMean = SparseProducts.centre(targets);
        this.productMean = SparseProducts.centre(product);
        this.trainedOffset = trainedOffset(targetMean, productMean, trained.bias());
        this.shared = shared(targets, product);
    }

    /** {@code Z D} of the rows fitted on. */
    private Matrix product() {
        return SparseProducts.multiply(codes, trained.weights());
    }

    /** Those of the rows fitted on, a matrix of its own. It is not kept: what is, is centred. */
    private Matrix targets(Matrix product) {
        if (anchor == null) {
            return fit.targets().copy();
        }
        int d = trained.dimension();
        Matrix targets = Matrix.zeros(codes.rows(), d);
        double[] answers = targets.values();
        int answered = anchor.rows() * d;
        System.arraycopy(product.values(), 0, answers, 0, answered);
        for (int i = 0; i < answered; i += d) {
            Kernels.addScaled(1.0, trained.bias(), 0, answers, i, d);
        }
        System.arraycopy(fit.targets().values(), 0, answers, answered, answers.length - answered);
        return targets;
    }

    /** @param targets and {@code product} centred */
    private Shared shared(Matrix targets, Matrix product) {
        RefitRows own = RefitRows.fittedOn(codes, targets, product, anchor == null ? 0 : anchor.rows());
        return new Shared(own, new RidgeLevels(codes, own));
    }

    private Shared shared() {
        Shared known = shared;
        if (known == null) {
            Matrix product = product();
            Matrix targets = targets(product);
            SparseProducts.less(targetMean, targets);
            SparseProducts.less(productMean, product);
            known = shared(targets, product);
            shared = known;
        }
        return known;
    }

    /** What the trained bias lacks to the one of the rows fitted on. */
    private static double[] trainedOffset(double[] targetMean, double[] productMean, double[] bias) {
        double[] offset = targetMean.clone();
        Kernels.addScaled(-1.0, productMean, 0, offset, 0, offset.length);
        Kernels.addScaled(-1.0, bias, 0, offset, 0, offset.length);
        return offset;
    }

    /** The figures of a candidate, or why it has none. */
    SearchReport.Figures evaluate(Candidate candidate) {
        try {
            Refit refit = refit(candidate);
            if (refit == null) {
                return figures(candidate, decoder(candidate, DType.F64));
            }
            Reconstruction onFit = refit.score(shared().own()).get(0);
            List<Reconstruction> onOthers = refit.score(others());
            return new SearchReport.Figures(
                    candidate, onFit, onOthers.get(0), check == null ? null : onOthers.get(1), null);
        } catch (ArithmeticException e) {
            return new SearchReport.Figures(candidate, null, null, null, String.valueOf(e.getMessage()));
        }
    }

    /** The figures of a single candidate, or why it has none: there are no others to choose it from. */
    SearchReport.Figures onRowsFittedOn(Candidate candidate) {
        try {
            Refit refit = refit(candidate);
            return refit == null
                    ? onRowsFittedOn(candidate, decoder(candidate, DType.F64))
                    : new SearchReport.Figures(candidate, refit.scoreOfOwn(image(candidate, refit)), null, null, null);
        } catch (ArithmeticException e) {
            return new SearchReport.Figures(candidate, null, null, null, String.valueOf(e.getMessage()));
        }
    }

    /** Those of a decoder that is not made of factors. */
    SearchReport.Figures onRowsFittedOn(Candidate candidate, Decoder decoder) {
        return new SearchReport.Figures(candidate, onRowsFittedOn(decoder), null, null, null);
    }

    /** The figures of a decoder that is not made of factors. */
    SearchReport.Figures figures(Candidate candidate, Decoder decoder) {
        // Of the trained decoder the products are there.
        List<Reconstruction> known = decoder.equals(trained) ? others().scoredTrained(trainedOffset) : List.of();
        return new SearchReport.Figures(
                candidate,
                onRowsFittedOn(decoder),
                known.isEmpty() ? of(decoder, validation) : known.get(0),
                check == null ? null : known.isEmpty() ? of(decoder, check) : known.get(1),
                null);
    }

    /** The trained decoder on rows of the baseline; null where there are none. */
    @Nullable
    Reconstruction trainedInDistribution() {
        return check == null ? null : others().scoredTrained(trainedOffset).get(1);
    }

    private Reconstruction onRowsFittedOn(Decoder decoder) {
        return decoder.equals(trained)
                ? shared().own().scoredTrained(trainedOffset).get(0)
                : Reconstruction.of(decoder, codes, anchor == null ? fit.targets() : targets(product()));
    }

    private static Reconstruction of(Decoder decoder, SampleRows rows) {
        return Reconstruction.of(decoder, rows.codes(), rows.targets());
    }

    /** The rows to choose by, and those of the baseline where there are any. */
    private RefitRows others() {
        RefitRows known = others;
        if (known == null) {
            List<SampleRows> sets = check == null ? List.of(validation) : List.of(validation, check);
            known = RefitRows.seenFrom(codes, targetMean, productMean, sets, trained);
            others = known;
        }
        return known;
    }

    /**
     * The decoder of a candidate with the values it has once it was written as {@code travelling}.
     *
     * @throws ArithmeticException if these rows do not determine it, or the type cannot hold a value
     */
    Decoder decoder(Candidate candidate, DType travelling) {
        Rounding rounding = new Rounding(candidate, travelling);
        Decoder decoder = GeometryAdapter.withBias(rounding.of(weights(candidate, rounding)), codes, targetMean);
        rounding.round(decoder.bias(), "bias");
        return decoder;
    }

    private Weights weights(Candidate candidate, Rounding rounding) {
        if (candidate instanceof Candidate.BiasOnly) {
            return trained.weights();
        }
        SettingsFit factors = inFactors(candidate);
        if (factors != null) {
            return factors.weights(trained.weights(), codes, rounding);
        }
        if (candidate instanceof Candidate.AsAuthorsCode code) {
            return asAuthorsCode.computeIfAbsent(code, wanted -> asAuthorsCode(code.settings()));
        }
        throw new IllegalArgumentException("no decoder is made of \"%s\"".formatted(candidate.describe()));
    }

    private Weights asAuthorsCode(GaeSettings settings) {
        Adaptation adaptation = AuthorsCode.adapt(trained, trainedSubspace, codes, targets(product()), settings);
        if (adaptation instanceof Adaptation.Adapted adapted) {
            return adapted.decoder().weights();
        }
        throw new ArithmeticException(((Adaptation.Undecided) adaptation).reason());
    }

    /**
     * {@code W W^T} of a candidate's decoder, d x d, from its factors ({@link SettingsFit#gram}) instead of {@code k
     * d^2} flops. Null for a candidate without factors.
     */
    @Nullable
    Matrix gram(Candidate candidate) {
        SettingsFit factors = inFactors(candidate);
        Refit refit = refit(candidate);
        if (factors == null || refit == null) {
            return null;
        }
        Matrix image = image(candidate, refit);
        shared().levels().forgetFactors();
        return factors.gram(trainedSubspace, shared().own().trained(), image);
    }

    /** What the refit adds on the rows fitted on, {@code K dual}. */
    private Matrix image(Candidate candidate, Refit refit) {
        return images.computeIfAbsent(candidate, unknown -> refit.on(shared().own()));
    }

    /**
     * The decoder of a candidate with the values that others will get, and the factors it is made of where it travels
     * as such.
     *
     * @throws ArithmeticException if these rows do not determine it, or the type cannot hold it
     */
    Travelled travelled(Candidate candidate, Travelling travelling) {
        DecoderFactors factors = travelling.factored() ? factors(candidate) : null;
        if (factors == null || !factors.isSmallerThanDense()) {
            return new Travelled(decoder(candidate, travelling.dtype()), null);
        }
        Weights weights = factors.of(trained).weights();
        DecoderFactors whole = factors.withBias(
                GeometryAdapter.withBias(weights, codes, targetMean).bias());
        return new Travelled(new Decoder(weights, whole.bias()), whole);
    }

    record Travelled(Decoder decoder, @Nullable DecoderFactors factors) {}

    /**
     * What a candidate's decoder is made of, rounded to floats and without its bias; null for a candidate without
     * factors.
     *
     * @throws ArithmeticException if these rows do not determine it, or a float cannot hold it
     */
    @Nullable
    DecoderFactors factors(Candidate candidate) {
        SettingsFit factors = inFactors(candidate);
        return factors == null ? null : DecoderFactors.of(factors, codes);
    }

    private @Nullable SettingsFit inFactors(Candidate candidate) {
        SettingsFit known = made.get(candidate);
        Refit refit = known == null ? refit(candidate) : null;
        if (refit == null) {
            return known;
        }
        SettingsFit factors = refit.inFactors();
        made.put(candidate, factors);
        return factors;
    }

    /** Whether Step 1 turns anything for this candidate. */
    boolean turns(Candidate candidate) {
        return candidate instanceof Candidate.Refit refit && refit.settings().rank() < trained.dimension();
    }

    /** Makes Step 1 of these candidates. Beside those that turn nothing, which may be evaluated meanwhile. */
    void prepareTurns(List<Candidate> candidates) {
        for (Candidate candidate : candidates) {
            if (turns(candidate)) {
                determined(((Candidate.Refit) candidate).settings());
            }
        }
    }

    /** Null where Step 1 is not determined; the candidate then needs no level, and says so in its figures. */
    private @Nullable StepOne determined(GaeSettings settings) {
        try {
            return stepOne(settings.rank(), settings.rotation());
        } catch (ArithmeticException undetermined) {
            return null;
        }
    }

    /** Makes room for what these candidates, the only ones to be evaluated yet, do not share with those before. */
    void keepWhatTheyShare(List<Candidate> candidates) {
        Set<Double> outer = new HashSet<>();
        Map<Double, List<GaeSettings>> inner = new HashMap<>();
        for (Candidate candidate : candidates) {
            if (candidate instanceof Candidate.Refit refit && refit.settings().refits()) {
                Regularisation absolute = absolute(refit.settings());
                outer.add(absolute.preservation() + absolute.geometric());
                inner.computeIfAbsent(absolute.preservation(), lambda -> new ArrayList<>())
                        .add(refit.settings());
            }
        }
        shared().levels().keep(outer, inner.keySet(), lambda -> inner.getOrDefault(lambda, List.of()).stream()
                .map(this::determined)
                .filter(Objects::nonNull)
                .toList());
    }

    /** Makes room for the weights of this candidate, whose {@code W W^T} is known if it is wanted. */
    void keepFactorsOf(Candidate candidate) {
        inFactors(candidate);
        shared = null;
        others = null;
        images.clear();
    }

    /** Null for a candidate without factors. */
    private @Nullable Refit refit(Candidate candidate) {
        if (candidate instanceof Candidate.BiasOnly) {
            StepOne identity = StepOne.identity(trainedSubspace);
            return new Refit(identity, RefitFormula.stepOneOnly(identity), null, null);
        }
        return candidate instanceof Candidate.Refit refit ? refit(refit.settings()) : null;
    }

    private Regularisation absolute(GaeSettings settings) {
        return absolute.computeIfAbsent(settings.regularisation(), relative -> relative.inUnitsOf(codes));
    }

    private Refit refit(GaeSettings settings) {
        if (!settings.refits()) {
            StepOne stepOne = stepOne(settings.rank(), settings.rotation());
            return new Refit(stepOne, RefitFormula.stepOneOnly(stepOne), null, null);
        }
        Regularisation absolute = absolute(settings);
        RidgeLevels levels = shared().levels();
        if (settings.rank() < trained.dimension() && !window.isSummed()) {
            // Side by side: a moment is summed by one core. What cannot be solved is said below.
            Cores.each(2, part -> {
                if (part == 0) {
                    levels.prepare(absolute);
                } else {
                    window.sum();
                }
            });
        }
        StepOne stepOne = stepOne(settings.rank(), settings.rotation());
        try {
            return new Refit(
                    stepOne,
                    RefitFormula.of(stepOne, settings.alpha(), absolute),
                    levels.inner(absolute),
                    levels.outer(absolute));
        } catch (ArithmeticException e) {
            throw new ArithmeticException(GeometryAdapter.singular(absolute, e));
        }
    }

    /** One setting on the shared solutions; without levels Step 1 is all of it. */
    private final class Refit {

        private final StepOne stepOne;
        private final RefitFormula formula;
        private final RidgeLevels.@Nullable Level inner;
        private final RidgeLevels.@Nullable Level outer;

        private Refit(
                StepOne stepOne,
                RefitFormula formula,
                RidgeLevels.@Nullable Level inner,
                RidgeLevels.@Nullable Level outer) {
            this.stepOne = stepOne;
            this.formula = formula;
            this.inner = inner;
            this.outer = outer;
        }

        private SettingsFit inFactors() {
            return inner == null || outer == null
                    ? SettingsFit.stepOneOnly(stepOne, codes.rows(), trained.dimension())
                    : SettingsFit.of(stepOne, formula, inner, outer);
        }

        private Matrix on(RefitRows rows) {
            Solutions within = inner == null ? null : inner.on(rows);
            Solutions beyond = outside(within, rows);
            return within == null || beyond == null
                    ? Matrix.zeros(rows.targets().rows(), trained.dimension())
                    : formula.of(within, beyond);
        }

        private List<Reconstruction> score(RefitRows rows) {
            Solutions within = inner == null ? null : inner.on(rows);
            return formula.score(rows, within, outside(within, rows));
        }

        /** On the rows fitted on, of which what the refit adds is known. */
        private Reconstruction scoreOfOwn(Matrix image) {
            RefitRows own = shared().own();
            double[] left = stepOne.rotate(own.trained(), formula.outerShare()).values();
            double[] targets = own.targets().values();
            double[] added = image.values();
            double[] sums = new double[own.targets().rows()];
            for (int i = 0; i < targets.length; i++) {
                double error = targets[i] - left[i] - added[i];
                sums[i / own.targets().columns()] += error * error;
            }
            return own.scored(sums).get(0);
        }

        /** The same object where it is the same level: the formula is shorter then. */
        private @Nullable Solutions outside(@Nullable Solutions within, RefitRows rows) {
            return outer == null || outer == inner ? within : outer.on(rows);
        }
    }

    private StepOne stepOne(int rank, Rotation rotation) {
        Turn turn = new Turn(rank, rotation);
        StepOne known = stepOnes.get(turn);
        if (known == null) {
            ActiveSubspace active = rank == trained.dimension() ? null : window.at(rank);
            String reason = active == null
                    ? GeometryAdapter.undecided(trained, trainedSubspace, rank)
                    : GeometryAdapter.undecided(trained, trainedSubspace, active, codes.rows());
            if (reason != null) {
                throw new ArithmeticException(reason);
            }
            known = active == null ? StepOne.identity(trainedSubspace) : StepOne.of(trainedSubspace, active, rotation);
            stepOnes.put(turn, known);
        }
        return known;
    }
}
