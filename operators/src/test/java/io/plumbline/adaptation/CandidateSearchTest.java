package io.plumbline.adaptation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.parallel.Cores;
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

class CandidateSearchTest {

    private static final int RANK = 3;
    private static final int DIMENSION = 13;
    private static final SwapGate ANY_CHANGE = new SwapGate(new GateLimits(0.05, 0.01, -1.0, 1e9, 1.0, 1e9));

    private static SearchReport search(CandidateSearch search, Problem fit, Problem validation, Decoder current) {
        AdaptationRows rows = new AdaptationRows(
                fit.rows(), validation.rows(), fit.rows(), validation.rows(), fit.rows(), null, null);
        return search(search, fit.trained(), fit, rows, current, DType.F64);
    }

    private static SearchReport search(
            CandidateSearch search, Decoder trained, Problem fit, AdaptationRows rows, Decoder current, DType dtype) {
        return search.search(
                new SiteDecoders(trained, fit.subspace(), ServingDecoder.of(current), RANK), rows, ANY_CHANGE, dtype);
    }

    @Test
    void aSingleCandidateIsFittedOnceOnAllRowsButThoseToJudgeOn() {
        Problem problem = Problem.random(12, 200, 30, DIMENSION);
        GaeSettings settings = new GaeSettings(RANK, Rotation.FULL_RANK, Regularisation.relative(2, 1), 0);
        SampleRows refit = problem.part(0, 150).rows();
        AdaptationRows rows = new AdaptationRows(
                problem.part(0, 100).rows(),
                problem.part(100, 150).rows(),
                refit,
                problem.part(150, 200).rows(),
                refit,
                null,
                problem.part(150, 200).rows());
        for (Candidate candidate : List.of(new Candidate.Gae(settings), new Candidate.BiasOnly())) {
            SearchReport report = search(
                    CandidateSearch.of(List.of(candidate)),
                    problem.trained(),
                    problem,
                    rows,
                    problem.trained(),
                    DType.F64);
            String what = candidate.describe() + ", seed 12";
            assertEquals(candidate, report.best().candidate(), what);
            assertClose(
                    Reconstruction.of(report.decoder(), refit.codes(), refit.targets()),
                    report.best().fit(),
                    what);
            SearchReport.Figures keeping = report.candidates().get(0);
            assertEquals(new Candidate.KeepCurrent(), keeping.candidate());
            assertClose(Reconstruction.of(problem.trained(), refit.codes(), refit.targets()), keeping.fit(), "to keep");
            for (SearchReport.Figures figures : report.candidates()) {
                assertNull(figures.validation(), "nothing is chosen: " + what);
                assertNull(figures.inDistribution(), what);
            }
        }
        Decoder expected = problem.part(0, 150).adapted(settings).decoder();
        Decoder found = search(
                        CandidateSearch.of(List.of(new Candidate.Gae(settings))),
                        problem.trained(),
                        problem,
                        rows,
                        problem.trained(),
                        DType.F64)
                .decoder();
        assertEquals(
                0.0,
                expected.weights().toMatrix().minus(found.weights().toMatrix()).frobeniusNorm(),
                1e-10,
                "seed 12");
    }

    /**
     * Tests that a single candidate is not compared with keeping the decoder before it is made: that is the gate's
     * part, on rows it did not see.
     */
    @Test
    void aSingleCandidateThatIsWorseThanKeepingIsRefusedByTheGate() {
        for (int seed = 20; seed < 30; seed++) {
            Problem fitting = alreadyFitting(seed);
            AdaptationRows rows = new AdaptationRows(
                    fitting.part(0, 30).rows(),
                    fitting.part(30, 40).rows(),
                    fitting.part(0, 40).rows(),
                    fitting.part(40, 60).rows(),
                    fitting.rows(),
                    null,
                    null);
            GatedAdaptation adaptation = GatedAdaptation.of(
                    new AdaptationProfile.Paper(
                            new GaeSettings(RANK, Rotation.PRINTED, Regularisation.relative(2, 1), 0)),
                    ANY_CHANGE,
                    SiteDecoders.servingTrained(fitting.trained(), fitting.subspace(), RANK),
                    rows,
                    DType.F32);
            String what = "seed %d: %s".formatted(seed, adaptation.decision().reason());
            assertFalse(adaptation.search().keepsCurrent(), what);
            assertFalse(adaptation.publishes(), what);
            assertFalse(adaptation.decision().tests().get(0).passed(), what);
        }
    }

    private static Problem alreadyFitting(long seed) {
        Problem problem = Problem.random(seed, 60, 40, DIMENSION);
        return new Problem(
                problem.trained(),
                problem.subspace(),
                problem.codes(),
                problem.trained()
                        .reconstruct(problem.codes())
                        .plus(1.0, Problem.gaussian(new Random(seed + 1), 60, DIMENSION, 0.01)));
    }

    @Test
    void figuresAreThoseOfTheDecoderTheAdapterMakes() {
        Problem problem = Problem.random(1, 120, 40, DIMENSION);
        Problem fit = problem.part(0, 80);
        Problem validation = problem.part(80, 120);
        SearchReport report =
                search(CandidateSearch.withDefaults(RANK, DIMENSION, false), fit, validation, problem.trained());
        int refits = 0;
        for (SearchReport.Figures figures : report.candidates()) {
            if (figures.candidate() instanceof Candidate.Gae refit) {
                Decoder decoder = fit.adapted(refit.settings()).decoder();
                String what = refit.describe();
                assertClose(Reconstruction.of(decoder, fit.codes(), fit.targets()), figures.fit(), what);
                assertClose(
                        Reconstruction.of(decoder, validation.codes(), validation.targets()),
                        figures.validation(),
                        what);
                refits++;
            } else if (figures.candidate() instanceof Candidate.BiasOnly) {
                Decoder decoder = Problem.withBias(problem.trained().weights(), fit.rows());
                assertClose(
                        Reconstruction.of(decoder, validation.codes(), validation.targets()),
                        figures.validation(),
                        "bias");
                refits++;
            }
        }
        assertEquals(11, refits);
    }

