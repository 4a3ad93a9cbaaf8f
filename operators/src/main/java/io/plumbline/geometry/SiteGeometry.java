package io.plumbline.geometry;

import static io.plumbline.geometry.AssessmentBuilder.unless;
import static io.plumbline.geometry.Statistic.BASELINE_GAP;
import static io.plumbline.geometry.Statistic.CHANCE_NORMALISED_GAP;
import static io.plumbline.geometry.Statistic.DAVIS_KAHAN_AS_PRINTED;
import static io.plumbline.geometry.Statistic.DAVIS_KAHAN_BOTH_SPECTRA;
import static io.plumbline.geometry.Statistic.DAVIS_KAHAN_VALID;
import static io.plumbline.geometry.Statistic.DAVIS_KAHAN_WATER_FILLING;
import static io.plumbline.geometry.Statistic.EIGENGAP_BASELINE;
import static io.plumbline.geometry.Statistic.EIGENGAP_WINDOW;
import static io.plumbline.geometry.Statistic.ETA;
import static io.plumbline.geometry.Statistic.EXPLAINER_BASELINE_GAP;
import static io.plumbline.geometry.Statistic.EXPLAINER_DEPENDENT_LOSS;
import static io.plumbline.geometry.Statistic.EXPLAINER_DEPENDENT_SHARE;
import static io.plumbline.geometry.Statistic.FAITHFULNESS_GAP;
import static io.plumbline.geometry.Statistic.GAP_LOWER_BOUND;
import static io.plumbline.geometry.Statistic.GAP_SHARE;
import static io.plumbline.geometry.Statistic.GAP_UPPER_BOUND;
import static io.plumbline.geometry.Statistic.IRREDUCIBLE_LOSS;
import static io.plumbline.geometry.Statistic.LARGEST_GAP;
import static io.plumbline.geometry.Statistic.PROJECTION_LOSS;
import static io.plumbline.geometry.Statistic.RECONSTRUCTION_GAP;
import static io.plumbline.geometry.Statistic.RESIDUAL_ENERGY;
import static io.plumbline.geometry.Statistic.SECOND_MOMENT_SHIFT;
import static io.plumbline.geometry.Statistic.SECOND_MOMENT_SHIFT_RATIO;
import static io.plumbline.geometry.Statistic.SUBSPACE_OVERLAP;
import static io.plumbline.geometry.Statistic.SUBSPACE_SINE_BOUND;
import static io.plumbline.geometry.Statistic.TOP_EIGENVALUE_SHARE;
import static io.plumbline.geometry.Statistic.WHITENED_MEAN_SHIFT;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.linalg.Cholesky;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Holds everything about a site that does not depend on the window, computed once, and assesses windows against it.
 *
 * <p><b>Cost.</b> Construction: one decomposition of the decoder and the leading eigenspaces of one or two moments. A
 * window: its leading eigenspace ({@link ActiveSubspace#leadingOnly}) and products of {@code O(d^2 r)}; the first one
 * also a factorisation of the baseline's moment, {@code d^3 / 3}. <b>Size.</b> About {@code 20 d^2} bytes: two moments
 * and that factor.
 *
 * <p>Any number of threads may assess.
 */
public final class SiteGeometry {

    /** Share of the mean eigenvalue that is added when the mean shift is whitened. */
    private static final double WHITENING_RIDGE = 1e-6;

    private final int rank;
    private final ExplainerSubspace explainer;
    private final SecondMoment baselineMoment;
    private final double[] baselineMean;
    private final double baselineNorm;
    private final double explainerBaselineGap;
    private final ActiveSubspace baseline;

    /**
     * Start vectors of the search for a window's subspace: fixed, so that the same window always gives the same digits.
     */
    private final Matrix start;

    private final @Nullable ActiveSubspace reconstruction;

    /** The factor of {@code M_ID + ridge I}, made with the first window: not every geometry assesses one. */
    private @Nullable Cholesky whitening;

    private final @Nullable String explainerReason;
    private final @Nullable String baselineReason;
    private final @Nullable String reconstructionReason;

    SiteGeometry(
            ExplainerSubspace explainer,
            SecondMoment baselineMoment,
            ActiveSubspace baseline,
            @Nullable ActiveSubspace reconstruction,
            Matrix start) {
        this.rank = explainer.rank();
        this.explainer = explainer;
        this.baselineMoment = baselineMoment;
        this.baselineMean = baselineMoment.mean();
        this.baselineNorm = baseline.moment().frobeniusNorm();
        if (baselineNorm == 0.0) {
            throw new IllegalArgumentException("every row of the baseline is 0: there is nothing to compare with");
        }
        this.baseline = baseline;
        this.explainerBaselineGap = FaithfulnessGap.between(explainer.subspace(), baseline.subspace())
                .value();
        this.start = start;
        this.reconstruction = reconstruction;
        this.explainerReason = Reasons.explainer(explainer);
        this.baselineReason = Reasons.moment("the baseline", baselineMoment.rows(), baseline);
        this.reconstructionReason = reconstruction == null
                ? "the baseline holds no moment of its reconstructions"
                : Reasons.eigenspace("the baseline's reconstructions", reconstruction);
    }

    /**
     * The geometry of a site.
     *
     * @param trained the decoder the explainer was trained with (not an adapted one)
     * @param baseline the moment of clean rows of the target space
     * @param reconstructionMoment {@code E[ŷ ŷᵀ]} over the baseline's rows, d x d, or null to do without that gap
     * @param rank in 1 .. d
     */
    public static SiteGeometry of(
            Decoder trained, SecondMoment baseline, @Nullable Matrix reconstructionMoment, int rank) {
        return of(ExplainerSubspace.of(trained, rank), baseline, reconstructionMoment);
    }

    /**
     * Returns the geometry of an explainer's site; where reconstructions are given, its subspace is that of the
     * baseline's.
     *
     * @param reconstructionMoment {@code E[ŷ ŷᵀ]} over the baseline's rows, d x d
     * @param rank in 1 .. d
     */
    public static SiteGeometry of(Explainer trained, SecondMoment baseline, Matrix reconstructionMoment, int rank) {
        return of(
                trained.isGiven()
                        ? ExplainerSubspace.ofReconstructions(reconstructionMoment, rank)
                        : ExplainerSubspace.of(trained.decoder(), rank),
                baseline,
                reconstructionMoment);
    }

    /** Returns the geometry of a site from the trained decoder's subspace at the rank to watch. */
    public static SiteGeometry of(
            ExplainerSubspace explainer, SecondMoment baseline, @Nullable Matrix reconstructionMoment) {
        requireDimension("the baseline", explainer.dimension(), baseline.dimension());
        if (reconstructionMoment != null) {
            requireDimension("the moment of reconstructions", explainer.dimension(), reconstructionMoment.columns());
        }
        ActiveSubspace subspace = ActiveSubspace.leadingOnly(baseline.matrix(), explainer.rank(), null);
        return new SiteGeometry(
                explainer,
                baseline,
                subspace,
                reconstructionMoment == null
                        ? null
                        : ActiveSubspace.leadingOnly(reconstructionMoment, explainer.rank(), null),
                subspace.subspace().basis());
    }

    /**
     * Returns this site's geometry against another baseline, for judging a window of the baseline against the rest of
     * it. The decoder is not decomposed again, and of the other baseline's moments only the leading eigenspaces are
     * found ({@link ActiveSubspace#leadingOnly}), beginning with those of this one.
     */
    public SiteGeometry withBaseline(SecondMoment other, @Nullable Matrix reconstructionMoment) {
        requireDimension("the baseline", dimension(), other.dimension());
        if (reconstructionMoment != null) {
            requireDimension("the moment of reconstructions", dimension(), reconstructionMoment.columns());
        }
        return new SiteGeometry(
                explainer,
                other,
                ActiveSubspace.leadingOnly(other.matrix(), rank, start),
                reconstructionMoment == null
                        ? null
                        : ActiveSubspace.leadingOnly(
                                reconstructionMoment,
                                rank,
                                reconstruction == null
                                        ? null
                                        : reconstruction.subspace().basis()),
                start);
    }

    public int rank() {
        return rank;
    }

    public int dimension() {
        return explainer.dimension();
    }

    /** Returns the subspace of the trained decoder. */
    public ExplainerSubspace explainerSubspace() {
        return explainer;
    }

    public ActiveSubspace baselineSubspace() {
        return baseline;
    }

    public SecondMoment baselineMoment() {
        return baselineMoment;
    }

    /**
     * Returns every statistic that the moment of one window's target rows gives.
     *
     * <p>A window of fewer rows than the rank is not decomposed into subspaces: its moment has rank below r, so that
     * its rank-r eigenspace is arbitrary. Its shifts and losses are still reported. What comes from elsewhere, such as
     * {@link Statistic#RECONSTRUCTION_FVU_TRAINED}, is undefined until it is added ({@link GapAssessment#with}).
     *
     * @throws IllegalArgumentException if the window has another dimension or no rows
     */
    public GapAssessment assess(SecondMoment window) {
        return assess(window, activeSubspace(window));
    }

    /**
     * The active subspace of a window at this site's rank: one eigendecomposition, most of what an assessment costs.
     *
     * @throws IllegalArgumentException if the window has another dimension or no rows
     */
    public ActiveSubspace activeSubspace(SecondMoment window) {
        requireDimension("the window", dimension(), window.dimension());
        if (window.rows() == 0) {
            throw new IllegalArgumentException("the window has no rows: there is nothing to assess");
        }
        return ActiveSubspace.leadingOnly(window.matrix(), rank, start);
    }

    /**
     * Assesses as {@link #assess(SecondMoment)} does, for a caller that needs the subspace too.
     *
     * @param active {@link #activeSubspace} of this window
     */
    public GapAssessment assess(SecondMoment window, ActiveSubspace active) {
        return assess(window, active, explainer.subspace(), explainerReason);
    }

    /**
     * Assesses a window that brought reconstructions, as {@link #assess(SecondMoment, ActiveSubspace)} does others:
     * their active subspace stands in the place of the explainer's.
     *
     * @param reconstructionMoment {@code E[ŷ ŷᵀ]} over the window's rows, d x d
     */
    public GapAssessment assess(SecondMoment window, ActiveSubspace active, Matrix reconstructionMoment) {
        requireDimension("the moment of reconstructions", dimension(), reconstructionMoment.columns());
        ActiveSubspace given = ActiveSubspace.leadingOnly(reconstructionMoment, rank, start);
        return assess(
                window, active, given.subspace(), Reasons.moment("the window's reconstructions", window.rows(), given));
    }

    private GapAssessment assess(
            SecondMoment window, ActiveSubspace active, Subspace reference, @Nullable String referenceReason) {
        MomentShift shift = MomentShift.between(baseline.moment(), active.moment());
        double trace = window.trace();
        Apart fromReference = Apart.of(reference, active.subspace());
        Apart fromBaseline = Apart.of(baseline.subspace(), active.subspace());
        List<EnergyTerms> lost = EnergyTerms.of(List.of(fromReference, fromBaseline), active);
        EnergyTerms lostByExplainer = lost.get(0);
        EnergyTerms lostByBaseline = lost.get(1);
        DavisKahanBounds bounds = DavisKahanBounds.of(baseline, active, shift);
        FaithfulnessGapBounds gapBounds = FaithfulnessGapBounds.of(active, lostByExplainer);
        FaithfulnessGap gap = FaithfulnessGap.of(fromReference);

        String noEigengap = rank == dimension() ? Reasons.WHOLE_SPACE : null;
        String noChance = noEigengap == null ? null : "rank = dimension: chance has no gap";
        String noEnergy = trace > 0.0 ? null : "every row of the window is 0";
        String noWindow = Reasons.moment("the window", window.rows(), active);
        String noGap = unless(referenceReason, noWindow);
        String noBaselineGap = unless(baselineReason, noWindow);
        String noBound = noEigengap == null
                ? "the spectra of baseline and window overlap at the rank: this bound does not exist"
                : noEigengap;
        return new AssessmentBuilder()
                .put(SECOND_MOMENT_SHIFT, null, shift::norm)
                .put(SECOND_MOMENT_SHIFT_RATIO, null, () -> shift.norm() / baselineNorm)
                .put(EIGENGAP_BASELINE, noEigengap, () -> eigengap(baseline))
                .put(EIGENGAP_WINDOW, noEigengap, () -> eigengap(active))
                .put(FAITHFULNESS_GAP, noGap, gap::value)
                .put(BASELINE_GAP, noBaselineGap, () -> FaithfulnessGap.of(fromBaseline)
                        .value())
                .put(EXPLAINER_BASELINE_GAP, unless(explainerReason, baselineReason), () -> explainerBaselineGap)
                .put(LARGEST_GAP, null, gap::largest)
                .put(GAP_SHARE, noGap, gap::share)
                .put(CHANCE_NORMALISED_GAP, unless(noGap, noChance), () -> gap.chanceNormalised()
                        .orElseThrow())
                .put(SUBSPACE_OVERLAP, noGap, gap::overlap)
                .put(EXPLAINER_DEPENDENT_LOSS, referenceReason, lostByExplainer::explainerDependent)
                .put(PROJECTION_LOSS, referenceReason, lostByExplainer::total)
                .put(IRREDUCIBLE_LOSS, null, lostByExplainer::irreducible)
                .put(ETA, referenceReason, lostByExplainer::eta)
                .put(DAVIS_KAHAN_AS_PRINTED, noBaselineGap, bounds.asPrinted(), noBound)
                .put(DAVIS_KAHAN_VALID, noBaselineGap, bounds.valid(), noBound)
                .put(DAVIS_KAHAN_BOTH_SPECTRA, noBaselineGap, bounds.bothSpectra(), noBound)
                .put(DAVIS_KAHAN_WATER_FILLING, noBaselineGap, bounds.waterFilling(), noBound)
                .put(GAP_LOWER_BOUND, noGap, gapBounds::lower)
                .put(GAP_UPPER_BOUND, noGap, gapBounds::upper)
                .put(TOP_EIGENVALUE_SHARE, noEnergy, () -> active.largestEigenvalue() / trace)
                .put(RECONSTRUCTION_GAP, unless(reconstructionReason, noWindow), () -> reconstructionGap(active))
                .put(
                        EXPLAINER_DEPENDENT_SHARE,
                        unless(referenceReason, noEnergy),
                        () -> lostByExplainer.explainerDependent() / trace)
                .put(RESIDUAL_ENERGY, unless(baselineReason, noEnergy), () -> lostByBaseline.total() / trace)
                .put(WHITENED_MEAN_SHIFT, null, () -> whitenedMeanShift(window.mean()))
                .put(SUBSPACE_SINE_BOUND, noWindow, () -> active.sineBound() + knownSineBound())
                .build(
                        window.rows(),
                        dimension(),
                        rank,
                        unless(noBaselineGap, noEigengap) == null ? bounds.certified() : null,
                        noGap == null ? anglesOf(fromReference) : null);
    }

    /** Returns how far the fixed subspaces may be off; a gap to one that is not determined is not told. */
    private double knownSineBound() {
        double ofBaseline = Double.isFinite(baseline.sineBound()) ? baseline.sineBound() : 0.0;
        return ofBaseline + explainer.sineBound();
    }

    private static double eigengap(ActiveSubspace subspace) {
        return subspace.eigengap().orElseThrow();
    }

    private double reconstructionGap(ActiveSubspace active) {
        return FaithfulnessGap.between(Objects.requireNonNull(reconstruction).subspace(), active.subspace())
                .value();
    }

    private static List<Double> anglesOf(Apart two) {
        double[] angles = PrincipalAngles.of(two);
        return Arrays.stream(angles).boxed().toList();
    }

    /** Returns {@code (δᵀ (M_ID + ridge I)⁻¹ δ)^½}, δ the shift of the mean. */
    private double whitenedMeanShift(double[] mean) {
        double[] shift = new double[mean.length];
        for (int i = 0; i < mean.length; i++) {
            shift[i] = mean[i] - baselineMean[i];
        }
        double[] solution =
                solveWithBaseline(new Matrix(shift.length, 1, shift)).values();
        return Math.sqrt(Kernels.dot(shift, 0, solution, 0, shift.length));
    }

    /** Solves for {@code (M_ID + ridge I)⁻¹ b}, one thread at a time. */
    private synchronized Matrix solveWithBaseline(Matrix b) {
        Cholesky factor = whitening;
        if (factor == null) {
            int d = b.rows();
            double ridge = WHITENING_RIDGE * baselineMoment.trace() / d;
            double[] moment = baseline.moment().values();
            factor = Cholesky.of(d, (i, row) -> {
                System.arraycopy(moment, i * d + i, row, i, d - i);
                row[i] += ridge;
            });
            whitening = factor;
        }
        return factor.solve(b);
    }

    private static void requireDimension(String what, int expected, int actual) {
        if (expected != actual) {
            throw new IllegalArgumentException(
                    "%s has dimension %d: the decoder writes in dimension %d".formatted(what, actual, expected));
        }
    }
}
