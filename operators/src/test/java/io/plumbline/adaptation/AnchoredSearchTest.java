package io.plumbline.adaptation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.refit.GaeSettings;
import io.plumbline.refit.Problem;
import io.plumbline.refit.Reconstruction;
import io.plumbline.refit.Regularisation;
import io.plumbline.refit.Rotation;
import io.plumbline.refit.SampleRows;
import io.plumbline.wire.DType;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Searches with rows of the baseline, and with limits. */
class AnchoredSearchTest {

    private static final int RANK = 3;
    private static final int DIMENSION = 13;
    private static final GateLimits FREE = new GateLimits(0.05, 0.05, -1.0, 1e9, 1.0, 1e9);

    // Twice the same dictionary and twice other answers to the same features: the window's, and those of clean traffic.
    private final Problem window = Problem.random(31, 360, 60, DIMENSION);
    private final SampleRows clean = cleanRows(32, 200);
    private final SampleRows check = cleanRows(33, 200);

    @Test
    void anchorsMakeARefitCheaperInDistribution() {
        CandidateSearch one = ridge(1.0);
        double trained = fvu(window.trained(), check);
        double without = fvu(search(one, null), check) - trained;
        double with = fvu(search(one, clean), check) - trained;
        assertTrue(with < 0.5 * without, "cost %s with anchors, %s without".formatted(with, without));
        SampleRows judge = rows(null).judge();
        assertTrue(fvu(search(one, clean), judge) < fvu(window.trained(), judge), "and it still is a refit");
    }

    @Test
    void theWeakestRidgeIsTriedWithAnchorsAndTheStrongestWithout() {
        assertEquals(List.of(0.25, 1.0, 3.0), levels(clean));
        assertEquals(List.of(1.0, 3.0, 10.0), levels(null));
    }

    /** Returns the ridge levels of the default set, lowest first. */
    private List<Double> levels(@Nullable SampleRows anchor) {
        return adapt(new AdaptationProfile.Auto(), FREE, anchor).search().candidates().stream()
                .map(SearchReport.Figures::candidate)
                .filter(Candidate.Gae.class::isInstance)
                .map(refit -> ((Candidate.Gae) refit).settings().regularisation())
                .map(lambdas -> lambdas.geometric() + lambdas.preservation())
                .distinct()
                .sorted()
                .toList();
    }

    private static CandidateSearch ridge(double level) {
        return CandidateSearch.of(List.of(
                new Candidate.Gae(new GaeSettings(DIMENSION, Rotation.PRINTED, Regularisation.relative(0, level), 0))));
    }

    /** A model that is the nearer to itself the shorter the way from the trained decoder, up to the bias alone. */
    private record Nearness(Decoder trained, double failing) implements BehaviourJudge, BehaviourChoice {

        @Override
        public double divergence(Decoder decoder) {
            double turned = 1.0
                    - FeatureChange.between(trained.weights(), decoder.weights(), 0, 1e9)
                            .smallestCosine();
            if (turned < failing) {
                throw new NoAnswerException("a NaN");
            }
            return decoder.equals(trained) ? 1.0 : turned;
        }

        @Override
        public BehaviourChoice choice() {
            return this;
        }

        @Override
        public Behaviour judge(Decoder trained, Decoder current, Decoder proposed) {
            return new Behaviour.Unknown("not of interest here");
        }

        @Override
        public GateTest inDistribution(Decoder trained, Decoder proposed) {
            return new Behaviour.Unknown("not of interest here").test();
        }
    }

    @Test
    void theModelMayChooseAnotherCandidateThanFvu() {
        Decoder trained = window.trained();
        SearchReport byModel = chosenBy(new Nearness(trained, -1.0));
        SearchReport.Figures chosen = byModel.best();
        assertEquals(new Candidate.BiasOnly(), chosen.candidate(), "nothing turns less");
        assertEquals(0.0, chosen.divergence() == null ? 1.0 : chosen.divergence(), 1e-12);
        SearchReport byFvu = adapt(new AdaptationProfile.Auto(), FREE, clean).search();
        assertNull(byFvu.best().divergence());
        assertNotEquals(byFvu.best().candidate(), chosen.candidate());
        for (SearchReport.Figures figures : byModel.candidates()) {
            assertTrue(figures.divergence() != null || figures.refusal() != null, () -> figures.candidate()
                    .describe());
        }
    }

    @Test
    void aCandidateOfWhichTheModelSaysNothingIsPassedOverAndSaysWhy() {
        SearchReport report = chosenBy(new Nearness(window.trained(), 1e-3));
        assertEquals(
                "the model could not be run: a NaN", report.candidates().get(0).refusal(), "the trained decoder");
        assertTrue(report.keepsCurrent(), "nothing is known to be better than that");
        assertEquals("the model could not be run: a NaN", report.best().refusal());
    }

    private SearchReport chosenBy(Nearness model) {
        return CandidateSearch.withDefaults(RANK, DIMENSION, true)
                .search(
                        SiteDecoders.servingTrained(window.trained(), window.subspace(), RANK),
                        rows(clean),
                        new SwapGate(FREE, model),
                        DType.F64);
    }

