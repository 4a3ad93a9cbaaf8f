package io.plumbline.adaptation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.DictionarySpace;
import io.plumbline.geometry.Subspace;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.refit.GaeSettings;
import io.plumbline.refit.Problem;
import io.plumbline.refit.Reconstruction;
import io.plumbline.refit.Regularisation;
import io.plumbline.refit.Rotation;
import io.plumbline.refit.SampleRows;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class SwapGateTest {

    private static final int RANK = 3;
    private static final int DIMENSION = 13;
    private static final SwapGate GATE = new SwapGate(GateLimits.DEFAULTS);
    private static final FeatureChange UNCHANGED = new FeatureChange(1.0, 1.0, 1.0, 0, 30);
    private static final PairedImprovement HALF = new PairedImprovement(0.5, 0.4, 0.6, 8);

    @Test
    void anImprovementThatChangesLittleElseIsPublished() {
        Problem problem = Problem.random(7, 300, 30, DIMENSION);
        Decoder better = problem.part(0, 200)
                .adapted(new GaeSettings(DIMENSION, Rotation.PRINTED, Regularisation.relative(0, 1), 0))
                .decoder();
        SampleRows heldOut = problem.part(200, 300).rows();
        GateDecision decision = judge(problem, problem.trained(), better, heldOut);
        assertTrue(decision.publishes(), decision::reason);
        assertTrue(decision.figures().improvement().share() > 0.05, decision::toString);
        assertEquals(List.of("improvement", "gap", "features", "id_cost"), names(decision));
        assertEquals(
                1
                        - decision.figures().after().fvu()
                                / decision.figures().before().fvu(),
                decision.figures().improvement().share(),
                1e-12);
    }

    @ParameterizedTest
    @CsvSource({
        "0.06,  0.01,  0.11, true",
        "0.04,  0.01,  0.07, false", // too little
        "0.30, -0.01,  0.61, false", // the interval holds zero
        "-0.3, -0.40, -0.20, false",
        "NaN,   NaN,   NaN,  false"
    })
    void theImprovementMustBeLargeEnoughAndBeyondChance(double share, double lower, double upper, boolean passes) {
        GateDecision decision = decide(new PairedImprovement(share, lower, upper, 8), 5.0, 5.0, UNCHANGED, null);
        assertEquals(passes, decision.publishes(), decision::reason);
        assertEquals(passes ? List.of() : List.of("improvement"), failed(decision));
    }

    /** Tests the latest eight of 30 requests. */
    @ParameterizedTest
    @CsvSource({
        "0.45,  0.55, true",
        "0.30,  0.41, true", // less, as it may be by chance
        "0.25,  0.35, false", // another drift: less of it can be mended
        "-0.2, -0.10, false", // the drift is over
    })
    void theLatestRequestsMustGainNearlyAsMuch(double share, double upper, boolean passes) {
        PairedImprovement all = new PairedImprovement(0.5, 0.4, 0.6, 30);
        PairedImprovement latest = new PairedImprovement(share, share - 0.1, upper, 8);
        GateDecision decision = decide(all, latest, 5.0, 5.0, UNCHANGED, null);
        assertEquals(passes ? List.of() : List.of("improvement"), failed(decision));
        assertEquals(!passes, decision.reason().contains("over the latest 8 requests"), decision::reason);
    }

    @ParameterizedTest
    @CsvSource({
        "2.8281, 2.82816, true", // nearly the largest possible before and after: sampling
        "5.0,    5.0799,  true",
        "5.0,    5.0801,  false",
        "5.0,    4.0,     true"
    })
    void theGapMayGrowByAShareOfTheLargestOnly(double before, double after, boolean passes) {
        GateDecision decision = decide(HALF, before, after, UNCHANGED, null);
        assertEquals(passes, decision.publishes(), decision::reason);
        assertEquals(passes ? List.of() : List.of("gap"), failed(decision));
    }

    @Test
    void aGapThatCannotBeMeasuredIsARefusal() {
        GateDecision decision = decide(HALF, null, null, UNCHANGED, null);
        assertEquals(List.of("gap"), failed(decision));
        assertTrue(decision.reason().contains("400 held-out rows cannot be measured"), decision::reason);
    }

    @ParameterizedTest
    @CsvSource({"0.1, true", "0.1001, false", "-0.2, true", "NaN, false"})
    void aSwapMayCostSoMuchInDistribution(double cost, boolean passes) {
        GateDecision decision = decide(HALF, 5.0, 5.0, UNCHANGED, cost);
        assertEquals(passes, decision.publishes(), decision::reason);
        assertEquals(passes ? List.of() : List.of("id_cost"), failed(decision));
    }

    @Test
    void everyFailedTestIsNamedAndNoOther() {
        GateDecision decision =
                decide(new PairedImprovement(0.01, -1, 1, 4), 5.0, 6.0, new FeatureChange(0.1, 0.2, 1, 3, 30), 0.5);
        assertEquals(List.of("improvement", "gap", "features", "id_cost"), failed(decision));
        assertTrue(decision.reason().contains("; 3 of 30 features beyond cosine 0.25"), decision::reason);
        GateDecision one = decide(HALF, 5.0, 6.0, UNCHANGED, 0.0);
        assertFalse(one.reason().contains("features"), one::reason);
    }

    @Test
    void aRefitThatHurtsAWatchedFeatureIsRefusedHoweverMuchItGains() {
        Problem problem = Problem.random(7, 300, 30, DIMENSION);
        Decoder better = problem.part(0, 200)
                .adapted(new GaeSettings(DIMENSION, Rotation.PRINTED, Regularisation.relative(0, 1), 0))
                .decoder();
        SampleRows heldOut = problem.part(200, 300).rows();
        Decoder turned = turned(problem.trained(), better, 4);
        GateDecision decision = judge(problem, turned, heldOut, 4);
        assertEquals(List.of("watched"), failed(decision), decision::reason);
        assertTrue(
                decision.reason()
                        .startsWith("feature 4, which is watched: cosine 0.800 to its trained column, "
                                + "expected at least 0.90"),
                decision::reason);
        assertTrue(judge(problem, turned, heldOut, 5).publishes());
        assertTrue(judge(problem, better, heldOut, 4).publishes());
        for (int watched : new int[] {4, 5}) {
            List<GateTest> alone = new SwapGate(GateLimits.DEFAULTS, null, List.of(watched))
                    .withoutTheWindow(problem.trained(), turned, null);
            assertEquals(GateTest.WATCHED, alone.get(2).name());
            assertEquals(watched == 5, alone.get(2).passed());
        }
    }

    @Test
    void aColumnThatKeepsItsDirectionAndWritesTooMuchIsHurtByItsResidual() {
        Problem problem = Problem.random(7, 300, 30, DIMENSION);
        Matrix exact = problem.trained().reconstruct(problem.codes());
        Random random = new Random(5);
        for (int i = 0; i < exact.values().length; i++) {
            exact.values()[i] += 0.1 * random.nextGaussian();
        }
        Matrix weights = problem.trained().weights().toMatrix();
        for (int j = 0; j < DIMENSION; j++) {
            weights.set(4, j, 1.5 * weights.get(4, j));
        }
        Decoder louder = new Decoder(weights, problem.trained().bias());
        SampleRows heldOut = Problem.rows(problem.codes(), exact);
        String reason = judge(problem, louder, heldOut, 4).reason();
        assertTrue(reason.contains("feature 4, which is watched: systematic residual"), reason);
        reason = judge(problem, louder, heldOut, 5).reason();
        assertFalse(reason.contains("which is watched"), reason);
    }

    private static GateDecision judge(Problem problem, Decoder proposed, SampleRows heldOut, int watched) {
        return new SwapGate(GateLimits.DEFAULTS, null, List.of(watched))
                .judge(
                        SiteDecoders.servingTrained(problem.trained(), problem.subspace(), RANK),
                        new SwapGate.Proposal(proposed, null),
                        heldOut,
                        null);
    }

    /** Returns the second decoder with one column of the first in it, at a cosine of .8. */
    private static Decoder turned(Decoder trained, Decoder other, int feature) {
        Matrix column = trained.weights().rowRange(feature, feature + 1);
        double[] away = new double[DIMENSION];
        away[0] = 1.0;
        double norm = FeatureChange.norm(trained.weights(), feature);
        double along = column.get(0, 0) / norm;
        double length = 0.0;
        for (int j = 0; j < DIMENSION; j++) {
            away[j] -= along * column.get(0, j) / norm;
            length += away[j] * away[j];
        }
        Matrix weights = other.weights().toMatrix();
        for (int j = 0; j < DIMENSION; j++) {
            weights.set(feature, j, 0.8 * column.get(0, j) + 0.6 * norm * away[j] / Math.sqrt(length));
        }
        return new Decoder(weights, other.bias());
    }

    @Test
    void columnsThatTurnShrinkOrGrowAreCounted() {
        Matrix trained = new Matrix(6, 2, new double[] {1, 0, 1, 0, 1, 0, 1, 0, 0, 0, 0, 0});
        Matrix proposed = new Matrix(6, 2, new double[] {1, 0.1, 0, 1, 0.4, 0, 2.1, 0, 0, 0, 0.1, 0});
        FeatureChange change = FeatureChange.between(Weights.of(trained), Weights.of(proposed), 0.25, 2.0);
        // Turned, shrunk, grown, and one that wrote nothing and now does; the one that still writes nothing is fine.
        assertEquals(4, change.beyond());
        assertEquals(0.0, change.smallestCosine());
        assertEquals(0.4, change.smallestNormRatio(), 1e-15);
        assertEquals(2.1, change.largestNormRatio(), 1e-15);
        SwapGate lenient = new SwapGate(new GateLimits(0.05, 0.01, 0.25, 2.0, 0.67, 0.1));
        assertTrue(lenient.allows(change));
        assertFalse(new SwapGate(new GateLimits(0.05, 0.01, 0.25, 2.0, 0.66, 0.1)).allows(change));
    }

    /** Tests that the report is the same whether or not the monitor has measured the window meanwhile. */
    @Test
    void directionsThatWereComputedBeforeAreTakenAndChangeNoFigure() {
        Problem problem = Problem.random(9, 200, 30, DIMENSION);
        Decoder current = Problem.random(10, 200, 30, DIMENSION).trained();
        Decoder proposed = Problem.random(11, 200, 30, DIMENSION).trained();
        SampleRows heldOut = Problem.rows(problem.codes(), problem.targets());
        GateDecision computed = judge(problem, ServingDecoder.of(current), proposed, heldOut);
        Subspace known = DictionarySpace.of(current, RANK);
        assertEquals(computed, judge(problem, new ServingDecoder(current, known), proposed, heldOut));
        Subspace other = DictionarySpace.of(proposed, RANK);
        assertNotEquals(
                computed.figures().gapBefore(),
                judge(problem, new ServingDecoder(current, other), proposed, heldOut)
                        .figures()
                        .gapBefore());
    }

    @Test
    void rowsTooFewToMeasureTheGapAreARefusal() {
        Problem problem = Problem.random(9, 202, 30, DIMENSION);
        Problem few = problem.part(200, 202);
        Matrix exact = Kernels.multiply(
                few.codes().toDense(), problem.trained().weights().toMatrix());
        Decoder current = new Decoder(
                problem.trained().weights().toMatrix(),
                Problem.gaussian(new Random(9), 1, DIMENSION, 5).values());
        Decoder proposed = new Decoder(problem.trained().weights().toMatrix(), new double[DIMENSION]);
        GateDecision decision = judge(problem, current, proposed, Problem.rows(few.codes(), exact));
        assertTrue(decision.reason().contains("2 held-out rows cannot be measured"), decision::reason);
    }

    private static GateDecision judge(Problem problem, Decoder current, Decoder proposed, SampleRows heldOut) {
        return judge(problem, ServingDecoder.of(current), proposed, heldOut);
    }

    private static GateDecision judge(Problem problem, ServingDecoder current, Decoder proposed, SampleRows heldOut) {
        return GATE.judge(
                new SiteDecoders(problem.trained(), problem.subspace(), current, RANK),
                new SwapGate.Proposal(proposed, null),
                heldOut,
                null);
    }

    private static GateDecision decide(
            PairedImprovement improvement,
            @Nullable Double gapBefore,
            @Nullable Double gapAfter,
            FeatureChange features,
            @Nullable Double idCost) {
        return decide(improvement, improvement, gapBefore, gapAfter, features, idCost);
    }

    private static GateDecision decide(
            PairedImprovement improvement,
            PairedImprovement latest,
            @Nullable Double gapBefore,
            @Nullable Double gapAfter,
            FeatureChange features,
            @Nullable Double idCost) {
        return GATE.decide(new GateDecision.Figures(
                32,
                reconstruction(0.4),
                reconstruction(0.2),
                improvement,
                latest,
                gapBefore,
                gapAfter,
                8.0,
                features,
                idCost == null ? null : reconstruction(0.0),
                idCost == null ? null : reconstruction(idCost)));
    }

    private static Reconstruction reconstruction(double fvu) {
        return new Reconstruction(400, fvu, fvu, fvu);
    }

    private static List<String> names(GateDecision decision) {
        return decision.tests().stream().map(GateTest::name).toList();
    }

    private static List<String> failed(GateDecision decision) {
        return decision.tests().stream()
                .filter(test -> !test.passed())
                .map(GateTest::name)
                .toList();
    }
}
