package io.plumbline.adaptation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.List;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class CandidateSearchTest {

    private static final int RANK = 3;
    private static final int DIMENSION = 13;

    private static SearchReport search(CandidateSearch search, Problem fit, Problem validation, Decoder current) {
        return search.search(fit.trained(), fit.subspace(), current, fit.rows(), validation.rows());
    }

    @Test
    void figuresAreThoseOfTheDecoderTheAdapterMakes() {
        Problem problem = Problem.random(1, 120, 40, DIMENSION);
        Problem fit = problem.part(0, 80);
        Problem validation = problem.part(80, 120);
        SearchReport report = search(CandidateSearch.withDefaults(RANK, DIMENSION), fit, validation, problem.trained());
        int refits = 0;
        for (SearchReport.Figures figures : report.candidates()) {
            if (figures.candidate() instanceof Candidate.Refit refit) {
                Decoder decoder = fit.adapted(refit.settings()).decoder();
                String what = refit.describe();
                assertClose(Reconstruction.of(decoder, fit.codes(), fit.targets()), figures.fit(), what);
                assertClose(
                        Reconstruction.of(decoder, validation.codes(), validation.targets()),
                        figures.validation(),
                        what);
                refits++;
            }
        }
        assertEquals(10, refits);
    }

    @Test
    void theBestCandidateIsHandedOverAsADecoder() {
        Problem problem = Problem.random(2, 200, 30, DIMENSION);
        Problem validation = problem.part(150, 200);
        SearchReport report = search(
                CandidateSearch.withDefaults(RANK, DIMENSION), problem.part(0, 150), validation, problem.trained());
        assertFalse(report.keepsCurrent());
        assertClose(
                Reconstruction.of(report.decoder(), validation.codes(), validation.targets()),
                report.best().validation(),
                "best");
        double lowest = present(report.best().validation()).fvu();
        for (SearchReport.Figures figures : report.candidates()) {
            assertTrue(lowest <= present(figures.validation()).fvu(), figures.candidate()::describe);
        }
    }

    @Test
    void aDecoderThatAlreadyFitsIsKept() {
        Problem problem = Problem.random(3, 60, 40, DIMENSION);
        Matrix targets = problem.trained().reconstruct(problem.codes());
        Random random = new Random(4);
        Problem fitting = new Problem(
                problem.trained(),
                problem.subspace(),
                problem.codes(),
                targets.plus(1.0, Problem.gaussian(random, 60, DIMENSION, 0.01)));
        SearchReport report = search(
                CandidateSearch.withDefaults(RANK, DIMENSION),
                fitting.part(0, 40),
                fitting.part(40, 60),
                problem.trained());
        assertTrue(report.keepsCurrent());
        assertSame(problem.trained(), report.decoder());
    }

    @Test
    void aCandidateThatIsNotDeterminedIsReportedAndPassedOver() {
        Problem problem = Problem.random(5, 40, 2, DIMENSION);
        SearchReport report = search(
                CandidateSearch.of(List.of(new GaeSettings(RANK, Rotation.PRINTED, Regularisation.relative(0, 1), 0))),
                problem.part(0, 30),
                problem.part(30, 40),
                problem.trained());
        SearchReport.Figures refused = report.candidates().get(1);
        assertNull(refused.validation());
        assertTrue(String.valueOf(refused.refusal()).contains("the decoder has rank 2"), refused::toString);
        assertTrue(report.keepsCurrent());
    }

    @Test
    void reconstructionOfTheMeanExplainsNothingAndAPerfectOneEverything() {
        Problem problem = Problem.random(6, 30, 10, DIMENSION);
        double[] mean = SparseProducts.columnMeans(problem.targets());
        Decoder onlyMean = new Decoder(Matrix.zeros(10, DIMENSION), mean);
        assertEquals(
                1.0,
                Reconstruction.of(onlyMean, problem.codes(), problem.targets()).fvu(),
                1e-12);
        Matrix own = problem.trained().reconstruct(problem.codes());
        assertEquals(
                0.0, Reconstruction.of(problem.trained(), problem.codes(), own).fvu(), 1e-25);
    }

    @Test
    void gatePublishesAnImprovementThatDoesNotOpenTheGap() {
        Problem problem = Problem.random(7, 300, 30, DIMENSION);
        Problem heldOut = problem.part(200, 300);
        Decoder better = problem.part(0, 200)
                .adapted(new GaeSettings(RANK, Rotation.FULL_RANK, Regularisation.relative(0, 0.1), 0))
                .decoder();
        GateDecision decision = new SwapGate(SwapGate.DEFAULT_MINIMUM_IMPROVEMENT)
                .judge(problem.trained(), better, heldOut.rows(), RANK);
        GateDecision.Publish publish = assertInstanceOf(GateDecision.Publish.class, decision);
        assertTrue(publish.figures().improvement() > 0.05, publish::toString);
    }

    @Test
    void gateRefusesWhatImprovesTooLittle() {
        Problem problem = Problem.random(8, 60, 30, DIMENSION);
        GateDecision decision = new SwapGate(0.05).judge(problem.trained(), problem.trained(), problem.rows(), RANK);
        String reason = assertInstanceOf(GateDecision.Refuse.class, decision).reason();
        assertTrue(reason.contains("expected at least 5.0 %"), reason);
    }

    @Test
    void gateRefusesAGapThatGrowsOrCannotBeMeasuredOrAnFvuThatIsNotANumber() {
        SwapGate gate = new SwapGate(0.05);
        Reconstruction worse = new Reconstruction(400, 2, 1, 0.4);
        Reconstruction better = new Reconstruction(400, 1, 0.5, 0.2);
        Reconstruction unknown = new Reconstruction(400, 1, 0.5, Double.NaN);
        assertInstanceOf(
                GateDecision.Publish.class, gate.decide(new GateDecision.Figures(32, worse, better, 5.0, 5.0)));
        assertInstanceOf(
                GateDecision.Refuse.class, gate.decide(new GateDecision.Figures(32, worse, better, 5.0, 5.01)));
        assertInstanceOf(
                GateDecision.Refuse.class, gate.decide(new GateDecision.Figures(32, worse, better, null, null)));
        assertInstanceOf(
                GateDecision.Refuse.class, gate.decide(new GateDecision.Figures(32, worse, unknown, 5.0, 4.0)));
    }

    @Test
    void gateRefusesRowsTooFewToMeasureTheGap() {
        Problem problem = Problem.random(9, 202, 30, DIMENSION);
        Problem few = problem.part(200, 202);
        Matrix exact = Kernels.multiply(few.codes().toDense(), problem.trained().weights());
        Decoder current = new Decoder(
                problem.trained().weights(),
                Problem.gaussian(new Random(9), 1, DIMENSION, 5).values());
        Decoder proposed = new Decoder(problem.trained().weights(), new double[DIMENSION]);
        GateDecision decision = new SwapGate(0.05).judge(current, proposed, new SampleRows(few.codes(), exact), RANK);
        String reason = assertInstanceOf(GateDecision.Refuse.class, decision).reason();
        assertTrue(reason.contains("2 held-out rows cannot be measured"), reason);
    }

    private static <T> T present(@Nullable T value) {
        assertNotNull(value);
        return value;
    }

    private static void assertClose(Reconstruction expected, @Nullable Reconstruction actual, String what) {
        assertEquals(expected.fvu(), present(actual).fvu(), 1e-10 * (1 + expected.fvu()), what);
        assertEquals(expected.mse(), present(actual).mse(), 1e-10 * (1 + expected.mse()), what);
    }
}
