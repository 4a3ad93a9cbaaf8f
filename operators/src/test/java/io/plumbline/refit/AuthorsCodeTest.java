package io.plumbline.refit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.geometry.FaithfulnessGap;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Svd;
import io.plumbline.linalg.Weights;
import io.plumbline.moments.SecondMoment;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AuthorsCodeTest {

    private static final int RANK = 3;
    private static final int ROWS = 90;

    private final Problem problem = Problem.random(21, ROWS, 40, 13);

    @Test
    void stepOneKeepsTheLengthOfEveryColumnAndLiesInTheCentredSubspace() {
        Adaptation.Adapted adapted = adapt(settings(0.1, 0.2, 1.0));
        Weights rotated = adapted.stepOne().weights();
        Matrix after = rotated.toMatrix();
        Matrix before = problem.trained().weights().toMatrix();
        Weights trained = problem.trained().weights();
        for (int feature = 0; feature < trained.rows(); feature++) {
            assertEquals(norm(before, feature), norm(after, feature), 1e-12);
        }
        ActiveSubspace centred =
                ActiveSubspace.topEigenspace(SecondMoment.of(problem.targets()).covariance(), RANK);
        double gap = FaithfulnessGap.between(
                        centred.subspace(),
                        ExplainerSubspace.of(adapted.stepOne(), RANK).subspace())
                .value();
        assertEquals(0.0, gap, 1e-10);
        assertEquals(adapted.stepOne().weights(), adapted.decoder().weights());
    }

    /** Among rotations of one basis onto the other none brings the bases closer: tr(T^T U_OOD^T U_dec) is largest. */
    @Test
    void theRotationAlignsTheBasesAndNotTheEnergies() {
        Matrix trained = problem.trained().weights().toMatrix();
        Matrix window = ActiveSubspace.topEigenspace(
                        SecondMoment.of(problem.targets()).covariance(), RANK)
                .eigenvectors()
                .leadingColumns(RANK);
        Matrix dictionary = problem.subspace().leftVectors().leadingColumns(RANK);
        Matrix rotated = adapt(settings(0.1, 0.2, 1.0)).stepOne().weights().toMatrix();
        // One column gives its own turn back: D U_dec T^T is parallel to the rotated column in the window's
        // coordinates.
        Matrix inDictionary = Kernels.multiply(trained, dictionary);
        Matrix inWindow = Kernels.multiply(rotated, window);
        Matrix alignment = Kernels.transposeMultiply(window, dictionary);
        double reached = 0.0;
        Matrix turn = turnOf(inDictionary, inWindow);
        for (int i = 0; i < RANK; i++) {
            for (int j = 0; j < RANK; j++) {
                reached += turn.get(i, j) * alignment.get(j, i);
            }
        }
        Random random = new Random(5);
        for (int trial = 0; trial < 200; trial++) {
            Matrix other = Kernels.multiply(
                    turn,
                    Svd.of(Matrix.identity(RANK).plus(0.2, Problem.gaussian(random, RANK, RANK, 1)))
                            .left());
            double value = 0.0;
            for (int i = 0; i < RANK; i++) {
                for (int j = 0; j < RANK; j++) {
                    value += other.get(i, j) * alignment.get(j, i);
                }
            }
            assertTrue(value <= reached + 1e-9, value + " > " + reached);
        }
    }

    @Test
    void stepTwoIsTheRidgeOfSums() {
        GaeSettings settings = settings(0.7, 1.3, 0.0);
        Adaptation.Adapted adapted = adapt(settings);
        Matrix window = ActiveSubspace.topEigenspace(
                        SecondMoment.of(problem.targets()).covariance(), RANK)
                .eigenvectors()
                .leadingColumns(RANK);
        // The oracle knows the mean: a lambda of the sum is N times weaker there.
        Matrix expected = PrimalRefit.weights(
                problem.codes().toDense(),
                problem.targets(),
                Kernels.multiplyTranspose(window, window),
                adapted.stepOne().weights().toMatrix(),
                0.7 / ROWS,
                1.3 / ROWS);
        Decoder decoder = adapted.decoder();
        double difference = decoder.weights().toMatrix().minus(expected).frobeniusNorm() / expected.frobeniusNorm();
        assertTrue(difference < 1e-10, "relative difference " + difference);
        assertEquals(Problem.withBias(decoder.weights(), problem.rows()), decoder);
    }

    @Test
    void relativeLambdasAndNoRidgeAreRefused() {
        assertThrows(
                IllegalArgumentException.class,
                () -> adapt(new GaeSettings(RANK, Rotation.PRINTED, Regularisation.relative(0.1, 0.2), 0)));
        assertThrows(IllegalArgumentException.class, () -> adapt(settings(0.1, 0.0, 0.0)));
    }

    /** Returns T with b = a T for every row up to its length, by least squares on directions. */
    private static Matrix turnOf(Matrix before, Matrix after) {
        Matrix scaled = after.copy();
        for (int row = 0; row < before.rows(); row++) {
            double factor = norm(before, row) / norm(after, row);
            for (int j = 0; j < after.columns(); j++) {
                scaled.set(row, j, after.get(row, j) * factor);
            }
        }
        Svd svd = Svd.of(Kernels.transposeMultiply(before, scaled));
        return Kernels.multiplyTranspose(svd.left(), svd.right());
    }

    private static double norm(Matrix matrix, int row) {
        return matrix.rowRange(row, row + 1).frobeniusNorm();
    }

    private Adaptation.Adapted adapt(GaeSettings settings) {
        return assertInstanceOf(
                Adaptation.Adapted.class,
                AuthorsCode.adapt(problem.trained(), problem.subspace(), problem.codes(), problem.targets(), settings));
    }

    private static GaeSettings settings(double geometric, double preservation, double alpha) {
        return new GaeSettings(RANK, Rotation.PRINTED, Regularisation.absolute(geometric, preservation), alpha);
    }
}
