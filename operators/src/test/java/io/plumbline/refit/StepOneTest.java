package io.plumbline.refit;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Svd;
import io.plumbline.moments.SecondMoment;
import java.util.Random;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class StepOneTest {

    private static final int DIMENSION = 21;

    /** Tests scales of the last direction: a dictionary that spans it, one that hardly does, one that does not. */
    @ParameterizedTest
    @CsvSource({"1, 1", "1, 4", "1, 15", "1, 20", "1e-2, 4", "2e-3, 9", "1e-6, 4", "0, 4"})
    void complementsAreTurnedOntoEachOtherAsBySingularVectors(double last, int rank) {
        Matrix weights = Problem.gaussian(new Random(rank), 200, DIMENSION, 1.0);
        for (int i = 0; i < weights.rows(); i++) {
            weights.set(i, DIMENSION - 1, last * weights.get(i, DIMENSION - 1));
        }
        ExplainerSubspace trained = ExplainerSubspace.ofWeights(weights, rank);
        Matrix rows = Problem.gaussian(new Random(31), 90, DIMENSION, 1.0);
        ActiveSubspace window = ActiveSubspace.topEigenspace(SecondMoment.of(rows), rank);
        Matrix found = StepOne.of(trained, window, Rotation.FULL_RANK).outside();

        Matrix from = columns(trained.leftVectors(), rank);
        Matrix onto = columns(window.eigenvectors(), rank);
        assertClose(Kernels.multiplyTranspose(from, from), Kernels.multiplyTranspose(found, found), "its columns");
        assertClose(Kernels.multiplyTranspose(onto, onto), Kernels.transposeMultiply(found, found), "its rows");
        if (last == 0.0) {
            return; // One direction may go to either side.
        }
        Matrix alignment = Kernels.transposeMultiply(from, onto);
        for (int i = 0; i < alignment.rows(); i++) {
            double value = trained.singularValues()[rank + i];
            for (int j = 0; j < alignment.columns(); j++) {
                alignment.set(i, j, value * value * alignment.get(i, j));
            }
        }
        Svd svd = Svd.of(alignment);
        Matrix expected = Kernels.multiplyTranspose(
                Kernels.multiply(from, Kernels.multiplyTranspose(svd.left(), svd.right())), onto);
        assertClose(expected, found, "scale " + last);
    }

    /** Tests a width from which on leading directions are found without the others, up to a sine of 1e-4. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void theFullRankFormIsARotationAtAnyWidth(boolean allAreKnown) {
        int dimension = 1_024;
        int rank = 6;
        Random random = new Random(5);
        Matrix weights = Problem.gaussian(random, 1_500, dimension, 1.0);
        for (int i = 0; i < weights.rows(); i++) {
            for (int j = 0; j < 2 * rank; j++) {
                weights.set(i, j, (4.0 - 0.2 * j) * weights.get(i, j));
            }
        }
        ExplainerSubspace trained = ExplainerSubspace.ofWeights(weights, rank);
        assertTrue(trained.sineBound() > 0.0);
        if (allAreKnown) {
            trained.leftVectors();
        }
        Matrix rows = Problem.gaussian(random, 90, dimension, 1.0);
        ActiveSubspace window = ActiveSubspace.leadingOnly(SecondMoment.of(rows).matrix(), rank, null);
        StepOne rotation = StepOne.of(trained, window, Rotation.FULL_RANK);
        Matrix turned = rotation.rotate(Matrix.identity(dimension), 1.0);
        assertClose(Matrix.identity(dimension), Kernels.transposeMultiply(turned, turned), "R^T R");
    }

    private static Matrix columns(Matrix matrix, int from) {
        return matrix.transpose().rowRange(from, matrix.columns()).transpose();
    }

    private static void assertClose(Matrix expected, Matrix found, String message) {
        assertEquals(0.0, expected.minus(found).frobeniusNorm(), 1e-10, message);
    }
}
