package io.plumbline.linalg;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

class PolarFactorTest {

    private static final long SEED = 17;

    @ParameterizedTest
    @CsvSource({"1, 1, 1e-14", "2, 10, 1e-14", "45, 1, 1e-13", "45, 100, 1e-12", "60, 1e4, 1e-10", "60, 3e4, 1e-9"})
    void itIsTheOneOfTheSingularValueDecomposition(int d, double condition, double tolerance) {
        Svd svd = withCondition(d, condition);
        Matrix matrix = product(svd);
        Matrix expected = Kernels.multiplyTranspose(svd.left(), svd.right());
        double largest = svd.values()[0];
        double smallest = svd.values()[d - 1];
        for (double slack : new double[] {1.0, 0.5}) {
            // Bounds that are too wide cost a step and no digit.
            Matrix found =
                    PolarFactor.of(matrix, largest / slack, smallest * slack).orElseThrow();
            assertEquals(0.0, expected.minus(found).frobeniusNorm(), tolerance * Math.sqrt(d), "seed " + SEED);
            Matrix products = Kernels.transposeMultiply(found, found);
            assertEquals(0.0, products.minus(Matrix.identity(d)).frobeniusNorm(), 1e-13 * Math.sqrt(d));
        }
    }

    @Test
    void whatIsNearlySingularHasNone() {
        Matrix matrix = product(withCondition(9, 1e9));
        assertTrue(PolarFactor.of(matrix, 1.0, 1e-9).isEmpty());
        assertTrue(PolarFactor.of(matrix, 1.0, 0.0).isEmpty());
        assertTrue(PolarFactor.of(matrix, 1.0, Double.NaN).isEmpty());
        assertTrue(PolarFactor.of(matrix, 0.0, 0.0).isEmpty());
        assertThrows(IllegalArgumentException.class, () -> PolarFactor.of(Matrix.zeros(2, 3), 1.0, 1.0));
    }

    /** A bound that is none cannot make something that is not orthogonal. */
    @Test
    void aWrongBoundGivesNothingOrTheFactor() {
        Svd svd = withCondition(30, 1e4);
        Matrix expected = Kernels.multiplyTranspose(svd.left(), svd.right());
        PolarFactor.of(product(svd), 1.0, 0.5)
                .ifPresent(found -> assertEquals(0.0, expected.minus(found).frobeniusNorm(), 1e-6, "seed " + SEED));
    }

    private static Svd withCondition(int d, double condition) {
        SplittableRandom random = new SplittableRandom(SEED + d);
        Matrix gaussian = Matrix.zeros(d, d);
        for (int i = 0; i < gaussian.values().length; i++) {
            gaussian.values()[i] = random.nextGaussian();
        }
        Svd svd = Svd.of(gaussian);
        double[] values = new double[d];
        for (int i = 0; i < d; i++) {
            values[i] = d == 1 ? 1.0 : Math.pow(condition, -i / (d - 1.0));
        }
        return new Svd(svd.left(), values, svd.right());
    }

    private static Matrix product(Svd svd) {
        Matrix left = svd.left().copy();
        int d = left.rows();
        for (int i = 0; i < d; i++) {
            for (int j = 0; j < d; j++) {
                left.set(i, j, left.get(i, j) * svd.values()[j]);
            }
        }
        return Kernels.multiplyTranspose(left, svd.right());
    }
}
