package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.parallel.Cores;
import io.plumbline.refit.FittedDecoder;
import io.plumbline.refit.GaeSettings;
import io.plumbline.refit.GeometryAdapter;
import io.plumbline.refit.Refit;
import io.plumbline.refit.RefitInputs;
import io.plumbline.refit.Regularisation;
import io.plumbline.refit.Rotation;
import io.plumbline.refit.SampleRows;
import io.plumbline.refit.SharedSolutions;
import io.plumbline.wire.DType;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.Deque;
import java.util.EnumSet;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * Tries a small set of candidates on the fitting rows and takes the one that reconstructs the rows to choose by best,
 * by FVU or by what the model then does ({@link BehaviourChoice}), among those that stay within what the gate allows
 * features and traffic in distribution. "Keep the current decoder" is always among them and wins ties. The chosen one
 * is fitted again on everything but the rows to judge on ({@link GatedAdaptation} fits what passed on these too).
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
 * <p><b>Cost.</b> Shared by all candidates ({@link SharedSolutions}): one Gram matrix, for each ridge
 * level one {@code N^3/3} factorisation, two solves of {@code 2 N^2 d} and two sparse products for the
 * rows to choose and to check on, the window's leading eigenspace at two ranks, a rotation of the complement for each
 * full-rank one. A candidate is a sum of these, {@code 2 (N + n) d^2} flops for a full-rank rotation and less for
 * others. The winner again, on more rows; only decoders that may win are formed. Immutable; any number of threads.
 */
public final class CandidateSearch {

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
     * Runs the search. The winner comes back with the values it has once it was published as {@code travelling} says:
     * what is judged next is then what others will get. The figures of the candidates are those before rounding.
     *
     * @param trained the decoder as trained; every refit starts from it
     * @param trainedSubspace of the trained decoder, at any rank
     * @param current the decoder in service, which may be an earlier adaptation
     * @param gate whose limits on features and cost a candidate must keep to be chosen where there are several; what is
     *     wrong with one that was asked for by name is for the gate itself to say
     * @throws IllegalArgumentException if shapes differ, a set of rows is empty, or a rank exceeds the dimension
     * @throws ArithmeticException if the rows to refit on do not determine the winner, or the type cannot hold it
     */
    public SearchReport search(
            Decoder trained,
            ExplainerSubspace trainedSubspace,
            Decoder current,
            AdaptationRows rows,
            SwapGate gate,
            Travelling travelling) {
        for (SampleRows part : List.of(rows.fit(), rows.choose(), rows.refit())) {
            GeometryAdapter.requireShapes(trained, trainedSubspace, part.codes(), part.targets());
        }
        requireRanks(trained);
        boolean products = ROUNDS_TO_THE_SAME_SPACE.contains(travelling.dtype());
        if (candidates.size() == 1) {
            RefitInputs inputs = inputs(trained, trainedSubspace, rows.refit(), rows);
            Single single = single(inputs, candidates.get(0), current, products);
            return single.fitted() == null
                    ? keeping(single.figures(), current)
                    : made(single.fitted(), single.figures(), single.figures().get(1), travelling);
        }
        RefitInputs compared = inputs(trained, trainedSubspace, rows.fit(), rows);
        boolean once = rows.refit().equals(rows.fit());
        // What was shared to compare is gone before as much is made to fit a winner on other rows, or a second one.
        Deque<SharedSolutions> solved = new ArrayDeque<>();
        List<SearchReport.Figures> all = compare(compared, rows, current, gate, once ? solved : new ArrayDeque<>());
        RefitInputs inputs = once ? compared : inputs(trained, trainedSubspace, rows.refit(), rows);
        for (SearchReport.Figures figures : betterThanTheFirst(all, gate.choice() != null)) {
            FittedDecoder fitted = fitted(figures.candidate(), inputs, solved, products);
            SearchReport made = made(fitted, all, figures, travelling);
            FeatureChange change = gate.change(trained, made.decoder());
            if (gate.allows(change)) {
                return made;
            }
            all.set(
                    all.indexOf(figures),
                    figures.passedOver("%d of %d features would change beyond the limits"
                            .formatted(change.beyond(), change.features())));
        }
        return keeping(all, current);
    }

    /** The figures of the decoder in service and of a single candidate, and that candidate where it has figures. */
    private record Single(
            List<SearchReport.Figures> figures, @Nullable FittedDecoder fitted) {}

