package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.refit.FittedDecoder;
import io.plumbline.refit.FittedRows;
import io.plumbline.refit.GaeSettings;
import io.plumbline.refit.Identifiability;
import io.plumbline.refit.Refit;
import io.plumbline.refit.RefitInputs;
import io.plumbline.refit.Regularisation;
import io.plumbline.refit.Rotation;
import io.plumbline.refit.Rotations;
import io.plumbline.refit.SampleRows;
import io.plumbline.wire.DType;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Tries a small set of candidates on the fitting rows and takes the one that reconstructs the rows to choose by best,
 * by FVU or by what the model then does ({@link BehaviourChoice}), among those that stay within what the gate allows
 * features, watched ones more strictly, and traffic in distribution. "Keep the current decoder" is always among them
 * and wins ties. The chosen one is fitted again on everything but the rows to judge on ({@link GatedAdaptation} fits
 * what passed on these too).
 *
 * <p><b>A single candidate</b> has no rival to be compared with: it is fitted once, on everything but the rows to judge
 * on, and has figures on these rows only. Whether it is better than the decoder in service is what the gate tests, on
 * rows that had no part in it; where it is not determined the decoder in service is kept.
 *
 * <p><b>Default set</b>, for a site watched at rank g in dimension d, relative lambdas as geometric/preservation:
 *
 * <pre>
 * rank  rotation   lambdas           alpha
 * -     -          -                 -      trained weights, new bias
 * d     printed    0/1  0/3          0      a ridge refit towards the trained decoder
 * d     printed    0/0.25            0      the weakest, where there are anchors
 * d     printed    0/10              0      the strongest, where there are none
 * d     printed    0/1               0.5
 * g     printed    0/1  2/1          0      the paper's form
 * g     full rank  0/1  2/1          0
 * 4g    printed    2/1               0
 * 4g    full rank  0/1               0
 * </pre>
 *
 * The levels 1, 3 and 10 bracket the best one measured on a real SAE at 1,600 and 2,048 rows (between 1 and 3 under a
 * language shift; the strongest does least harm on traffic that has not drifted). Lambdas are chosen so that all
 * settings share three ridge levels.
 *
 * <p><b>Anchors.</b> Rows of the baseline can be fitted on beside those of the window, with the <em>trained decoder's
 * answers</em> as their targets: the refit is free where the window is and held where traffic was. On a recorded
 * encoder and 1,024 such rows this took the cost in distribution of the level 3 from .062 to .016 of FVU (autoencoder,
 * German) and from .154 to .033 (transcoder), at .000 and .016 on later drifted rows.
 *
 * <p><b>Cost.</b> Shared by all candidates ({@link io.plumbline.refit.PlannedRefits}): for each ridge level one
 * {@code N^3/3} factorisation, two solves of {@code 2 N^2 d} and two sparse products for the rows to choose and to
 * check on, the window's leading eigenspace at two ranks, a rotation of the complement for each full-rank one. A
 * candidate is a sum of these, {@code 2 (N + n) d^2} flops for a full-rank rotation and less for others. The winner
 * again, on more rows; only decoders that may win are formed. Immutable; any number of threads.
 */
final class CandidateSearch {

    /** Types whose rounding moves a dictionary's leading directions by less than 1e-6. */
    private static final Set<DType> ROUNDS_TO_THE_SAME_SPACE = EnumSet.of(DType.F32, DType.F64);

    /** The ridge level that only refits held by anchors may have: without them it forgets traffic in distribution. */
    static final double WEAKEST = 0.25;

    /** The ridge level in its place where there are no anchors. */
    private static final double STRONGEST = 10.0;

    private final List<Candidate> candidates;

    private CandidateSearch(List<Candidate> candidates) {
        this.candidates = List.copyOf(candidates);
    }

