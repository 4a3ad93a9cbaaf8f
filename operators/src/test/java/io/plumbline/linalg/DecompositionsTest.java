package io.plumbline.linalg;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Random;
import org.apache.commons.math3.linear.Array2DRowRealMatrix;
import org.apache.commons.math3.linear.SingularValueDecomposition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DecompositionsTest {

    @ParameterizedTest
    @ValueSource(ints = {1, 2, 7, 8, 9, 17, 64, 65, 131, 390})
    void theSolutionSolvesTheSystem(int n) {
        Random random = new Random(n);
        Matrix root = gaussian(random, n + 3, n);
        Matrix system = Kernels.transposeMultiply(root, root).plus(1.0, Matrix.identity(n));
        Matrix expected = gaussian(random, n, 5);
        Matrix solution = Cholesky.of(system).solve(Kernels.multiply(system, expected));
        double error = solution.minus(expected).frobeniusNorm() / expected.frobeniusNorm();
        double tolerance = 8 * n * Math.ulp(1.0) * system.frobeniusNorm();
        assertTrue(error <= tolerance, "seed %d: error %s above %s".formatted(n, error, tolerance));
    }

    @Test
    void anIndefiniteMatrixIsRefusedWithItsPivot() {
        Matrix indefinite = new Matrix(2, 2, new double[] {1, 2, 2, 1});
        ArithmeticException refusal = assertThrows(ArithmeticException.class, () -> Cholesky.of(indefinite));
        assertTrue(String.valueOf(refusal.getMessage()).contains("pivot 1 of 2 is -3.0"), refusal.getMessage());
    }

    @Test
    void rightHandSidesOfAnotherSizeAreRefused() {
        Cholesky two = Cholesky.of(Matrix.identity(2));
        assertThrows(IllegalArgumentException.class, () -> two.solve(Matrix.zeros(3, 1)));
    }

    @ParameterizedTest
    @CsvSource({"1,1", "5,5", "9,4", "4,9", "40,40", "3,1", "1,3"})
    void theFactorsMultiplyBackAndAreOrthonormal(int rows, int columns) {
        Matrix matrix = gaussian(new Random(rows * 100L + columns), rows, columns);
        Svd svd = Svd.of(matrix);
        int count = Math.min(rows, columns);
        assertEquals(count, svd.left().columns());
        assertEquals(count, svd.right().columns());
        Matrix scaled = svd.left().copy();
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < count; j++) {
                scaled.set(i, j, scaled.get(i, j) * svd.values()[j]);
            }
        }
        assertClose(matrix, Kernels.multiplyTranspose(scaled, svd.right()), 1e-13 * matrix.frobeniusNorm());
        assertClose(Matrix.identity(count), Kernels.transposeMultiply(svd.left(), svd.left()), 1e-13);
        assertClose(Matrix.identity(count), Kernels.transposeMultiply(svd.right(), svd.right()), 1e-13);
        assertArrayEquals(svd.values(), Svd.values(matrix), 1e-13 * svd.values()[0]);
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3})
    void theVectorsOfASingularMatrixAreStillOrthonormal(int rank) {
        Random random = new Random(rank);
        Matrix matrix =
                rank == 0 ? Matrix.zeros(6, 6) : Kernels.multiply(gaussian(random, 6, rank), gaussian(random, rank, 6));
        Svd svd = Svd.of(matrix);
        assertClose(Matrix.identity(6), Kernels.transposeMultiply(svd.left(), svd.left()), 1e-13);
        assertClose(Matrix.identity(6), Kernels.transposeMultiply(svd.right(), svd.right()), 1e-13);
    }

    @ParameterizedTest
    @CsvSource({"1,1", "3,5", "5,3", "64,10", "65,10", "200,33", "241,24", "250,25", "500,49", "1300,30"})
    void theTriangleHasTheSingularValuesOfTheWhole(int rows, int columns) {
        Random random = new Random(rows * 1000L + columns);
        Matrix tall = gaussian(random, rows, columns);
        for (int i = 0; i < rows; i++) {
            tall.set(i, 0, 1e-9 * tall.get(i, 0)); // the squared form would lose this direction
        }
        Matrix factor = TriangularFactor.of(tall);
        for (int i = 1; i < columns; i++) {
            for (int j = 0; j < i; j++) {
                assertEquals(0.0, factor.get(i, j));
            }
        }
        double[][] table = new double[rows][columns];
        for (int i = 0; i < rows; i++) {
            System.arraycopy(tall.values(), i * columns, table[i], 0, columns);
        }
        double[] expected = new SingularValueDecomposition(new Array2DRowRealMatrix(table)).getSingularValues();
        double[] actual = Svd.values(factor);
        for (int j = 0; j < Math.min(rows, columns); j++) {
            assertEquals(expected[j], actual[j], 1e-14 * rows * expected[0], "singular value " + j);
        }
    }

    @Test
    void aColumnThatIsAlmostDoneAlreadyDoesNotCancel() {
        Matrix tall = new Matrix(3, 2, new double[] {1, 5, 1e-9, 7, 0, 0});
        assertArrayEquals(Svd.values(tall), Svd.values(TriangularFactor.of(tall)), 1e-14);
    }

    private static void assertClose(Matrix expected, Matrix actual, double tolerance) {
        double distance = actual.minus(expected).frobeniusNorm();
        assertTrue(distance <= tolerance, "distance %s above %s".formatted(distance, tolerance));
    }

    private static Matrix gaussian(Random random, int rows, int columns) {
        Matrix matrix = Matrix.zeros(rows, columns);
        for (int i = 0; i < matrix.values().length; i++) {
            matrix.values()[i] = random.nextGaussian();
        }
        return matrix;
    }
}
