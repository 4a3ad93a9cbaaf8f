package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.DictionarySpace;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.geometry.FaithfulnessGap;
import io.plumbline.geometry.Subspace;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampleSplit;
import io.plumbline.moments.SecondMoment;
import io.plumbline.parallel.Cores;
import io.plumbline.refit.Identifiability;
import io.plumbline.refit.Reconstruction;
import io.plumbline.refit.SampleRows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;

/**
 * The last check before a refit goes into service, on rows that it was neither fitted on nor chosen by.
 *
 * <p><b>Improvement.</b> The FVU must fall by the given share, and the interval of that share over requests
 * ({@link PairedImprovement}) must exclude zero.
 *
 * <p><b>The latest requests</b>, {@value SampleSplit#LEAST_TO_JUDGE} of those judged on, must gain as much as is asked
 * for, and at most 10 points less than all, up to their own interval: where a drift has ended or given way to another
 * within the window, the gain on all of it says little of later rows.
 *
 * <p><b>Gap.</b> Both gaps are measured anew, at the rank the site is watched at, against the active subspace of the
 * held-out rows; the gap that Step 1 closes by construction is not evidence. The new one may be larger by a stated
 * share of the largest possible gap, 1 % by default. Two gaps to the same subspace share its sampling error, but not
 * all of it: where both are nearly the largest possible, which is common at small ranks, they differ by sampling in the
 * fourth digit, and a rule without tolerance refuses good refits for it. An interval over requests was not taken here:
 * it would need an eigendecomposition for every request left out, and a test that passes what it cannot tell would pass
 * most with fewest rows. Rows that do not identify a subspace, or a decoder whose own is not identified, mean refusal:
 * what cannot be checked is not published.
 *
 * <p><b>Features.</b> No column may turn away from its trained direction, shrink or grow beyond the limits, but for a
 * share of them that is 0 by default. All columns count, also of features that were not active in the window: they are
 * the ones that speak when traffic changes again.
 *
 * <p><b>Cost in distribution.</b> On rows of the baseline the FVU may be above the trained decoder's by at most the
 * limit. This is a refusal and not only a figure, though the site returns to the trained decoder by itself: the return
 * takes the windows of the debounce, and a window can be drifted while much of its traffic is not. It is generous, as
 * the price is paid for a while only. Without such rows the test passes and says so.
 *
 * <p><b>Behaviour</b> ({@link Behaviour}), where the rest of the model is at hand: with the refit's reconstructions in
 * place the model must be nearer to itself, beyond chance.
 *
 * <p><b>Watched features</b> ({@link WatchedColumns}), where there are any: a refit that hurts one is refused, however
 * much it gains.
 *
 * @param behaviour judges by what the model does; null where the rest of the model is not at hand
 * @param watched features that somebody relies on; none: that is not tested
 */
public record SwapGate(GateLimits limits, @Nullable BehaviourJudge behaviour, List<Integer> watched) {

    /** The share of the error by which the latest requests may gain less than all. */
    private static final double LARGEST_DECLINE = 0.1;

    /** The rounding by which two gaps of one subspace differ when they are computed from different bases. */
    private static final double GAP_ROUNDING = 1e-9;

    public SwapGate {
        watched = List.copyOf(watched);
    }

    /** Judges by rows alone. */
    public SwapGate(GateLimits limits) {
        this(limits, null);
    }

    /** Judges where no feature is watched. */
    public SwapGate(GateLimits limits, @Nullable BehaviourJudge behaviour) {
        this(limits, behaviour, List.of());
    }

