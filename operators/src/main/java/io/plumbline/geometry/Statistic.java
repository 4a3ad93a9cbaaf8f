package io.plumbline.geometry;

import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import org.jspecify.annotations.Nullable;

/**
 * The statistics of a window: what configuration can name as {@code trigger}, what reports and {@code --json} carry,
 * what baselines keep clean values of and, those of {@link #shown}, what {@code /metrics} and the console show. All of
 * these go through this list, so that a statistic is one entry here and one computation: in {@link SiteGeometry} where
 * the window's moment gives it, by {@link GapAssessment#with} elsewhere.
 *
 * <p>The order is that of the keys in a report.
 */
public enum Statistic {
    /** {@code ‖M_OOD − M_ID‖_F}. */
    SECOND_MOMENT_SHIFT(energy("Frobenius norm of the difference of the second moments of window and baseline")),
    /** The second-moment shift divided by {@code ‖M_ID‖_F}. */
    SECOND_MOMENT_SHIFT_RATIO(
            pure("Second-moment shift divided by the Frobenius norm of the baseline's second moment; may exceed 1")
                    .exportedAs("second_moment_relative_shift")
                    .measuringDrift()),
    /** {@code λ_r − λ_{r+1}} of M_ID. */
    EIGENGAP_BASELINE(energy("Eigengap at the rank of the second moment of the baseline")
            .exportedAs("eigengap", "moment", "baseline")),
    /** {@code λ_r − λ_{r+1}} of M_OOD. */
    EIGENGAP_WINDOW(energy("Eigengap at the rank of the second moment of the window")
            .exportedAs("eigengap", "moment", "window")),
    /** {@code ‖Π_OOD − Π_dec‖_F}, the paper's own statistic. */
    FAITHFULNESS_GAP(gap("Faithfulness gap: Frobenius norm of the difference of the projectors onto the active and the"
                    + " explainer subspace")
            .measuringDrift()),
    /** {@code ‖Π_OOD − Π_ID‖_F}, what the Davis-Kahan bounds speak about. */
    BASELINE_GAP(gap("Frobenius gap between the active subspace of the window and that of the baseline")
            .measuringDrift()),
    /** {@code ‖Π_dec − Π_ID‖_F}, a constant of the site. */
    EXPLAINER_BASELINE_GAP(gap("Frobenius gap between the explainer subspace and the active subspace of the baseline")),
    /** {@code √(2 min(r, d−r))}. */
    LARGEST_GAP(pure("Largest gap that rank and dimension allow: sqrt(2 min(r, d - r))")),
    /** Faithfulness gap / largest gap. */
    GAP_SHARE(share("Faithfulness gap as a share of the largest possible one")),
    /** {@code Δ² / (2 r (1 − r/d))}. */
    CHANCE_NORMALISED_GAP(
            pure("Squared faithfulness gap divided by its expectation for two random subspaces: 1 is chance")),
    /** {@code ‖U_decᵀ U_OOD‖_F² / r}. */
    SUBSPACE_OVERLAP(share("Overlap of the active and the explainer subspace: 1 is the same subspace")),
    /** {@code L(Π_dec) − L(Π_OOD)}. */
    EXPLAINER_DEPENDENT_LOSS(
            energy("Projection loss minus irreducible loss: what a better subspace would win, per row")),
    /** {@code L(Π_dec) = tr((I − Π_dec) M_OOD)}. */
    PROJECTION_LOSS(energy("Energy of the window outside the explainer subspace, per row")),
    /** {@code L(Π_OOD)}. */
    IRREDUCIBLE_LOSS(energy("Energy of the window outside its own active subspace, per row")),
    /** Explainer-dependent loss / projection loss. */
    ETA(share("Explainer-dependent loss as a share of the projection loss").measuringDrift()),
    /** The bound the paper prints: one only where it is certified, see {@link DavisKahanBounds}. */
    DAVIS_KAHAN_AS_PRINTED(
            bound("Bound on the gap to the baseline as the paper prints it; one only where it is certified")
                    .above(BASELINE_GAP)
                    .whereCertified()),
    /** {@link DavisKahanBounds#valid()}. */
    DAVIS_KAHAN_VALID(bound("Bound on the gap to the baseline from the baseline's eigengap, always valid")
            .above(BASELINE_GAP)),
    /** {@link DavisKahanBounds#bothSpectra()}. */
    DAVIS_KAHAN_BOTH_SPECTRA(bound("Bound on the gap to the baseline from the spectra of baseline and window")
            .above(BASELINE_GAP)),
    /** {@link DavisKahanBounds#waterFilling()}. */
    DAVIS_KAHAN_WATER_FILLING(
            bound("Bound on the gap to the baseline by water filling, never above the largest possible gap")
                    .above(BASELINE_GAP)),
    /** {@link FaithfulnessGapBounds#lower()}. */
    GAP_LOWER_BOUND(bound("Lower bound on the faithfulness gap")
            .below(FAITHFULNESS_GAP)
            .exportedAs("gap_bound", "bound", "lower")),
    /** {@link FaithfulnessGapBounds#upper()}. */
    GAP_UPPER_BOUND(bound("Upper bound on the faithfulness gap")
            .above(FAITHFULNESS_GAP)
            .exportedAs("gap_bound", "bound", "upper")),
    /** {@code λ_1 / tr M_OOD}; near 1 one direction (often one special token) is everything. */
    TOP_EIGENVALUE_SHARE(
            share("Share of the window's energy in its first eigenvector; near 1 one token or coordinate dominates")),
    /**
     * The faithfulness gap with the leading eigenspace of the baseline's reconstructions as the explainer's subspace.
     */
    RECONSTRUCTION_GAP(
            gap("Frobenius gap between the active subspace and the top eigenspace of the explainer's reconstructions"
                            + " of the baseline")
                    .measuringDrift()),
    /** Explainer-dependent loss / {@code tr M_OOD}. */
    EXPLAINER_DEPENDENT_SHARE(share("Explainer-dependent loss as a share of the window's whole energy")
            .exportedAs("explainer_dependent")
            .measuringDrift()),
    /** {@code tr((I − Π_ID) M_OOD) / tr M_OOD}. */
    RESIDUAL_ENERGY(share("Share of the window's energy outside the active subspace of the baseline")
            .measuringDrift()),
    /** {@code ‖(M_ID + ridge I)^(−1/2) (mean − mean_ID)‖}, ridge = 1e-6 of the mean eigenvalue. */
    WHITENED_MEAN_SHIFT(pure("Distance of the window's mean from the baseline's, in the baseline's own standard units")
            .measuringDrift()),
    /** The trained decoder's fraction of variance unexplained on the head of the window's row sample. */
    RECONSTRUCTION_FVU_TRAINED(
            pure("Fraction of variance the trained decoder leaves unexplained on the window's sampled rows; may"
                            + " exceed 1")
                    .exportedAs("fraction_of_variance_unexplained", "decoder", "trained")
                    .reaching(1.0)
                    .measuringDrift()
                    .from(Source.CODES)),
    /**
     * A proven upper bound of {@code ‖sin ∠‖_F} between the computed and the true active subspace of the window, see
     * {@link ActiveSubspace#sineBound}, with what the fixed subspaces of the site may be off; every gap is right within
     * {@code √2} times it.
     */
    SUBSPACE_SINE_BOUND(
            pure("Proven bound of the sine of the angle between the computed and the true active subspace of the"
                    + " window; 0 from a full decomposition")),
    /** {@code ln mean exp(0.3 L)} over the window's requests, L = −ln p of the request's mean among the baseline's. */
    REQUEST_SHIFT(
            pure("How far the means of the window's requests are from the baseline's: log-mean-exp of their evidence"
                            + " -ln p; 0.36 is usual")
                    .measuringDrift()
                    .from(Source.REQUESTS)
                    .reaching(Evidence.LARGEST_COMBINED)
                    .scoringRequests()),
    /** The largest L = −ln p of the window's requests. */
    WORST_REQUEST(pure("Largest evidence -ln p of one request of the window, from its mean; at most 30")
            .measuringDrift()
            .from(Source.REQUESTS)
            .reaching(Evidence.LARGEST)
            .scoringRequests()
            .growingWithRequests()),
    /** {@code E|y − ŷ|²} of the trained decoder. */
    RECONSTRUCTION_ERROR(
            energy("Energy of the explainer's error, the mean squared length of y - yhat: over sampled rows, or"
                            + " over all where reconstructions are sent")
                    .from(Source.CODES)),
    /** {@code ln mean exp(0.3 L)} over the window's requests, L = −ln p of the request's FVU among the baseline's. */
    REQUEST_FVU(pure("How badly the trained decoder reconstructs the window's requests: log-mean-exp of their evidence"
                    + " -ln p; 0.36 is usual")
            .measuringDrift()
            .from(Source.CODES)
            .reaching(Evidence.LARGEST_COMBINED)
            .scoringRequests()),
    /** {@code ce_patched - ce_original}. */
    DELTA_CE(pure("Cross-entropy of the next token with the trained decoder's account in place, less that of the"
                    + " model itself, in nats")
            .exportedAs("delta_ce", "decoder", "trained")
            .from(Source.HEAD)),
    /** Mean of {@code KL(original || patched)} of the next token. */
    KL(pure("Divergence of the model's next token from that with the trained decoder's account in place, in nats")
            .exportedAs("kl", "decoder", "trained")
            .from(Source.HEAD)),
    /** Share of rows after which original and patched run have the same most likely token. */
    TOP1_AGREEMENT(
            share("Share of rows after which the trained decoder's account leaves the most likely next token as it was")
                    .exportedAs("top1_agreement", "decoder", "trained")
                    .from(Source.HEAD)),
    /** {@code (ce_zero - ce_patched) / (ce_zero - ce_original)}. */
    LOSS_RECOVERED(
            pure("Part of the cross-entropy lost with zeros in place that the trained decoder's account wins back;"
                            + " may leave 0 to 1")
                    .exportedAs("loss_recovered", "decoder", "trained")
                    .from(Source.HEAD)),
    /**
     * {@code ln mean exp(0.7 L)} over the window's requests, L = −ln p of the evidence of a request's mean and FVU
     * together.
     */
    REQUEST_EVIDENCE(pure("How unlike the baseline's the window's requests are in place and reconstruction together:"
                    + " log-mean-exp of their evidence -ln p; 1.2 is usual")
            .measuringDrift()
            .from(Source.CODES)
            .reaching(Evidence.LARGEST_OF_BOTH)
            .scoringRequests()),
    /** The request evidence of ranks alone, which levels from the baseline's requests hold for. */
    REQUEST_EVIDENCE_BY_RANKS(
            pure("The same from ranks among the baseline's requests alone, for a level that those promise")
                    .from(Source.CODES)
                    .scoringRequests()),
    /** The requests of a window that have a mean and encoded rows that vary. */
    REQUESTS_IN_EVIDENCE(pure("Requests of the window that were scored in place and reconstruction")
            .from(Source.CODES)),
    /** The size of the largest group that the baseline has none like; 0 where there is none of three or more. */
    NEW_GROUP(pure("Requests of the largest group of the last windows that the baseline has none like")
            .exportedAs("new_group_requests")
            .measuringDrift()
            .from(Source.REQUESTS)),
    /** The requests of the last windows that were looked at for groups. */
    REQUESTS_IN_GROUPS(pure("Requests of the last windows that were looked at for groups")
            .exportedAs("pooled_requests")
            .from(Source.REQUESTS));

