package io.plumbline.refit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.geometry.FaithfulnessGap;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.junit.jupiter.params.provider.ValueSource;

class AdaptationLawsTest {

    private static final int RANK = 4;
    private static final int DIMENSION = 12;

    private static GaeSettings settings(Rotation rotation, double geometric, double preservation, double alpha) {
        return new GaeSettings(RANK, rotation, Regularisation.absolute(geometric, preservation), alpha);
    }

    private static void assertClose(Matrix expected, Matrix actual, double relative, String what) {
        double distance = expected.minus(actual).frobeniusNorm();
        assertTrue(
                distance <= relative * expected.frobeniusNorm(),
                "%s: off by %s of %s".formatted(what, distance, expected.frobeniusNorm()));
    }

    @ParameterizedTest
    @ValueSource(longs = {1, 2, 3})
    void rotationKeepsInnerProductsOfTheProjectedDirections(long seed) {
        Problem problem = Problem.random(seed, 60, 30, DIMENSION);
        Matrix weights = problem.trained().weights().toMatrix();
        Matrix own = ExplainerSubspace.ofWeights(weights, RANK).subspace().basis();
        Matrix projected = Kernels.multiply(weights, own);

        Matrix printed = problem.adapted(settings(Rotation.PRINTED, 1, 1, 1))
                .stepOne()
                .weights()
                .toMatrix();
        assertClose(
                Kernels.multiplyTranspose(projected, projected),
                Kernels.multiplyTranspose(printed, printed),
                1e-12,
                "printed, seed " + seed);

        Matrix full = problem.adapted(settings(Rotation.FULL_RANK, 1, 1, 1))
                .stepOne()
                .weights()
                .toMatrix();
        assertClose(
                Kernels.multiplyTranspose(weights, weights),
                Kernels.multiplyTranspose(full, full),
                1e-12,
                "full rank deletes nothing, seed " + seed);
    }

    @ParameterizedTest
    @EnumSource(Rotation.class)
    void stepOneClosesTheGapToItsOwnWindow(Rotation rotation) {
        for (long seed = 10; seed < 15; seed++) {
            Adaptation.Adapted adapted = Problem.random(seed, 80, 30, DIMENSION).adapted(settings(rotation, 1, 1, 1));
            double gap = FaithfulnessGap.between(
                            adapted.active().subspace(),
                            ExplainerSubspace.ofWeights(
                                            adapted.stepOne().weights().toMatrix(), RANK)
                                    .subspace())
                    .value();
            assertEquals(0.0, gap, 1e-10, "seed " + seed);
            assertEquals(adapted.stepOne(), adapted.decoder(), "alpha = 1 skips the refit, seed " + seed);
        }
    }

    @Test
    void rotationAsPrintedMovesTheDictionaryLeast() {
        Problem problem = Problem.random(5, 60, 30, DIMENSION);
        Adaptation.Adapted adapted = problem.adapted(settings(Rotation.PRINTED, 1, 1, 1));
        Matrix trained = problem.trained().weights().toMatrix();
        double least = adapted.stepOne().weights().toMatrix().minus(trained).frobeniusNorm();
        Matrix basis = adapted.active().subspace().basis();
        Matrix coordinates = Kernels.multiply(adapted.stepOne().weights().toMatrix(), basis);
        for (double angle : new double[] {-0.5, -0.01, 0.01, 0.5, 3.0}) {
            Matrix turned = coordinates.copy();
            for (int i = 0; i < turned.rows(); i++) {
                double a = coordinates.get(i, 0);
                double b = coordinates.get(i, 2);
                turned.set(i, 0, Math.cos(angle) * a - Math.sin(angle) * b);
                turned.set(i, 2, Math.sin(angle) * a + Math.cos(angle) * b);
            }
            double moved =
                    Kernels.multiplyTranspose(turned, basis).minus(trained).frobeniusNorm();
            assertTrue(moved > least, "turned by %s: %s, least %s".formatted(angle, moved, least));
        }
    }

    @ParameterizedTest
    @EnumSource(Rotation.class)
    void hugePreservationReturnsTheRotatedDecoder(Rotation rotation) {
        Adaptation.Adapted adapted = Problem.random(20, 50, 70, DIMENSION).adapted(settings(rotation, 0, 1e9, 0));
        assertClose(
                adapted.stepOne().weights().toMatrix(),
                adapted.decoder().weights().toMatrix(),
                1e-6,
                "seed 20");
    }