    /**
     * Judges a decoder by the leading eigenspaces of two or three d x d matrices, and a few passes over the weights;
     * {@code k d^2} flops for a decoder other than the trained one where neither its {@code W W^T} nor its leading
     * directions are known.
     *
     * @param heldOut rows to judge on, requests in the order of their times
     * @param idRows rows of the baseline that took no part in the fit; null where there are none
     */
    public GateDecision judge(SiteDecoders site, Proposal proposal, SampleRows heldOut, @Nullable SampleRows idRows) {
        Decoder trained = site.trained();
        Decoder current = site.current();
        Decoder proposed = proposal.decoder();
        int rank = site.rank();
        Subspace before = current.equals(trained)
                ? ofTrained(site.subspace(), rank)
                : site.serving().leading(rank);
        Matrix products = proposed.equals(current) ? null : proposal.products();
        // Side by side: either is done by one core for most of its time.
        ActiveSubspace[] spaces = new ActiveSubspace[2];
        Cores.each(2, which -> {
            if (which == 0) {
                spaces[0] = ActiveSubspace.leadingOnly(
                        SecondMoment.of(heldOut.targets()).matrix(), rank, null);
            } else if (products != null) {
                spaces[1] = ActiveSubspace.leadingOnly(products, rank, null);
            }
        });
        ActiveSubspace active = spaces[0];
        Subspace after = spaces[1] == null ? before : DictionarySpace.identified(spaces[1]);
        Matrix byCurrent = current.reconstruct(heldOut.codes());
        Matrix byProposed = proposed.reconstruct(heldOut.codes());
        double[][] errors = RequestErrors.of(byCurrent, byProposed, heldOut);
        GateDecision.Figures figures = new GateDecision.Figures(
                rank,
                Reconstruction.between(byCurrent, heldOut.targets()),
                Reconstruction.between(byProposed, heldOut.targets()),
                PairedImprovement.of(errors),
                PairedImprovement.of(latest(errors)),
                gap(active, before, after),
                gap(active, after, before),
                Math.sqrt(2.0 * Math.min(rank, trained.dimension() - rank)),
                change(trained, proposed),
                idRows == null ? null : Reconstruction.of(trained, idRows.codes(), idRows.targets()),
                idRows == null ? null : Reconstruction.of(proposed, idRows.codes(), idRows.targets()));
        GateDecision decided = decide(figures);
        GateDecision byRows = watched.isEmpty()
                ? decided
                : decided.with(
                        new WatchedColumns(watched).on(heldOut, trained, current, proposed, byCurrent, byProposed));
        return behaviour == null || proposed.equals(current)
                ? byRows
                : byRows.with(behaviour.judge(trained, current, proposed));
    }

    /** Returns what candidates are chosen by where that is the model; null: by FVU. */
    @Nullable
    BehaviourChoice choice() {
        return behaviour == null ? null : behaviour.choice();
    }

    private static double[][] latest(double[][] errors) {
        return Arrays.copyOfRange(errors, Math.max(0, errors.length - SampleSplit.LEAST_TO_JUDGE), errors.length);
    }

    /**
     * Applies the tests that need no rows of the window: {@code features}, {@code id_cost}, and parts of
     * {@code watched} and {@code behaviour}.
     */
    List<GateTest> withoutTheWindow(Decoder trained, Decoder proposed, @Nullable SampleRows idRows) {
        List<GateTest> tests = new ArrayList<>();
        tests.add(features(change(trained, proposed)));
        tests.add(idCost(
                idRows == null ? null : Reconstruction.of(trained, idRows.codes(), idRows.targets()),
                idRows == null ? null : Reconstruction.of(proposed, idRows.codes(), idRows.targets())));
        if (!watched.isEmpty()) {
            tests.add(turns(trained, proposed));
        }
        if (behaviour != null) {
            tests.add(behaviour.inDistribution(trained, proposed));
        }
        return tests;
    }

    /** Applies the rules alone, to numbers measured elsewhere. */
    GateDecision decide(GateDecision.Figures figures) {
        return new GateDecision(
                figures,
                null,
                List.of(
                        improvement(figures),
                        gap(figures),
                        features(figures.features()),
                        idCost(figures.idTrained(), figures.idProposed())));
    }

    FeatureChange change(Decoder trained, Decoder proposed) {
        return FeatureChange.between(
                trained.weights(), proposed.weights(), limits.minimumCosine(), limits.maximumNormRatio());
    }

    /** Tests whether watched features keep the directions of their columns; passes where there are none. */
    GateTest turns(Decoder trained, Decoder proposed) {
        return new WatchedColumns(watched).turns(trained, proposed);
    }

    /** Returns whether few enough features are beyond the limits. */
    boolean allows(FeatureChange change) {
        return change.beyond() <= limits.changedFeatures() * change.features();
    }