    @Test
    void theWeakestRidgeIsPassedOverWhereItForgetsMoreThanItIsWorth() {
        Candidate weak =
                new Candidate.Gae(new GaeSettings(DIMENSION, Rotation.PRINTED, Regularisation.relative(0, 0.25), 0));
        Candidate next =
                new Candidate.Gae(new GaeSettings(DIMENSION, Rotation.PRINTED, Regularisation.relative(0, 1), 0));
        SearchReport.Figures ofNext = figures(next, 0.50, 0.20);
        assertNull(CostInDistribution.worth(figures(weak, 0.48, 0.27), ofNext).refusal());
        assertEquals(
                "gains 0.0100 of FVU over a ridge of 1, and costs 0.0700 more in distribution",
                CostInDistribution.worth(figures(weak, 0.49, 0.27), ofNext).refusal());
        assertNull(CostInDistribution.worth(figures(next, 0.49, 0.27), ofNext).refusal(), "no other is weighed");
    }

    private static SearchReport.Figures figures(Candidate candidate, double validation, double inDistribution) {
        return new SearchReport.Figures(candidate, null, withFvu(validation), withFvu(inDistribution), null, null);
    }

    private static Reconstruction withFvu(double fvu) {
        return new Reconstruction(10, fvu, fvu, fvu);
    }

    @Test
    void profilesOfThePaperUseNoAnchors() {
        AdaptationProfile paper = new AdaptationProfile.Paper(
                new GaeSettings(DIMENSION, Rotation.PRINTED, Regularisation.relative(0, 1), 0));
        assertEquals(
                adapt(paper, FREE, null).search().decoder(),
                adapt(paper, FREE, clean).search().decoder());
    }

    @Test
    void whatCostsTooMuchIsPassedOverAndSaysSo() {
        double free = cost(adapt(new AdaptationProfile.Auto(), FREE, null));
        GateLimits limits = new GateLimits(0.05, 0.05, -1.0, 1e9, 1.0, 0.5 * free);
        GatedAdaptation held = adapt(new AdaptationProfile.Auto(), limits, null);
        assertTrue(held.search().candidates().stream()
                .anyMatch(figures -> String.valueOf(figures.refusal()).startsWith("costs more than")));
        assertNull(held.search().best().refusal());
        assertTrue(cost(held) < free, cost(held) + " of " + free);
    }

    @Test
    void aCandidateThatTurnsFeaturesTooFarGivesWayToTheNext() {
        Decoder free = adapt(new AdaptationProfile.Auto(), FREE, null).search().decoder();
        double cosine = FeatureChange.between(window.trained().weights(), free.weights(), 0, 1e9)
                .smallestCosine();
        double between = 0.5 * (1 + cosine);
        GatedAdaptation held =
                adapt(new AdaptationProfile.Auto(), new GateLimits(0.0, 1.0, between, 1e9, 0.0, 1e9), null);
        assertTrue(held.search().candidates().stream()
                .anyMatch(figures -> String.valueOf(figures.refusal()).contains("would change beyond the limits")));
        assertTrue(held.decision().figures().features().smallestCosine() >= between, held.decision()::reason);
    }

    /** Tests that a candidate asked for by name is made and judged, and the gate says what is wrong with it. */
    @Test
    void aSingleCandidateIsRefusedByTheGateAndNotPassedOver() {
        AdaptationProfile paper = new AdaptationProfile.Paper(
                new GaeSettings(RANK, Rotation.PRINTED, Regularisation.absolute(0.1, 0.2), 0));
        GatedAdaptation adaptation = adapt(paper, new GateLimits(0.0, 1.0, 0.999, 1.0001, 0.0, 1e9), null);
        assertEquals(2, adaptation.search().candidates().size());
        assertTrue(
                adaptation.decision().reason().contains("features beyond cosine 1.00"), adaptation.decision()::reason);
    }

    private GatedAdaptation adapt(AdaptationProfile profile, GateLimits limits, @Nullable SampleRows anchor) {
        return GatedAdaptation.of(
                profile,
                new SwapGate(limits),
                SiteDecoders.servingTrained(window.trained(), window.subspace(), RANK),
                rows(anchor),
                DType.F64);
    }

    private Decoder search(CandidateSearch search, @Nullable SampleRows anchor) {
        return search.search(
                        SiteDecoders.servingTrained(window.trained(), window.subspace(), RANK),
                        rows(anchor),
                        new SwapGate(FREE),
                        DType.F64)
                .decoder();
    }

    private AdaptationRows rows(@Nullable SampleRows anchor) {
        return new AdaptationRows(
                window.part(0, 160).rows(),
                window.part(160, 230).rows(),
                window.part(0, 230).rows(),
                window.part(230, 360).rows(),
                window.part(0, 230).rows(),
                anchor,
                check);
    }

    private static double fvu(Decoder decoder, SampleRows rows) {
        return Reconstruction.of(decoder, rows.codes(), rows.targets()).fvu();
    }

    private static double cost(GatedAdaptation adaptation) {
        Double cost = adaptation.decision().figures().idCost();
        assertNotNull(cost);
        return cost;
    }

    /**
     * Returns rows of other features (the window's have all of them) which the trained decoder answers almost exactly.
     */
    private SampleRows cleanRows(long seed, int rows) {
        Problem other = Problem.random(seed, rows, 60, DIMENSION);
        return Problem.rows(
                other.codes(),
                window.trained()
                        .reconstruct(other.codes())
                        .plus(0.3, Problem.gaussian(new Random(seed), rows, DIMENSION, 1.0)));
    }

    @Test
    void keepingIsAlwaysAmongTheCandidates() {
        assertTrue(adapt(new AdaptationProfile.Auto(), FREE, clean).search().candidates().stream()
                .map(SearchReport.Figures::candidate)
                .toList()
                .containsAll(List.of(new Candidate.KeepCurrent(), new Candidate.BiasOnly())));
    }
}
