package io.plumbline.linalg.eigenspace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.OrthonormalRows;
import io.plumbline.linalg.SymmetricEigen;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Compares with the full decomposition of a library. */
class LeadingEigenpairsTest {

    @Test
    void valuesAreThoseOfTheFullDecompositionAndVectorsAreOrthonormalEigenvectors() {
        for (int n : new int[] {1, 2, 3, 5, 17, 64, 90}) {
            for (long seed = 1; seed <= 4; seed++) {
                Random random = new Random(seed);
                Matrix symmetric = symmetric(random, n);
                requireEigenpairs(symmetric, 1 + random.nextInt(n), "random, seed " + seed);
            }
        }
    }

    /** Tests bands, which the restriction of a moment to a Krylov space has. */
    @Test
    void bandedMatricesOfAnyScaleAreDecomposed() {
        for (double scale : new double[] {1e-290, 1e-100, 1.0, 1e100, 1e290}) {
            Matrix banded = symmetric(new Random(8), 120);
            for (int i = 0; i < 120; i++) {
                for (int j = 0; j < 120; j++) {
                    double decay = scale / (1 + Math.max(i, j));
                    banded.set(i, j, Math.abs(i - j) > 12 ? 0.0 : decay * banded.get(i, j));
                }
            }
            requireEigenpairs(banded, 40, "banded, times " + scale);
        }
    }

    @Test
    void repeatedEigenvaluesHaveVectorsOfTheirOwn() {
        Random random = new Random(2);
        int n = 60;
        Matrix basis = OrthonormalRows.of(symmetric(random, n), Matrix.zeros(0, n), random);
        Matrix scaled = basis.copy();
        for (int i = 0; i < n * n; i++) {
            scaled.values()[i] *= 5 - i / n / 12;
        }
        requireEigenpairs(Kernels.transposeMultiply(basis, scaled), 24, "twelve of each");
        requireEigenpairs(Matrix.identity(9), 4, "identity");
        requireEigenpairs(Matrix.zeros(9, 9), 4, "zeros");
    }

    /**
     * Tests low rank, which the moment of fewer rows than columns has: beside the zeros there is only what rounding
     * left of the rest.
     */
    @Test
    void matricesOfLowRankAreDecomposed() {
        for (long seed = 1; seed <= 60; seed++) {
            Random random = new Random(seed);
            int n = 40 + random.nextInt(60);
            Matrix rows = Matrix.zeros(1 + random.nextInt(n), n);
            for (int i = 0; i < rows.values().length; i++) {
                rows.values()[i] = random.nextGaussian() * (i / n < 3 ? 1e4 : 1.0);
            }
            requireEigenpairs(Kernels.transposeMultiply(rows, rows), Math.min(8, rows.rows()), "seed " + seed);
        }
    }

    /** Tests matrices with many values that are 0 but for rounding, each by another share of it. */
    @Test
    void matricesThatFallApartHaveAVectorForEachPart() {
        for (long seed = 1; seed <= 1_000; seed++) {
            Random random = new Random(seed);
            int n = 8 + random.nextInt(12);
            Matrix sparse = Matrix.zeros(n, n);
            for (int i = 0; i < n; i++) {
                for (int j = 0; j <= i; j++) {
                    double value = random.nextInt(8) == 0 ? 1e-150 * random.nextInt(-2, 3) : 0.0;
                    sparse.set(i, j, value);
                    sparse.set(j, i, value);
                }
            }
            requireEigenpairs(sparse, n / 2, "seed " + seed);
        }
        Matrix outlier = symmetric(new Random(9), 12);
        for (int i = 0; i < 144; i++) {
            outlier.values()[i] *= i == 0 ? 1e150 : 1e-150;
        }
        requireEigenpairs(outlier, 3, "one entry");
    }

    @Test
    void whatIsNotFiniteIsRefused() {
        Matrix matrix = Matrix.identity(12);
        matrix.set(3, 4, Double.NaN);
        matrix.set(4, 3, Double.NaN);
        assertThrows(ArithmeticException.class, () -> LeadingEigenpairs.of(matrix, 2));
    }

    private static void requireEigenpairs(Matrix symmetric, int count, String what) {
        int n = symmetric.rows();
        String where = "%s, n = %d, %d of them".formatted(what, n, count);
        SymmetricEigen full = SymmetricEigen.of(symmetric);
        LeadingEigenpairs.Found found = LeadingEigenpairs.of(symmetric, count);
        double norm = symmetric.frobeniusNorm();
        double rounding = 4 * n * 0x1p-53 * norm;
        assertArrayEquals(full.values(), found.values(), rounding, where);
        assertArrayEquals(found.values(), LeadingEigenpairs.values(symmetric), 0.0, where);
        assertEquals(count, found.vectors().columns(), where);
        Matrix gram = Kernels.transposeMultiply(found.vectors(), found.vectors());
        assertEquals(0.0, gram.minus(Matrix.identity(count)).frobeniusNorm(), 1e-14 * n, where);
        Matrix residual = Kernels.multiply(symmetric, found.vectors());
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < count; j++) {
                double image = found.values()[j] * found.vectors().get(i, j);
                residual.set(i, j, residual.get(i, j) - image);
            }
        }
        assertTrue(residual.frobeniusNorm() <= 4 * rounding, where + ": " + residual.frobeniusNorm() / norm);
    }

    private static Matrix symmetric(Random random, int n) {
        Matrix matrix = Matrix.zeros(n, n);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j <= i; j++) {
                double value = random.nextGaussian();
                matrix.set(i, j, value);
                matrix.set(j, i, value);
            }
        }
        return matrix;
    }
}
