package io.plumbline.adaptation;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Matrix;
import io.plumbline.refit.GaeSettings;
import io.plumbline.refit.Problem;
import io.plumbline.refit.Reconstruction;
import io.plumbline.refit.Regularisation;
import io.plumbline.refit.Rotation;
import io.plumbline.refit.SampleRows;
import io.plumbline.wire.DType;
import java.util.Random;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests what is published once the gate has passed a winner. */
class GatedAdaptationTest {

    private static final int DIMENSION = 13;
    private static final GaeSettings SETTINGS =
            new GaeSettings(DIMENSION, Rotation.PRINTED, Regularisation.relative(0, 1), 0);
    private static final GateLimits FREE = new GateLimits(0.05, 1.0, -1.0, 1e9, 1.0, 1e9);

    private final Problem window = Problem.random(51, 300, 60, DIMENSION);

    @Test
    void thePublishedDecoderIsFittedOnEveryRow() {
        GatedAdaptation found = adapt(window, null, FREE);
        assertTrue(found.publishes(), () -> found.decision().reason());
        assertEquals(300, found.publishedRows());
        assertNull(found.judgedStays());
        assertClose(window.adapted(SETTINGS).decoder(), found.search().decoder());
    }

    @Test
    void figuresAreThoseOfTheJudgedDecoder() {
        GatedAdaptation found = adapt(window, null, FREE);
        Problem judge = window.part(200, 300);
        Decoder judged = window.part(0, 200).adapted(SETTINGS).decoder();
        assertEquals(fvu(judged, judge), found.decision().figures().after().fvu(), 1e-10);
        assertTrue(fvu(found.search().decoder(), judge) < fvu(judged, judge), "its own rows");
    }

    /** Later rows ask for another answer: a decoder that has seen them is dearer in distribution. */
    @Test
    void whereTheOneOnAllRowsCostsTooMuchTheJudgedOneIsPublished() {
        Matrix moved = window.targets().copy();
        Matrix noise = Problem.gaussian(new Random(52), 300, DIMENSION, 6.0);
        for (int i = 200 * DIMENSION; i < moved.values().length; i++) {
            moved.values()[i] += noise.values()[i];
        }
        Problem changing = new Problem(window.trained(), window.subspace(), window.codes(), moved);
        SampleRows clean = clean();
        GatedAdaptation free = adapt(changing, clean, FREE);
        double judged = fvu(free.decision().figures().idProposed());
        double last = Reconstruction.of(free.search().decoder(), clean.codes(), clean.targets())
                .fvu();
        double trained = fvu(free.decision().figures().idTrained());
        assertTrue(last > judged, last + " and " + judged);
        double limit = (judged + last) / 2 - trained;
        GatedAdaptation held = adapt(changing, clean, new GateLimits(0.05, 1.0, -1.0, 1e9, 1.0, limit));
        assertTrue(held.publishes(), () -> held.decision().reason());
        assertEquals(200, held.publishedRows());
        assertTrue(String.valueOf(held.judgedStays()).startsWith("FVU on 80 rows of the baseline"), held::judgedStays);
        assertClose(
                changing.part(0, 200).adapted(SETTINGS).decoder(), held.search().decoder());
    }

    @Test
    void whatIsRefusedIsNotFittedAgain() {
        GateLimits unreachable = new GateLimits(0.99, 1.0, -1.0, 1e9, 1.0, 1e9);
        GatedAdaptation refused = adapt(window, null, unreachable);
        assertEquals(200, refused.publishedRows());
        assertClose(
                window.part(0, 200).adapted(SETTINGS).decoder(),
                refused.search().decoder());
    }

    @Test
    void aRefitWithWhichTheModelIsNoNearerToItselfIsRefused() {
        GatedAdaptation refused = adapt(window, null, new SwapGate(FREE, new Model(0.9, 1.0, 1.0)));
        assertFalse(refused.publishes());
        assertEquals(
                "held-out KL 1.0000 [1.0000, 1.0000] -> 1.1111 [1.1111, 1.1111] nats: -11.1 % lower, "
                        + "95 % interval over 4"
                        + " requests -11.1 to -11.1 %, expected an interval above 0; "
                        + "on 4 requests of normal traffic 1.0000"
                        + " [1.0000, 1.0000] -> 1.0000 [1.0000, 1.0000] nats, may be 200 % of the trained decoder's",
                refused.decision().reason());
        assertTrue(adapt(window, null, new SwapGate(FREE, new Model(2.0, 1.0, 1.0)))
                .publishes());
    }

    @Test
    void aRefitWithWhichTheModelIsFurtherFromItselfOnNormalTrafficIsRefused() {
        assertFalse(adapt(window, null, new SwapGate(FREE, new Model(2.0, 2.01, 1.0)))
                .publishes());
    }

    @Test
    void whereTheOneOnAllRowsMovesTheModelOnNormalTrafficTheJudgedOneIsPublished() {
        GatedAdaptation held = adapt(window, null, new SwapGate(FREE, new Model(2.0, 1.0, 2.01)));
        assertTrue(held.publishes());
        assertEquals(200, held.publishedRows());
        assertTrue(String.valueOf(held.judgedStays()).startsWith("on 4 requests of normal traffic"), held::judgedStays);
    }

