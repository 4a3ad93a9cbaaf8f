package io.plumbline.adaptation;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
        CandidateSearch one = CandidateSearch.of(List.of(
                new Candidate.Gae(new GaeSettings(DIMENSION, Rotation.PRINTED, Regularisation.relative(0, 1), 0))));
        double trained = fvu(window.trained(), check);
        double without = fvu(search(one, null), check) - trained;
        double with = fvu(search(one, clean), check) - trained;
        assertTrue(with < 0.5 * without, "cost %s with anchors, %s without".formatted(with, without));
        SampleRows judge = rows(null).judge();
        assertTrue(fvu(search(one, clean), judge) < fvu(window.trained(), judge), "and it still is a refit");
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
                window.trained(),
                window.subspace(),
                ServingDecoder.of(window.trained()),
                rows(anchor),
                RANK,
                Travelling.dense(DType.F64));
    }

    private Decoder search(CandidateSearch search, @Nullable SampleRows anchor) {
        return search.search(
                        window.trained(),
                        window.subspace(),
                        window.trained(),
                        rows(anchor),
                        new SwapGate(FREE),
                        Travelling.dense(DType.F64))
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