    private GateTest improvement(GateDecision.Figures figures) {
        PairedImprovement paired = figures.improvement();
        // Written so that NaN refuses.
        boolean gains = paired.share() > 0.0 && paired.share() >= limits.minimumImprovement() && paired.lower() > 0.0;
        double expected = Math.max(limits.minimumImprovement(), paired.share() - LARGEST_DECLINE);
        boolean lasts = figures.latest().upper() >= expected;
        String found = text(
                "held-out FVU %.4f -> %.4f: %s, expected at least %.1f %% and an interval above 0",
                figures.before().fvu(), figures.after().fvu(), paired.describe(), 100.0 * limits.minimumImprovement());
        String latest = text(
                "; over the latest %d requests %.1f %% (at most %.1f), expected %.1f %%: that drift is over, or"
                        + " another has come",
                figures.latest().requests(),
                100.0 * figures.latest().share(),
                100.0 * figures.latest().upper(),
                100.0 * expected);
        return new GateTest(GateTest.IMPROVEMENT, gains && lasts, gains && !lasts ? found + latest : found);
    }

    private GateTest gap(GateDecision.Figures figures) {
        Double before = figures.gapBefore();
        Double after = figures.gapAfter();
        if (before == null || after == null) {
            return new GateTest(
                    GateTest.GAP,
                    false,
                    "the gap on the %d held-out rows cannot be measured: a subspace of rank %d is not identified"
                            .formatted(figures.before().rows(), figures.rank()));
        }
        double allowed = limits.maximumGapGrowth() * figures.largestGap() + GAP_ROUNDING;
        return new GateTest(
                GateTest.GAP,
                after - before <= allowed,
                text(
                        "held-out gap of rank %d %.4f -> %.4f of at most %.4f, may grow by %.4f",
                        figures.rank(), before, after, figures.largestGap(), allowed));
    }

    private GateTest features(FeatureChange change) {
        return new GateTest(
                GateTest.FEATURES,
                allows(change),
                text(
                        "%d of %d features beyond cosine %.2f or length ratio %.2f, may be %d; smallest cosine %.3f,"
                                + " length ratios %.3f to %.3f",
                        change.beyond(),
                        change.features(),
                        limits.minimumCosine(),
                        limits.maximumNormRatio(),
                        (int) (limits.changedFeatures() * change.features()),
                        change.smallestCosine(),
                        change.smallestNormRatio(),
                        change.largestNormRatio()));
    }

    private GateTest idCost(@Nullable Reconstruction ofTrained, @Nullable Reconstruction ofProposed) {
        if (ofTrained == null || ofProposed == null) {
            return new GateTest(
                    GateTest.ID_COST, true, "cost in distribution not measured: the baseline holds no rows");
        }
        return new GateTest(
                GateTest.ID_COST,
                ofProposed.fvu() - ofTrained.fvu() <= limits.maximumIdCost(),
                text(
                        "FVU on %d rows of the baseline %.4f -> %.4f, may be %.4f above the trained decoder",
                        ofTrained.rows(), ofTrained.fvu(), ofProposed.fvu(), limits.maximumIdCost()));
    }

    private static String text(String format, Object... values) {
        return String.format(Locale.ROOT, format, values);
    }

    /** Returns the gap to the first of two; null unless all are identified, since one gap alone says nothing. */
    private static @Nullable Double gap(ActiveSubspace active, @Nullable Subspace one, @Nullable Subspace other) {
        return one == null || other == null || !active.isIdentified()
                ? null
                : FaithfulnessGap.between(active.subspace(), one).value();
    }

    /** Returns the trained decoder's subspace; null where the decoder does not determine it. */
    private static @Nullable Subspace ofTrained(ExplainerSubspace known, int rank) {
        return Identifiability.undecided(known, rank) == null
                ? known.ofRank(rank).subspace()
                : null;
    }

    /**
     * The decoder that is judged.
     *
     * @param gram {@code W W^T} of its weights, d x d, where it is known from how they were made
     */
    public record Proposal(Decoder decoder, @Nullable Matrix gram) {

        private Matrix products() {
            return gram == null ? DictionarySpace.gram(decoder.weights()) : gram;
        }
    }
}