    @Test
    void aModelThatGivesNoAnswerIsARefusal() {
        BehaviourJudge silent = new BehaviourJudge() {
            @Override
            public Behaviour judge(Decoder trained, Decoder current, Decoder proposed) {
                return new Behaviour.Unknown("no answer within 30 s");
            }

            @Override
            public GateTest inDistribution(Decoder trained, Decoder proposed) {
                throw new AssertionError("nothing was published");
            }
        };
        GatedAdaptation refused = adapt(window, null, new SwapGate(FREE, silent));
        assertFalse(refused.publishes());
        assertEquals(
                "the model could not be run: no answer within 30 s",
                refused.decision().reason());
    }

    /** A model whose KL falls by a factor, and grows on normal traffic by another, and by a last one at the end. */
    private record Model(double gain, double growth, double lastGrowth) implements BehaviourJudge {

        @Override
        public Behaviour judge(Decoder trained, Decoder current, Decoder proposed) {
            return new Behaviour.Measured(change(1.0 / gain), change(growth), 1.0);
        }

        @Override
        public GateTest inDistribution(Decoder trained, Decoder proposed) {
            return Behaviour.inDistribution(change(lastGrowth), 1.0);
        }

        private static Behaviour.Change change(double after) {
            double[][] requests = {{1.0, 1.0 - after}, {1.0, 1.0 - after}, {1.0, 1.0 - after}, {1.0, 1.0 - after}};
            return new Behaviour.Change(
                    new Behaviour.Level(1.0, 1.0, 1.0),
                    new Behaviour.Level(after, after, after),
                    PairedImprovement.of(requests));
        }
    }

    private static GatedAdaptation adapt(Problem problem, SampleRows check, GateLimits limits) {
        return adapt(problem, check, new SwapGate(limits));
    }

    @Test
    void aProfileTakesAllDirectionsWhereLeadingOnesDoNotSuffice() {
        assertTrue(new AdaptationProfile.Auto().takesAllDirections(2_048));
        assertTrue(paper(32, Rotation.FULL_RANK).takesAllDirections(2_048));
        assertTrue(paper(600, Rotation.PRINTED).takesAllDirections(2_048));
        assertFalse(paper(32, Rotation.PRINTED).takesAllDirections(2_048));
    }

    /** Tests a width whose leading directions are found without the others, up to a bound. */
    @Test
    void whatTakesAllDirectionsDoesNotDependOnWhichWereKnownBefore() {
        Problem wide = Problem.random(61, 300, 1_100, 1_024);
        ExplainerSubspace leading = ExplainerSubspace.of(wide.trained(), 3);
        assertTrue(leading.sineBound() > 0.0);
        AdaptationProfile profile = paper(3, Rotation.FULL_RANK);
        GateDecision.Figures found = adapt(wide, leading, null, new SwapGate(FREE), profile)
                .decision()
                .figures();
        GateDecision.Figures expected = adapt(wide, leading.exact(3), null, new SwapGate(FREE), profile)
                .decision()
                .figures();
        assertEquals(expected.gapBefore(), found.gapBefore());
        assertEquals(expected.gapAfter(), found.gapAfter());
    }

    private static AdaptationProfile paper(int rank, Rotation rotation) {
        return new AdaptationProfile.Paper(new GaeSettings(rank, rotation, Regularisation.relative(0, 1), 0));
    }

    private static GatedAdaptation adapt(Problem problem, SampleRows check, SwapGate gate) {
        return adapt(problem, problem.subspace(), check, gate, new AdaptationProfile.Paper(SETTINGS));
    }

    private static GatedAdaptation adapt(
            Problem problem,
            ExplainerSubspace subspace,
            @Nullable SampleRows check,
            SwapGate gate,
            AdaptationProfile profile) {
        AdaptationRows rows = new AdaptationRows(
                problem.part(0, 150).rows(),
                problem.part(150, 200).rows(),
                problem.part(0, 200).rows(),
                problem.part(200, 300).rows(),
                problem.rows(),
                null,
                check);
        return GatedAdaptation.of(
                profile, gate, SiteDecoders.servingTrained(problem.trained(), subspace, 3), rows, DType.F64);
    }

    /** Returns the trained decoder's own answers to other codes, with noise. */
    private SampleRows clean() {
        Problem other = Problem.random(53, 80, 60, DIMENSION);
        Matrix answers = window.trained().reconstruct(other.codes());
        return Problem.rows(other.codes(), answers.plus(1.0, Problem.gaussian(new Random(54), 80, DIMENSION, 0.5)));
    }

    private static double fvu(Decoder decoder, Problem rows) {
        return Reconstruction.of(decoder, rows.codes(), rows.targets()).fvu();
    }

    private static double fvu(Reconstruction reconstruction) {
        return reconstruction.fvu();
    }

    private static void assertClose(Decoder expected, Decoder found) {
        assertEquals(
                0.0,
                expected.weights().toMatrix().minus(found.weights().toMatrix()).frobeniusNorm(),
                1e-9);
    }
}
