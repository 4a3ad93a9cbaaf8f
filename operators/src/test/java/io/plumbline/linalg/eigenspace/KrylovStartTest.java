package io.plumbline.linalg.eigenspace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.OrthonormalRows;
import io.plumbline.linalg.SymmetricEigen;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests what a Krylov space hands to the iteration, which could mend most of it at the price of more products. */
class KrylovStartTest {

    private static final int D = 400;

    /**
     * Tests few directions: a product then lies in the space to five digits, and what is left of it needs a second
     * look.
     */
    @Test
    void vectorsAreOrthonormalWhereAFewDirectionsOutweighTheRest() {
        double[] values = new double[D];
        for (int i = 0; i < D; i++) {
            values[i] = (i < 4 ? 1e5 : 1.0) / (i + 1);
        }
        Matrix moment = rotated(values);
        KrylovStart.Found found = started(moment, 8, 1e-4);
        double defect = Kernels.multiplyTranspose(found.vectors(), found.vectors())
                .minus(Matrix.identity(found.vectors().rows()))
                .frobeniusNorm();
        assertEquals(0.0, defect, 1e-12);
    }

    /** Tests the vectors, so that nobody needs to decompose what the space is restricted to again. */
    @Test
    void vectorsAreRitzVectorsToRounding() {
        for (double outlier : new double[] {1.0, 50.0, 1e5}) {
            double[] values = new double[D];
            for (int i = 0; i < D; i++) {
                values[i] = (i < 4 ? outlier : 1.0) / (i + 1);
            }
            Matrix moment = rotated(values);
            KrylovStart.Found found = started(moment, 8, 1e-4);
            Matrix restricted = Kernels.multiplyTranspose(found.vectors(), found.images());
            double beside = 0.0;
            for (int i = 0; i < 24; i++) {
                for (int j = 0; j < 24; j++) {
                    beside += i == j ? 0.0 : restricted.get(i, j) * restricted.get(i, j);
                }
            }
            double rounding = 4 * 0x1p-53 * Math.sqrt(D) * moment.frobeniusNorm();
            assertTrue(Math.sqrt(beside) <= rounding, outlier + ": " + Math.sqrt(beside) + ", rounding " + rounding);
        }
    }

    @Test
    void theSpaceGrowsUntilItsVectorsAreAsGoodAsWanted() {
        double[] values = new double[D];
        for (int i = 0; i < D; i++) {
            values[i] = 1.0 / Math.sqrt(i + 1);
        }
        Matrix moment = rotated(values);
        int rank = 4;
        double tolerance = 1e-3;
        KrylovStart.Found found = started(moment, rank, tolerance);
        Matrix images = Kernels.multiply(found.vectors(), moment);
        double sum = 0.0;
        for (int i = 0; i < rank; i++) {
            double ritz = Kernels.dot(images.values(), i * D, found.vectors().values(), i * D, D);
            for (int j = 0; j < D; j++) {
                double error = images.get(i, j) - ritz * found.vectors().get(i, j);
                sum += error * error;
            }
        }
        double wanted = 0.5 * tolerance * (values[rank - 1] - values[rank]);
        assertTrue(Math.sqrt(sum) <= 1.2 * wanted, Math.sqrt(sum) + " left, wanted " + wanted);
    }

    /**
     * Tests the moment of a window of few rows: all that the space can hold it does after as many vectors as rows, and
     * then it ends.
     */
    @Test
    void theSpaceOfAMomentOfFewRowsEndsWithItsEigenvectors() {
        for (int rows : new int[] {40, 48, 50, 56, 60, 101}) {
            Random random = new Random(rows);
            Matrix sample = Matrix.zeros(rows, D);
            for (int i = 0; i < sample.values().length; i++) {
                sample.values()[i] = random.nextInt(-9, 10) * (i % D < 12 ? 4.0 : 1.0);
            }
            Matrix moment = Kernels.transposeMultiply(sample, sample);
            KrylovStart.Found found = started(moment, 8, 1e-10);
            Matrix leading = SymmetricEigen.of(moment).vectors().leadingColumns(8);
            Matrix beside = Kernels.multiply(found.vectors().rowRange(0, 8), leading);
            double outside = 8.0 - Math.pow(beside.frobeniusNorm(), 2);
            assertEquals(0.0, outside, 1e-6, () -> "of " + sample.rows() + " rows");
        }
    }

    private static KrylovStart.Found started(Matrix moment, int rank, double tolerance) {
        double floor = 4 * 0x1p-53 * Math.sqrt(D) * moment.frobeniusNorm();
        KrylovStart.Found found = KrylovStart.of(moment, rank, 24, null, tolerance, floor, new Random(1));
        assertNotNull(found);
        return found;
    }

    private static Matrix rotated(double[] values) {
        Random random = new Random(4);
        Matrix any = Matrix.zeros(D, D);
        for (int i = 0; i < D * D; i++) {
            any.values()[i] = random.nextGaussian();
        }
        Matrix basis = OrthonormalRows.of(any, Matrix.zeros(0, D), random);
        Matrix scaled = basis.copy();
        for (int i = 0; i < D * D; i++) {
            scaled.values()[i] *= values[i / D];
        }
        return Kernels.transposeMultiply(basis, scaled);
    }
}