    /**
     * Returns the documented set. Ranks that do not fit in {@code dimension} are left out.
     *
     * @param anchored whether rows of the baseline are fitted on too
     */
    public static CandidateSearch withDefaults(int watchedRank, int dimension, boolean anchored) {
        List<Candidate> candidates = new ArrayList<>();
        candidates.add(new Candidate.BiasOnly());
        candidates.add(ridge(dimension, 1.0));
        candidates.add(ridge(dimension, 3.0));
        candidates.add(ridge(dimension, anchored ? WEAKEST : STRONGEST));
        candidates.add(refit(dimension, Rotation.PRINTED, 0.0, 1.0, 0.5));
        if (watchedRank < dimension) {
            for (Rotation rotation : Rotation.values()) {
                candidates.add(refit(watchedRank, rotation, 0.0, 1.0, 0.0));
                candidates.add(refit(watchedRank, rotation, 2.0, 1.0, 0.0));
            }
        }
        int wider = Math.multiplyExact(4, watchedRank);
        if (wider < dimension) {
            candidates.add(refit(wider, Rotation.PRINTED, 2.0, 1.0, 0.0));
            candidates.add(refit(wider, Rotation.FULL_RANK, 0.0, 1.0, 0.0));
        }
        return new CandidateSearch(candidates);
    }

    /** Returns a search among these candidates; "keep the current decoder" is added to them. */
    public static CandidateSearch of(List<Candidate> candidates) {
        return new CandidateSearch(candidates);
    }

    /**
     * Runs the search. The winner comes back rounded to {@code dtype}, the type it is published in: what is judged next
     * is then what others will get. The figures of the candidates are those before rounding.
     *
     * @param gate whose limits on features and cost a candidate must keep to be chosen where there are several; what is
     *     wrong with one that was asked for by name is for the gate itself to say
     * @throws IllegalArgumentException if shapes differ, a set of rows is empty, or a rank exceeds the dimension
     * @throws ArithmeticException if the rows to refit on do not determine the winner, or the type cannot hold it
     */
    public SearchReport search(SiteDecoders site, AdaptationRows rows, SwapGate gate, DType dtype) {
        for (SampleRows part : List.of(rows.fit(), rows.choose(), rows.refit())) {
            Identifiability.requireShapes(site.trained(), site.subspace(), part.codes(), part.targets());
        }
        requireRanks(site.trained());
        return candidates.size() == 1 ? single(candidates.get(0), site, rows, dtype) : best(site, rows, gate, dtype);
    }

    private static SearchReport single(Candidate candidate, SiteDecoders site, AdaptationRows rows, DType dtype) {
        Single single = single(candidate, site.inputs(rows.refit(), rows), site.current(), dtype);
        return single.fitted() == null
                ? keeping(single.figures(), site.current())
                : made(single.fitted(), single.figures(), single.figures().get(1), dtype);
    }

    /** The figures of the decoder in service and of a single candidate, and that candidate where it has figures. */
    private record Single(
            List<SearchReport.Figures> figures, @Nullable FittedDecoder fitted) {}

    private static Single single(Candidate candidate, RefitInputs inputs, Decoder current, DType dtype) {
        FittedRows fitted = FittedRows.of(inputs);
        SearchReport.Figures keeping =
                SearchReport.Figures.onRowsFittedOn(new Candidate.KeepCurrent(), inputs.score(current, fitted));
        try {
            return candidate.fit(
                    fitted,
                    Rotations.of(inputs),
                    refit -> new Single(
                            List.of(
                                    keeping,
                                    SearchReport.Figures.onRowsFittedOn(
                                            candidate, refit.score().get(0))),
                            fitted(refit, inputs, dtype)));
        } catch (ArithmeticException e) {
            return new Single(List.of(keeping, SearchReport.Figures.refused(candidate, e)), null);
        }
    }

    /** Returns what a refit's decoder is made of, with its products where rounding does not change what they say. */
    private static FittedDecoder fitted(Refit refit, RefitInputs inputs, DType dtype) {
        return ROUNDS_TO_THE_SAME_SPACE.contains(dtype) ? refit.fitted(inputs.trainedSubspace()) : refit.fitted();
    }