    @Test
    void theBestCandidateIsHandedOverAsADecoder() {
        Problem problem = Problem.random(2, 200, 30, DIMENSION);
        Problem validation = problem.part(150, 200);
        SearchReport report = search(
                CandidateSearch.withDefaults(RANK, DIMENSION, false),
                problem.part(0, 150),
                validation,
                problem.trained());
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

    /** Turns are made beside the levels of what is not turned. */
    @Test
    void aCandidateThatKeepsAWatchedColumnGoesBeforeABetterOneThatTurnsItAndOneMustBeRefusedByName() {
        Problem problem = Problem.random(12, 300, 30, DIMENSION);
        SampleRows fit = problem.part(0, 200).rows();
        SampleRows choose = problem.part(200, 300).rows();
        AdaptationRows rows = new AdaptationRows(fit, choose, fit, choose, fit, null, null);
        Candidate strict =
                new Candidate.Gae(new GaeSettings(DIMENSION, Rotation.PRINTED, Regularisation.relative(0, 100), 0));
        Candidate free =
                new Candidate.Gae(new GaeSettings(DIMENSION, Rotation.PRINTED, Regularisation.relative(0, 0.01), 0));
        SiteDecoders site = SiteDecoders.servingTrained(problem.trained(), problem.subspace(), RANK);
        CandidateSearch both = CandidateSearch.of(List.of(strict, free));
        SearchReport best = both.search(site, rows, ANY_CHANGE, DType.F64);
        assertEquals(free, best.best().candidate());
        int turned = 0;
        while (watching(turned).turns(problem.trained(), best.decoder()).passed()) {
            turned++;
        }
        SwapGate watching = watching(turned);
        SearchReport found = both.search(site, rows, watching, DType.F64);
        assertEquals(strict, found.best().candidate());
        assertTrue(watching.turns(problem.trained(), found.decoder()).passed());
        String passedOver = String.valueOf(found.candidates().get(2).refusal());
        assertTrue(passedOver.startsWith("feature %d, which is watched: ".formatted(turned)), passedOver);
        SearchReport alone = CandidateSearch.of(List.of(
                        free,
                        new Candidate.Gae(
                                new GaeSettings(DIMENSION, Rotation.PRINTED, Regularisation.relative(0, 0.02), 0))))
                .search(site, rows, watching, DType.F64);
        assertEquals(free, alone.best().candidate());
        assertFalse(alone.keepsCurrent());
    }

    @Test
    void anyNumberOfThreadsFindsTheSameToTheLastBit() {
        Problem problem = Problem.random(13, 300, 130, 60);
        AdaptationRows rows = new AdaptationRows(
                problem.part(0, 120).rows(),
                problem.part(120, 180).rows(),
                problem.part(0, 180).rows(),
                problem.part(180, 220).rows(),
                problem.part(0, 180).rows(),
                problem.part(220, 260).rows(),
                problem.part(260, 300).rows());
        CandidateSearch defaults = CandidateSearch.withDefaults(RANK, 60, true);
        SearchReport together = search(defaults, problem.trained(), problem, rows, problem.trained(), DType.F64);
        String before = System.getProperty(Cores.PROPERTY);
        System.setProperty(Cores.PROPERTY, "1");
        try {
            SearchReport alone = search(defaults, problem.trained(), problem, rows, problem.trained(), DType.F64);
            assertEquals(together.candidates(), alone.candidates());
            assertEquals(together.decoder(), alone.decoder());
            assertFalse(alone.keepsCurrent());
        } finally {
            if (before == null) {
                System.clearProperty(Cores.PROPERTY);
            } else {
                System.setProperty(Cores.PROPERTY, before);
            }
        }
    }

    @Test
    void aDecoderThatAlreadyFitsIsKept() {
        Problem fitting = alreadyFitting(3);
        SearchReport report = search(
                CandidateSearch.withDefaults(RANK, DIMENSION, false),
                fitting.part(0, 40),
                fitting.part(40, 60),
                fitting.trained());
        assertTrue(report.keepsCurrent());
        assertSame(fitting.trained(), report.decoder());
    }

    @Test
    void aCandidateThatIsNotDeterminedIsReportedAndPassedOver() {
        Problem problem = Problem.random(5, 40, 2, DIMENSION);
        SearchReport report = search(
                CandidateSearch.of(List.of(
                        new Candidate.Gae(new GaeSettings(RANK, Rotation.PRINTED, Regularisation.relative(0, 1), 0)))),
                problem.part(0, 30),
                problem.part(30, 40),
                problem.trained());
        SearchReport.Figures refused = report.candidates().get(1);
        assertNull(refused.validation());
        assertTrue(String.valueOf(refused.refusal()).contains("the decoder has rank 2"), refused::toString);
        assertTrue(report.keepsCurrent());
    }

    private static SwapGate watching(int feature) {
        return new SwapGate(ANY_CHANGE.limits(), null, List.of(feature));
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