    /** The unit of a statistic. */
    private enum Unit {
        /** A number without a unit that may exceed 1. */
        PURE("", ""),
        /** A share of a whole, in [0, 1]. */
        SHARE("_ratio", "0 to 1"),
        /** Squared activations, the unit of a second moment. */
        ENERGY("", "squared activations");

        private final String suffix;
        private final String words;

        Unit(String suffix, String words) {
            this.suffix = suffix;
            this.words = words;
        }
    }

    /** The part of a window that a statistic is computed from. */
    public enum Source {
        /** The second moment of its target rows, beside the baseline's. */
        MOMENT("the window's moment does not give it"),
        /** Rows of its sample, encoded. */
        CODES("no rows were encoded, or those that were do not vary"),
        /** The totals of its requests. */
        REQUESTS("there are no totals of the window's requests for this baseline, as in windows that were open when"
                + " it changed"),
        /** The rest of the model, run on whole requests of the window. */
        HEAD("the site names no rest of its model: downstream");

        private final String missing;

        Source(String missing) {
            this.missing = missing;
        }

        /** Returns why a statistic has no value where this was not there. */
        public String missing() {
            return missing;
        }
    }

    /**
     * The gap that a bound speaks of.
     *
     * @param gap the statistic it bounds
     * @param upper whether the gap lies below it, or above
     * @param always whether it is a theorem in every window, or only where it is certified
     */
    public record Bound(Statistic gap, boolean upper, boolean always) {}