    private SearchReport best(SiteDecoders site, AdaptationRows rows, SwapGate gate, DType dtype) {
        RefitInputs compared = site.inputs(rows.fit(), rows);
        Rotations rotations = Rotations.of(compared).ahead(Candidate.settings(candidates));
        List<SearchReport.Figures> all = compare(compared, rotations, rows, site.current(), gate);
        boolean onTheSameRows = rows.refit().equals(rows.fit());
        RefitInputs inputs = onTheSameRows ? compared : site.inputs(rows.refit(), rows);
        Rotations ofWinner = onTheSameRows ? rotations : Rotations.of(inputs);
        SearchReport.Figures hurting = null;
        for (SearchReport.Figures figures : betterThanTheFirst(all, gate.choice() != null)) {
            FittedDecoder fitted = fitted(figures.candidate(), inputs, ofWinner, dtype);
            SearchReport made = made(fitted, all, figures, dtype);
            FeatureChange change = gate.change(site.trained(), made.decoder());
            GateTest watched = gate.turns(site.trained(), made.decoder());
            if (gate.allows(change) && watched.passed()) {
                return made;
            }
            hurting = hurting == null && gate.allows(change) ? figures : hurting;
            all.set(
                    all.indexOf(figures),
                    figures.passedOver(
                            gate.allows(change)
                                    ? watched.finding()
                                    : "%d of %d features would change beyond the limits"
                                            .formatted(change.beyond(), change.features())));
        }
        // What hurts a watched feature is handed over where nothing else is left: the gate then refuses it by name.
        return hurting == null
                ? keeping(all, site.current())
                : made(fitted(hurting.candidate(), inputs, ofWinner, dtype), all, hurting, dtype);
    }

    /** Returns the figures of "keep the current decoder" and of every candidate. */
    private List<SearchReport.Figures> compare(
            RefitInputs inputs, Rotations rotations, AdaptationRows rows, Decoder current, SwapGate gate) {
        Comparison run = new Comparison(inputs, rows.choose(), rows.check(), gate);
        List<SearchReport.Figures> all = new ArrayList<>();
        all.add(run.keeping(current));
        List<SearchReport.Figures> found = run.figures(candidates, rotations);
        int ridgeOfOne = candidates.indexOf(ridge(inputs.trained().dimension(), 1.0));
        for (SearchReport.Figures figures : found) {
            all.add(CostInDistribution.worth(figures, ridgeOfOne < 0 ? null : found.get(ridgeOfOne)));
        }
        return all;
    }

    /** Solves a winner again, on the rows to refit on; what was solved is gone when this returns. */
    private static FittedDecoder fitted(Candidate candidate, RefitInputs inputs, Rotations rotations, DType dtype) {
        return candidate.fit(FittedRows.of(inputs), rotations, refit -> fitted(refit, inputs, dtype));
    }

    private static SearchReport keeping(List<SearchReport.Figures> all, Decoder current) {
        return new SearchReport(all, all.get(0), current, null);
    }

    private static SearchReport made(
            FittedDecoder fitted, List<SearchReport.Figures> all, SearchReport.Figures best, DType dtype) {
        Decoder decoder = fitted.decoder(best.candidate().describe(), dtype);
        return new SearchReport(all, best, decoder, fitted.products());
    }

    private void requireRanks(Decoder trained) {
        for (Candidate candidate : candidates) {
            int rank = candidate instanceof Candidate.Gae gae ? gae.settings().rank() : 1;
            if (rank > trained.dimension()) {
                throw new IllegalArgumentException("rank = %d: expected 1 to %d, the dimension of the target space"
                        .formatted(rank, trained.dimension()));
            }
        }
    }

    /**
     * Returns what was fitted, was not passed over and beats keeping the decoder, by FVU and, where the model says what
     * to choose by, by KL too; best first, of equals the earlier one.
     */
    private static List<SearchReport.Figures> betterThanTheFirst(List<SearchReport.Figures> all, boolean byModel) {
        SearchReport.Figures keeping = all.get(0);
        return all.stream()
                .filter(figures -> figures.refusal() == null
                        && fvu(figures) < fvu(keeping)
                        && (!byModel || divergence(figures) < divergence(keeping)))
                .sorted(Comparator.comparingDouble(byModel ? CandidateSearch::divergence : CandidateSearch::fvu))
                .toList();
    }

    private static double divergence(SearchReport.Figures figures) {
        return figures.divergence() == null ? Double.NaN : figures.divergence();
    }

    private static double fvu(SearchReport.Figures figures) {
        return figures.validation() == null ? Double.NaN : figures.validation().fvu();
    }

    private static Candidate ridge(int dimension, double level) {
        return refit(dimension, Rotation.PRINTED, 0.0, level, 0.0);
    }

    private static Candidate refit(int rank, Rotation rotation, double geometric, double preservation, double alpha) {
        return new Candidate.Gae(
                new GaeSettings(rank, rotation, Regularisation.relative(geometric, preservation), alpha));
    }
}
