package io.plumbline.adaptation;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.DictionarySpace;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.parallel.Cores;
import io.plumbline.refit.FittedDecoder;
import io.plumbline.refit.FittedRows;
import io.plumbline.refit.GaeSettings;
import io.plumbline.refit.Problem;
import io.plumbline.refit.Reconstruction;
import io.plumbline.refit.Refit;
import io.plumbline.refit.RefitInputs;
import io.plumbline.refit.Regularisation;
import io.plumbline.refit.Rotation;
import io.plumbline.refit.Rotations;
import io.plumbline.refit.SampleRows;
import io.plumbline.wire.DType;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares what a refit gives in factors with what its dense weights give. */
class FactorsTest {

    private static final int DIMENSION = 13;
    private static final Problem PROBLEM = Problem.random(31, 300, 130, DIMENSION);
    private static final SampleRows ROWS = PROBLEM.part(0, 200).rows();
    private static final SampleRows OTHERS = PROBLEM.part(200, 260).rows();
    private static final SampleRows CHECK = PROBLEM.part(260, 300).rows();
    private static final RefitInputs INPUTS = inputs(ROWS, null);
    private static final SwapGate GATE = new SwapGate(new GateLimits(0.0, 1.0, -1.0, 1e9, 1.0, 1e9));

    static Stream<Candidate> candidates() {
        return Stream.concat(
                Stream.of(new Candidate.BiasOnly()),
                Stream.of(
                                new GaeSettings(DIMENSION, Rotation.PRINTED, Regularisation.relative(0, 1), 0.25),
                                new GaeSettings(4, Rotation.PRINTED, Regularisation.relative(2, 1), 0),
                                new GaeSettings(8, Rotation.PRINTED, Regularisation.relative(0, 1), 0),
                                new GaeSettings(4, Rotation.FULL_RANK, Regularisation.relative(2, 1), 0.5),
                                new GaeSettings(4, Rotation.FULL_RANK, Regularisation.relative(0, 0), 0),
                                new GaeSettings(DIMENSION, Rotation.PRINTED, Regularisation.relative(0, 0), 0),
                                new GaeSettings(4, Rotation.FULL_RANK, Regularisation.relative(0, 1), 1))
                        .map(Candidate.Gae::new));
    }

    @ParameterizedTest
    @MethodSource("candidates")
    void theProductsOfTheColumnsAreThoseOfTheDenseWeights(Candidate candidate) {
        Matrix weights = decoder(candidate, DType.F64).weights().toMatrix();
        Matrix expected = Kernels.transposeMultiply(weights, weights);
        Matrix fromFactors = candidate
                .fit(FittedRows.of(INPUTS), Rotations.of(INPUTS), refit -> refit.fitted(PROBLEM.subspace()))
                .products();
        double size = expected.frobeniusNorm();
        assertEquals(0.0, expected.minus(fromFactors).frobeniusNorm(), 1e-12 * size);
        assertEquals(
                0.0, expected.minus(DictionarySpace.gram(Weights.of(weights))).frobeniusNorm(), 1e-14 * size);
    }

    @ParameterizedTest
    @MethodSource("candidates")
    void figuresWithoutTheDecoderAreTheDecodersOwn(Candidate candidate) {
        SearchReport.Figures found = figures(INPUTS, candidate);
        SearchReport.Figures expected = run().keeping(decoder(candidate, DType.F64));
        assertEquals(expected.fit().fvu(), found.fit().fvu(), 1e-12);
        assertEquals(expected.validation().fvu(), found.validation().fvu(), 1e-12);
        assertEquals(expected.inDistribution().fvu(), found.inDistribution().fvu(), 1e-12);
    }

    /** Tests full rank by itself: no rotation is decomposed there, so that nothing else would notice. */
    @Test
    void atFullRankADecoderOfLowerRankHasNoFigures() {
        Problem low = Problem.random(33, 60, 3, DIMENSION);
        RefitInputs inputs = new RefitInputs(low.trained(), low.subspace(), low.targets(), low.rows(), null);
        Candidate candidate =
                new Candidate.Gae(new GaeSettings(DIMENSION, Rotation.PRINTED, Regularisation.relative(0, 1), 0));
        SearchReport.Figures found = new Comparison(inputs, low.rows(), null, GATE)
                .figures(List.of(candidate), Rotations.of(inputs))
                .get(0);
        assertTrue(String.valueOf(found.refusal()).contains("the decoder has rank 3"), found::toString);
    }