    @ParameterizedTest
    @EnumSource(Rotation.class)
    void atFullRankStepOneChangesNothing(Rotation rotation) {
        Problem problem = Problem.random(21, 50, 30, DIMENSION);
        Adaptation.Adapted adapted =
                problem.adapted(new GaeSettings(DIMENSION, rotation, Regularisation.absolute(1, 1), 1));
        assertClose(
                problem.trained().weights().toMatrix(),
                adapted.stepOne().weights().toMatrix(),
                1e-10,
                "seed 21");
    }

    @ParameterizedTest
    @EnumSource(Rotation.class)
    void dualFormAgreesWithThePrimalOnEitherSideOfN(Rotation rotation) {
        for (int features : new int[] {20, 60, 130}) {
            Problem problem = Problem.random(30, 60, features, DIMENSION);
            Adaptation.Adapted adapted = problem.adapted(settings(rotation, 0.3, 0.05, 0));
            Matrix primal = PrimalRefit.weights(
                    problem.codes().toDense(),
                    problem.targets(),
                    adapted.active().subspace().projector(),
                    adapted.stepOne().weights().toMatrix(),
                    0.3,
                    0.05);
            assertClose(primal, adapted.decoder().weights().toMatrix(), 1e-10, features + " features, seed 30");
        }
    }

    @ParameterizedTest
    @EnumSource(Rotation.class)
    void noPerturbationLowersTheObjective(Rotation rotation) {
        Problem problem = Problem.random(40, 50, 30, DIMENSION);
        double lg = 0.4;
        double lp = 0.2;
        Adaptation.Adapted adapted = problem.adapted(settings(rotation, lg, lp, 0));
        Matrix codes = problem.codes().toDense();
        Matrix projector = adapted.active().subspace().projector();
        Matrix rotated = adapted.stepOne().weights().toMatrix();
        Matrix weights = adapted.decoder().weights().toMatrix();
        double least = PrimalRefit.objective(weights, codes, problem.targets(), projector, rotated, lg, lp);
        Random random = new Random(41);
        for (int trial = 0; trial < 40; trial++) {
            Matrix step = Problem.gaussian(random, 30, DIMENSION, Math.pow(10.0, -(trial % 4)));
            double value = PrimalRefit.objective(
                    weights.plus(1.0, step), codes, problem.targets(), projector, rotated, lg, lp);
            assertTrue(value >= least, "trial %d, seed 41: %s below %s".formatted(trial, value, least));
        }
    }