    private static Single single(RefitInputs inputs, Candidate candidate, Decoder current, boolean products) {
        SharedSolutions shared = inputs.solutions();
        SearchReport.Figures keeping =
                SearchReport.Figures.onRowsFittedOn(new Candidate.KeepCurrent(), shared.score(current));
        Refit refit;
        SearchReport.Figures figures;
        try {
            refit = candidate.on(shared);
            figures = SearchReport.Figures.onRowsFittedOn(candidate, refit.scoreBeforeFitted());
        } catch (ArithmeticException e) {
            return new Single(List.of(keeping, SearchReport.Figures.refused(candidate, e)), null);
        }
        return new Single(List.of(keeping, figures), refit.fitted(products));
    }

    /** Fits a winner on what was solved to compare, if that is there, else on its own; either is gone afterwards. */
    private static FittedDecoder fitted(
            Candidate candidate, RefitInputs inputs, Deque<SharedSolutions> solved, boolean products) {
        return candidate
                .on(solved.isEmpty() ? inputs.solutions() : solved.remove())
                .fitted(products);
    }

    private static SearchReport keeping(List<SearchReport.Figures> all, Decoder current) {
        return new SearchReport(all, all.get(0), current, null, null);
    }

    private static SearchReport made(
            FittedDecoder fitted, List<SearchReport.Figures> all, SearchReport.Figures best, Travelling travelling) {
        Travelled made = travelling.made(best.candidate(), fitted);
        return new SearchReport(all, best, made.decoder(), made.factors(), fitted.products());
    }

    /**
     * Returns the figures of "keep the current decoder" and of every candidate.
     *
     * @param solved takes what was solved
     */
    private List<SearchReport.Figures> compare(
            RefitInputs inputs, AdaptationRows rows, Decoder current, SwapGate gate, Deque<SharedSolutions> solved) {
        SharedSolutions shared = inputs.solutions();
        solved.add(shared);
        Comparison run = new Comparison(inputs, shared, rows.choose(), rows.check(), gate);
        List<SearchReport.Figures> all = new ArrayList<>();
        all.add(run.keeping(current));
        Map<Candidate, SearchReport.Figures> found = new HashMap<>();
        List<Candidate> sorted = levelAfterLevel(run);
        int ahead = 0;
        while (ahead < sorted.size() && !run.rotates(sorted.get(ahead))) {
            ahead++;
        }
        // Side by side: what is turned is made by one core for most of its time, and the levels of the others take as
        // long.
        int unturned = ahead;
        Cores.each(2, part -> {
            if (part == 0) {
                evaluate(run, sorted, 0, unturned, found);
            } else {
                run.prepareRotations(candidates);
            }
        });
        evaluate(run, sorted, unturned, sorted.size(), found);
        for (Candidate candidate : candidates) {
            all.add(CostInDistribution.worth(
                    Objects.requireNonNull(found.get(candidate)),
                    found.get(ridge(rows.choose().targets().columns(), 1.0))));
        }
        return all;
    }

    private static void evaluate(
            Comparison run, List<Candidate> sorted, int from, int to, Map<Candidate, SearchReport.Figures> found) {
        for (int i = from; i < to; i++) {
            found.put(sorted.get(i), run.evaluate(sorted.get(i)));
            run.keepFor(sorted.subList(i + 1, sorted.size()));
        }
    }

    /**
     * Fits the candidates of one regularisation level after another, so that most of a level is gone before the next is
     * made. First come the levels of which nothing is turned, and of a level the candidates that are not.
     */
    private List<Candidate> levelAfterLevel(Comparison run) {
        Set<Double> turned = candidates.stream()
                .filter(run::rotates)
                .map(CandidateSearch::outerLevel)
                .collect(Collectors.toSet());
        return candidates.stream()
                .sorted(Comparator.comparing((Candidate candidate) -> turned.contains(outerLevel(candidate)))
                        .thenComparing(CandidateSearch::outerLevel)
                        .thenComparing(run::rotates))
                .toList();
    }

    private static double outerLevel(Candidate candidate) {
        return candidate instanceof Candidate.Gae gae
                ? gae.settings().regularisation().geometric()
                        + gae.settings().regularisation().preservation()
                : 0.0;
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

    /** Returns what refits on these rows of the window start from, with anchors where there are any. */
    static RefitInputs inputs(
            Decoder trained, ExplainerSubspace trainedSubspace, SampleRows window, AdaptationRows rows) {
        return new RefitInputs(trained, trainedSubspace, window.targets(), window, rows.anchor());
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