    @Test
    void figuresOfTheTrainedDecoderAreThoseOfItsReconstructions() {
        SearchReport.Figures found = run().keeping(PROBLEM.trained());
        Reconstruction expected = Reconstruction.of(PROBLEM.trained(), OTHERS.codes(), OTHERS.targets());
        assertEquals(expected.fvu(), found.validation().fvu(), 1e-12);
        Reconstruction checked = Reconstruction.of(PROBLEM.trained(), CHECK.codes(), CHECK.targets());
        assertEquals(checked.mse(), found.inDistribution().mse(), 1e-12 * checked.mse());
        Reconstruction onFit = Reconstruction.of(PROBLEM.trained(), ROWS.codes(), ROWS.targets());
        assertEquals(onFit.fvu(), found.fit().fvu(), 1e-12);
    }

    /** The travelling type's values come of the same weights, and in half the memory where they are floats. */
    @ParameterizedTest
    @MethodSource("candidates")
    void whatTravelsIsWhatWasMadeRounded(Candidate candidate) {
        Decoder exact = decoder(candidate, DType.F64);
        for (DType type : List.of(DType.F32, DType.BF16, DType.F16)) {
            Decoder rounded = decoder(candidate, type);
            assertTrue(rounded.weights().areFloats());
            for (int i = 0; i < exact.features(); i++) {
                for (int j = 0; j < DIMENSION; j++) {
                    assertEquals(
                            type.rounded(exact.weights().get(i, j)),
                            rounded.weights().get(i, j));
                }
            }
            Decoder own = Problem.withBias(rounded.weights(), ROWS);
            for (int j = 0; j < DIMENSION; j++) {
                assertEquals(type.rounded(own.bias()[j]), rounded.bias()[j], "the bias belongs to these weights");
            }
        }
    }

    @Test
    void anyNumberOfThreadsGivesTheSameBits() {
        GaeSettings settings = new GaeSettings(8, Rotation.PRINTED, Regularisation.relative(2, 1), 0);
        Problem large = Problem.random(32, 300, 130, 260);
        Matrix shared = large.adapted(settings).decoder().weights().toMatrix();
        String before = System.getProperty(Cores.PROPERTY);
        System.setProperty(Cores.PROPERTY, "1");
        try {
            assertArrayEquals(
                    shared.values(),
                    large.adapted(settings).decoder().weights().toMatrix().values());
        } finally {
            if (before == null) {
                System.clearProperty(Cores.PROPERTY);
            } else {
                System.setProperty(Cores.PROPERTY, before);
            }
        }
    }

    /** Tests as many answered rows as fill a block of a solve. */
    @ParameterizedTest
    @MethodSource("candidates")
    void rowsAnsweredByTheTrainedDecoderAreFittedOnLikeOthers(Candidate candidate) {
        SampleRows anchor = PROBLEM.part(0, 150).rows();
        SampleRows fit = PROBLEM.part(150, 200).rows();
        Matrix targets = ROWS.targets().copy();
        double[] answers = PROBLEM.trained().reconstruct(anchor.codes()).values();
        System.arraycopy(answers, 0, targets.values(), 0, answers.length);
        SampleRows both = Problem.rows(ROWS.codes(), targets);
        RefitInputs told = inputs(fit, anchor);
        RefitInputs untold = inputs(both, null);
        Matrix expected = decoder(untold, candidate, DType.F64).weights().toMatrix();
        Matrix found = decoder(told, candidate, DType.F64).weights().toMatrix();
        assertEquals(0.0, expected.minus(found).frobeniusNorm(), 1e-12 * expected.frobeniusNorm(), "seed 31");
        SearchReport.Figures one = figures(untold, candidate);
        SearchReport.Figures other = figures(told, candidate);
        assertEquals(one.fit().fvu(), other.fit().fvu(), 1e-12, "seed 31");
        assertEquals(one.validation().fvu(), other.validation().fvu(), 1e-12, "seed 31");
    }

    private static RefitInputs inputs(SampleRows fit, SampleRows anchor) {
        return new RefitInputs(PROBLEM.trained(), PROBLEM.subspace(), ROWS.targets(), fit, anchor);
    }

    private static SearchReport.Figures figures(RefitInputs inputs, Candidate candidate) {
        return new Comparison(inputs, OTHERS, CHECK, GATE)
                .figures(List.of(candidate), Rotations.of(inputs))
                .get(0);
    }

    private static Comparison run() {
        return new Comparison(INPUTS, OTHERS, CHECK, GATE);
    }

    private static Decoder decoder(Candidate candidate, DType type) {
        return decoder(INPUTS, candidate, type);
    }

    private static Decoder decoder(RefitInputs inputs, Candidate candidate, DType type) {
        return fitted(inputs, candidate).decoder("it", type);
    }

    private static FittedDecoder fitted(RefitInputs inputs, Candidate candidate) {
        return candidate.fit(FittedRows.of(inputs), Rotations.of(inputs), Refit::fitted);
    }
}