    @Test
    void relativeLambdasGiveTheSameResultAtEveryScaleOfTheCodes() {
        Problem problem = Problem.random(50, 60, 40, DIMENSION);
        GaeSettings settings = new GaeSettings(RANK, Rotation.PRINTED, Regularisation.relative(0.5, 0.3), 0.2);
        Adaptation.Adapted plain = problem.adapted(settings);
        double scale = 1000.0;
        SparseCodes codes = SparseCodes.fromDense(
                Matrix.zeros(60, 40).plus(scale, problem.codes().toDense()));
        Matrix targets = Matrix.zeros(60, DIMENSION).plus(scale, problem.targets());
        Adaptation.Adapted scaled = assertInstanceOf(
                Adaptation.Adapted.class,
                GeometryAdapter.adapt(problem.trained(), problem.subspace(), codes, targets, settings));
        assertClose(
                plain.decoder().weights().toMatrix(), scaled.decoder().weights().toMatrix(), 1e-9, "weights, seed 50");
        assertClose(
                Matrix.zeros(1, DIMENSION)
                        .plus(scale, new Matrix(1, DIMENSION, plain.decoder().bias())),
                new Matrix(1, DIMENSION, scaled.decoder().bias()),
                1e-9,
                "bias, seed 50");
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.0, 0.3, 1.0})
    void errorsOfTheEmittedDecoderHaveMeanZero(double alpha) {
        Problem problem = Problem.random(60, 60, 40, DIMENSION);
        Decoder decoder =
                problem.adapted(settings(Rotation.FULL_RANK, 0.5, 0.1, alpha)).decoder();
        Matrix errors = problem.targets().minus(decoder.reconstruct(problem.codes()));
        for (double mean : SparseProducts.columnMeans(errors)) {
            assertEquals(0.0, mean, 1e-12, "seed 60");
        }
    }

    @Test
    void interpolationLiesBetweenRefitAndRotation() {
        Problem problem = Problem.random(61, 60, 40, DIMENSION);
        Adaptation.Adapted refit = problem.adapted(settings(Rotation.FULL_RANK, 0.5, 0.1, 0));
        Matrix half = problem.adapted(settings(Rotation.FULL_RANK, 0.5, 0.1, 0.25))
                .decoder()
                .weights()
                .toMatrix();
        Matrix expected = Matrix.zeros(40, DIMENSION)
                .plus(0.75, refit.decoder().weights().toMatrix())
                .plus(0.25, refit.stepOne().weights().toMatrix());
        assertClose(expected, half, 1e-12, "seed 61");
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.0, 0.4})
    void withoutPreservationTheRefitForgetsTheRotation(double geometric) {
        Problem problem = Problem.random(70, 90, 30, DIMENSION);
        Adaptation.Adapted adapted = problem.adapted(settings(Rotation.FULL_RANK, geometric, 0, 0));
        Matrix primal = PrimalRefit.weights(
                problem.codes().toDense(),
                problem.targets(),
                adapted.active().subspace().projector(),
                Matrix.zeros(30, DIMENSION),
                geometric,
                0.0);
        assertClose(primal, adapted.decoder().weights().toMatrix(), 1e-9, "seed 70");
    }

    @Test
    void withoutPreservationThereMustBeMoreRowsThanFeatures() {
        Problem problem = Problem.random(71, 30, 30, DIMENSION);
        IllegalArgumentException refusal = assertThrows(
                IllegalArgumentException.class, () -> problem.adapt(settings(Rotation.PRINTED, 0.1, 0, 0)));
        assertTrue(String.valueOf(refusal.getMessage()).contains("30 rows, 30 features"), refusal::toString);
    }

    @Test
    void aFeatureThatNeverFiresLeavesTheRefitWithoutPreservationUndecided() {
        Problem problem = Problem.random(72, 90, 30, DIMENSION);
        Matrix codes = problem.codes().toDense();
        for (int i = 0; i < codes.rows(); i++) {
            codes.set(i, 7, 0.0);
        }
        Adaptation adaptation = GeometryAdapter.adapt(
                problem.trained(),
                problem.subspace(),
                SparseCodes.fromDense(codes),
                problem.targets(),
                settings(Rotation.PRINTED, 0.1, 0, 0));
        String reason = assertInstanceOf(Adaptation.Undecided.class, adaptation).reason();
        assertTrue(reason.contains("give a larger lambda"), reason);
    }

    /** Tests a feature whose covariance has a Cholesky factor, of rounding. */
    @ParameterizedTest
    @ValueSource(doubles = {1e-6, 1e-7})
    void aFeatureThatRepeatsAnotherLeavesTheRefitWithoutPreservationUndecided(double difference) {
        Problem problem = Problem.random(73, 90, 30, DIMENSION);
        Matrix codes = problem.codes().toDense();
        for (int i = 0; i < codes.rows(); i++) {
            codes.set(i, 7, codes.get(i, 8) * (1.0 + difference * (i % 3 - 1)));
        }
        Adaptation adaptation = GeometryAdapter.adapt(
                problem.trained(),
                problem.subspace(),
                SparseCodes.fromDense(codes),
                problem.targets(),
                settings(Rotation.PRINTED, 0.1, 0, 0));
        String reason = assertInstanceOf(Adaptation.Undecided.class, adaptation).reason();
        assertTrue(reason.contains("give a larger lambda"), reason);
    }

    @Test
    void aDecoderOfLowerRankIsUndecided() {
        Problem problem = Problem.random(80, 60, 3, DIMENSION);
        String reason = assertInstanceOf(Adaptation.Undecided.class, problem.adapt(settings(Rotation.PRINTED, 1, 1, 0)))
                .reason();
        assertTrue(reason.contains("the decoder has rank 3"), reason);
    }

    @Test
    void aWindowOfFewerRowsThanTheRankIsUndecided() {
        Problem problem = Problem.random(81, 3, 30, DIMENSION);
        String reason = assertInstanceOf(Adaptation.Undecided.class, problem.adapt(settings(Rotation.PRINTED, 1, 1, 0)))
                .reason();
        assertTrue(reason.contains("window (3 rows)"), reason);
    }
}
