package io.plumbline.geometry;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * Everything about a site that does not depend on the window, computed once, and the assessment of a window against it.
 *
 * <p><b>Cost.</b> Construction: one decomposition of the decoder and one or two of d x d moments. A window: its leading
 * eigenspace ({@link ActiveSubspace#leadingOnly}) and products of {@code O(d^2 r)}. <b>Size.</b> About
 * {@code 30 d^2} bytes: three eigenbases and a moment.
 *
 * <p>Immutable after construction; any number of threads may assess.
 */
public final class SiteGeometry {

    /** Share of the mean eigenvalue that is added when the mean shift is whitened. */
    private static final double WHITENING_RIDGE = 1e-6;

    private final int rank;
    private final ExplainerSubspace explainer;
    private final SecondMoment baselineMoment;
    private final Matrix baselineMatrix;
    private final double[] baselineMean;
    private final double baselineNorm;
    private final ActiveSubspace baseline;

    /** Where the search for a window's subspace begins: fixed, so that the same window always gives the same digits. */
    private final Matrix start;

    private final @Nullable ActiveSubspace reconstruction;
    private final @Nullable String explainerReason;
    private final @Nullable String baselineReason;
    private final @Nullable String reconstructionReason;

    private SiteGeometry(
            ExplainerSubspace explainer, SecondMoment baselineMoment, @Nullable Matrix reconstructionMoment) {
        this.rank = explainer.rank();
        this.explainer = explainer;
        this.baselineMoment = baselineMoment;
        this.baselineMatrix = baselineMoment.matrix();
        this.baselineMean = baselineMoment.mean();
        this.baselineNorm = baselineMatrix.frobeniusNorm();
        if (baselineNorm == 0.0) {
            throw new IllegalArgumentException("every row of the baseline is 0: there is nothing to compare with");
        }
        this.baseline = ActiveSubspace.topEigenspace(baselineMatrix, rank);
        this.start = baseline.eigenvectors().leadingColumns(Math.min(dimension(), 2 * rank));
        this.reconstruction =
                reconstructionMoment == null ? null : ActiveSubspace.topEigenspace(reconstructionMoment, rank);
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

    /** As above with the trained decoder's subspace, at the rank to watch. */
    public static SiteGeometry of(
            ExplainerSubspace explainer, SecondMoment baseline, @Nullable Matrix reconstructionMoment) {
        requireDimension("the baseline", explainer.dimension(), baseline.dimension());
        if (reconstructionMoment != null) {
            requireDimension("the moment of reconstructions", explainer.dimension(), reconstructionMoment.columns());
        }
        return new SiteGeometry(explainer, baseline, reconstructionMoment);
    }

    /**
     * The same site against another baseline: for judging a window of the baseline against the rest of it. The decoder is
     * not decomposed again.
     */
    public SiteGeometry withBaseline(SecondMoment other, @Nullable Matrix reconstructionMoment) {
        requireDimension("the baseline", dimension(), other.dimension());
        if (reconstructionMoment != null) {
            requireDimension("the moment of reconstructions", dimension(), reconstructionMoment.columns());
        }
        return new SiteGeometry(explainer, other, reconstructionMoment);
    }

    public int rank() {
        return rank;
    }

    public int dimension() {
        return explainer.dimension();
    }

    /** Of the trained decoder. */
    public ExplainerSubspace explainerSubspace() {
        return explainer;
    }

    public ActiveSubspace baselineSubspace() {
        return baseline;
    }

    public SecondMoment baselineMoment() {
        return baselineMoment;
    }

    /** As {@link #assess(SecondMoment, Double)}, of a window of which no row was encoded. */
    public GapAssessment assess(SecondMoment window) {
        return assess(window, null);
    }

    /**
     * Every geometric number of one window of target rows.
     *
     * <p>A window of fewer rows than the rank is not decomposed into subspaces: its moment has rank below r, so that its
     * rank-r eigenspace is arbitrary. Its shifts and losses are still reported.
     *
     * @param fvuTrained the trained decoder's FVU on rows of the window, which a moment does not give; null where it does not
     *     exist or was not measured
     * @throws IllegalArgumentException if the window has another dimension or no rows
     */
    public GapAssessment assess(SecondMoment window, @Nullable Double fvuTrained) {
        return assess(window, activeSubspace(window), fvuTrained);
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
     * As {@link #assess(SecondMoment, Double)}, for a caller that needs the subspace too.
     *
     * @param active {@link #activeSubspace} of this window
     */
    public GapAssessment assess(SecondMoment window, ActiveSubspace active, @Nullable Double fvuTrained) {
        Matrix shift = active.moment().minus(baselineMatrix);
        double shiftNorm = shift.frobeniusNorm();
        double trace = window.trace();
        EnergyTerms lostByExplainer = EnergyTerms.of(explainer.subspace(), active);
        EnergyTerms lostByBaseline = EnergyTerms.of(baseline.subspace(), active);
        DavisKahanBounds bounds = DavisKahanBounds.of(baseline, active, shift);
        FaithfulnessGapBounds gapBounds = FaithfulnessGapBounds.of(active, lostByExplainer);
        FaithfulnessGap gap = FaithfulnessGap.between(explainer.subspace(), active.subspace());

        String noEigengap = rank == dimension() ? Reasons.WHOLE_SPACE : null;
        String noEnergy = trace > 0.0 ? null : "every row of the window is 0";
        String noWindow = Reasons.moment("the window", window.rows(), active);
        String noGap = Findings.first(explainerReason, noWindow);
        String noBaselineGap = Findings.first(baselineReason, noWindow);
        String noReconstructionGap = Findings.first(reconstructionReason, noWindow);
        String noBound = rank == dimension()
                ? Reasons.WHOLE_SPACE
                : "the spectra of baseline and window overlap at the rank: this bound does not exist";
        Findings findings = new Findings();
        return new GapAssessment(
                window.rows(),
                dimension(),
                rank,
                shiftNorm,
                shiftNorm / baselineNorm,
                findings.unless(noEigengap, "eigengap_baseline", () -> eigengap(baseline)),
                findings.unless(noEigengap, "eigengap_window", () -> eigengap(active)),
                findings.unless(noGap, "faithfulness_gap", gap::value),
                findings.unless(noBaselineGap, "baseline_gap", () -> gapTo(baseline.subspace(), active)),
                findings.unless(
                        Findings.first(explainerReason, baselineReason),
                        "explainer_baseline_gap",
                        () -> gapTo(explainer.subspace(), baseline)),
                gap.largest(),
                findings.unless(noGap, "gap_share", gap::share),
                findings.unless(
                        Findings.first(noGap, noEigengap == null ? null : "rank = dimension: chance has no gap"),
                        "chance_normalised_gap",
                        () -> gap.chanceNormalised().orElseThrow()),
                findings.unless(noGap, "subspace_overlap", gap::overlap),
                findings.unless(explainerReason, "explainer_dependent_loss", lostByExplainer::explainerDependent),
                findings.unless(explainerReason, "projection_loss", lostByExplainer::total),
                lostByExplainer.irreducible(),
                findings.unless(explainerReason, "eta", lostByExplainer::eta),
                findings.bound(noBaselineGap, "davis_kahan_as_printed", bounds.asPrinted(), noBound),
                findings.unless(Findings.first(noBaselineGap, noEigengap), "davis_kahan_certified", bounds::certified),
                findings.bound(noBaselineGap, "davis_kahan_valid", bounds.valid(), noBound),
                findings.bound(noBaselineGap, "davis_kahan_both_spectra", bounds.bothSpectra(), noBound),
                findings.bound(noBaselineGap, "davis_kahan_water_filling", bounds.waterFilling(), noBound),
                findings.unless(noGap, "gap_lower_bound", gapBounds::lower),
                findings.bound(noGap, "gap_upper_bound", gapBounds.upperBound(), noBound),
                findings.unless(noEnergy, "top_eigenvalue_share", () -> active.largestEigenvalue() / trace),
                findings.unless(noGap, "principal_angles", () -> anglesTo(active)),
                findings.unless(noReconstructionGap, "reconstruction_gap", () -> reconstructionGap(active)),
                findings.unless(
                        Findings.first(explainerReason, noEnergy),
                        "explainer_dependent_share",
                        () -> lostByExplainer.explainerDependent() / trace),
                findings.unless(
                        Findings.first(baselineReason, noEnergy),
                        "residual_energy",
                        () -> lostByBaseline.total() / trace),
                whitenedMeanShift(window.mean()),
                findings.unless(
                        fvuTrained == null ? "no rows were encoded, or those that were do not vary" : null,
                        "reconstruction_fvu_trained",
                        () -> Objects.requireNonNull(fvuTrained)),
                findings.unless(noWindow, "subspace_sine_bound", active::sineBound),
                findings.vacuous(),
                findings.undefined());
    }

    private static double eigengap(ActiveSubspace subspace) {
        return subspace.eigengap().orElseThrow();
    }

    private static double gapTo(Subspace reference, ActiveSubspace active) {
        return FaithfulnessGap.between(reference, active.subspace()).value();
    }

    private double reconstructionGap(ActiveSubspace active) {
        return gapTo(Objects.requireNonNull(reconstruction).subspace(), active);
    }

    private List<Double> anglesTo(ActiveSubspace active) {
        double[] angles = PrincipalAngles.between(explainer.subspace(), active.subspace());
        return Arrays.stream(angles).boxed().toList();
    }

    /** In the eigenbasis of M_ID: each coordinate of the mean's shift over the root of its (ridged) eigenvalue. */
    private double whitenedMeanShift(double[] mean) {
        int d = mean.length;
        double[] coordinates = new double[d];
        for (int i = 0; i < d; i++) {
            Kernels.addScaled(mean[i] - baselineMean[i], baseline.eigenvectors().values(), i * d, coordinates, 0, d);
        }
        double ridge = WHITENING_RIDGE * baselineMoment.trace() / mean.length;
        double sum = 0.0;
        for (int i = 0; i < mean.length; i++) {
            // An eigenvalue that is 0 may have been rounded to below it.
            sum += coordinates[i] * coordinates[i] / (Math.max(baseline.eigenvalues()[i], 0.0) + ridge);
        }
        return Math.sqrt(sum);
    }

    private static void requireDimension(String what, int expected, int actual) {
        if (expected != actual) {
            throw new IllegalArgumentException(
                    "%s has dimension %d: the decoder writes in dimension %d".formatted(what, actual, expected));
        }
    }
}