    /**
     * The place of a statistic on the scrape.
     *
     * @param metric name of the family
     * @param label the label that tells the statistics of one family apart; null in a family of its own
     * @param value of that label; null exactly when that is
     */
    public record Series(
            String metric, @Nullable String label, @Nullable String value) {}

    private final String help;
    private final String unit;
    private final Source source;
    private final boolean gap;
    private final boolean measuresDrift;
    private final boolean scoresRequests;
    private final boolean growsWithRequests;
    private final @Nullable Statistic bounds;
    private final boolean upper;
    private final boolean always;
    private final double reach;
    private final String metric;
    private final @Nullable String metricLabel;
    private final @Nullable String metricLabelValue;

    Statistic(Facts facts) {
        help = facts.help;
        unit = facts.unit.words;
        source = facts.source;
        gap = facts.gap;
        measuresDrift = facts.measuresDrift;
        scoresRequests = facts.scoresRequests;
        growsWithRequests = facts.growsWithRequests;
        bounds = facts.bounds;
        upper = facts.upper;
        always = facts.always;
        reach = facts.reach;
        metric = "plumbline_" + (facts.metric == null ? label() : facts.metric) + facts.unit.suffix;
        metricLabel = facts.metricLabel;
        metricLabelValue = facts.metricLabelValue;
    }

    /** The name outside Java, in snake case: {@code faithfulness_gap}. */
    public String label() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** Returns one sentence that says what it is, without a full stop. */
    public String help() {
        return help;
    }

    /** Returns the unit in words; empty for a number without one. */
    public String unit() {
        return unit;
    }

    public Source source() {
        return source;
    }

    /**
     * Returns whether it is a gap between subspaces of the rank, and so has a largest possible value,
     * {@link #LARGEST_GAP}.
     */
    public boolean isGap() {
        return gap;
    }

    /**
     * Returns whether it measures drift by itself, and is no bound, no constant of the site and no other form of one
     * that does.
     */
    public boolean measuresDrift() {
        return measuresDrift;
    }

    /** Returns whether it combines scores of single requests, so that the farthest request can be named. */
    public boolean scoresRequests() {
        return scoresRequests;
    }

    /**
     * Returns whether more requests make it larger by chance alone, as they do a maximum: clean windows promise nothing
     * for larger ones.
     */
    public boolean growsWithRequests() {
        return growsWithRequests;
    }

    /**
     * The value above which a threshold makes no sense: the largest possible one, and 1 for a fraction of variance
     * unexplained, where nothing is explained, although that may exceed 1. Empty where there is no such value.
     */
    public OptionalDouble reach(int rank, int dimension) {
        if (gap) {
            return OptionalDouble.of(FaithfulnessGap.largest(rank, dimension));
        }
        return Double.isNaN(reach) ? OptionalDouble.empty() : OptionalDouble.of(reach);
    }

    /**
     * Returns the statistics that metrics and page show: all but the linear bounds on the gap to the baseline, which
     * say nothing on the activations of a real model. Those are in reports and in {@code assess --all}.
     */
    public static List<Statistic> shown() {
        return Arrays.stream(values()).filter(Statistic::isShown).toList();
    }

    /** Returns whether metrics and page show it. */
    public boolean isShown() {
        return bounds != BASELINE_GAP;
    }

    /** Returns what it bounds; empty where it is no bound of a gap. */
    public Optional<Bound> bound() {
        return bounds == null ? Optional.empty() : Optional.of(new Bound(bounds, upper, always));
    }

    /** Returns its place on the scrape, if it is {@linkplain #isShown shown}. */
    public Series series() {
        return new Series(metric, metricLabel, metricLabelValue);
    }

    /** The statistic with this label, or empty. */
    public static Optional<Statistic> find(String label) {
        return Arrays.stream(values())
                .filter(statistic -> statistic.label().equals(label))
                .findFirst();
    }

    private static Facts pure(String help) {
        return new Facts(help, Unit.PURE);
    }

    private static Facts share(String help) {
        return new Facts(help, Unit.SHARE).reaching(1.0);
    }

    private static Facts energy(String help) {
        return new Facts(help, Unit.ENERGY);
    }

    private static Facts gap(String help) {
        Facts facts = pure(help);
        facts.gap = true;
        return facts;
    }

    private static Facts bound(String help) {
        return pure(help);
    }

    /** Collects the facts about an entry while it is written down. */
    private static final class Facts {
        private final String help;
        private final Unit unit;
        private Source source = Source.MOMENT;
        private boolean gap;
        private boolean measuresDrift;
        private boolean scoresRequests;
        private boolean growsWithRequests;
        private @Nullable Statistic bounds;
        private boolean upper;
        private boolean always = true;
        private double reach = Double.NaN;
        private @Nullable String metric;
        private @Nullable String metricLabel;
        private @Nullable String metricLabelValue;

        Facts(String help, Unit unit) {
            this.help = help;
            this.unit = unit;
        }

        Facts from(Source other) {
            source = other;
            return this;
        }

        Facts measuringDrift() {
            measuresDrift = true;
            return this;
        }

        Facts scoringRequests() {
            scoresRequests = true;
            return this;
        }

        Facts growingWithRequests() {
            growsWithRequests = true;
            return this;
        }

        Facts reaching(double value) {
            reach = value;
            return this;
        }

        Facts above(Statistic bounded) {
            bounds = bounded;
            upper = true;
            return this;
        }

        Facts below(Statistic bounded) {
            bounds = bounded;
            return this;
        }

        Facts whereCertified() {
            always = false;
            return this;
        }

        /** Exports it as a family of its own under another name than the label's. */
        Facts exportedAs(String name) {
            metric = name;
            return this;
        }

        /** Exports it as one series of a family that several share. */
        Facts exportedAs(String family, String label, String value) {
            metricLabel = label;
            metricLabelValue = value;
            return exportedAs(family);
        }
    }
}
