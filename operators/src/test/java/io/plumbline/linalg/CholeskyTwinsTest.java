package io.plumbline.linalg;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.kernel.PanelTwinsTest;
import io.plumbline.linalg.kernel.TileKernel;
import io.plumbline.linalg.kernel.UpdateKernel;
import io.plumbline.parallel.Cores;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compares tiles and factorisations of the plain and the vector kernel with their definitions, over sizes that fill no
 * tile, strip or block.
 */
class CholeskyTwinsTest {

    private static final int ROWS = TileKernel.ROWS;
    private static final int WIDTH = TileKernel.WIDTH;

    static Stream<Arguments> counts() {
        return PanelTwinsTest.kernels()
                .flatMap(kernel -> IntStream.of(0, 1, 5, 24, 121).mapToObj(count -> Arguments.of(kernel, count)));
    }

    static Stream<Arguments> sizes() {
        return PanelTwinsTest.kernels()
                .flatMap(kernel -> IntStream.of(1, 7, 8, 9, 23, 24, 25, 47, 119, 120, 121, 143, 145, 265)
                        .mapToObj(n -> Arguments.of(kernel, n)));
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("counts")
    void aTileIsAddedToWithinTheRoundingOfItsSum(UpdateKernel kernel, int count) {
        double[] left = random(count * WIDTH + 3, count);
        double[] right = random(count * WIDTH + 2, count + 1L);
        double[] before = random(ROWS * WIDTH + 2, count + 2L);
        double[] after = before.clone();
        kernel.tiles().add(left, 3, right, 2, count, after, 1);
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < WIDTH; j++) {
                int at = 1 + i * WIDTH + j;
                double sum = before[at];
                double sizes = Math.abs(sum);
                for (int h = 0; h < count; h++) {
                    double product = left[3 + h * WIDTH + i] * right[2 + h * WIDTH + j];
                    sum += product;
                    sizes += Math.abs(product);
                }
                assertEquals(sum, after[at], 2 * (count + 1) * 0x1p-53 * sizes, kernel + ", entry " + i + ", " + j);
            }
        }
        assertEquals(before[0], after[0]);
        assertEquals(before[ROWS * WIDTH + 1], after[ROWS * WIDTH + 1]);
    }

    @ParameterizedTest
    @MethodSource("io.plumbline.linalg.kernel.PanelTwinsTest#kernels")
    void aSolvedTileSolvesItsSystemAndNothingElseIsReadOrWritten(UpdateKernel kernel) {
        double[] triangle = random(ROWS * ROWS + 1, 7);
        for (int h = 0; h < ROWS; h++) {
            Arrays.fill(triangle, 1 + h * ROWS, 1 + h * ROWS + h, Double.NaN);
            triangle[1 + h * ROWS + h] = -1.0 / (2.0 + h);
        }
        double[] before = random(ROWS * WIDTH + 2, 8);
        double[] x = before.clone();
        kernel.tiles().solve(triangle, 1, x, 1);
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < WIDTH; j++) {
                // Row i of R^T X = -C.
                double sum = (2.0 + i) * x[1 + i * WIDTH + j];
                double sizes = Math.abs(sum) + Math.abs(before[1 + i * WIDTH + j]);
                for (int h = 0; h < i; h++) {
                    double product = triangle[1 + h * ROWS + i] * x[1 + h * WIDTH + j];
                    sum += product;
                    sizes += Math.abs(product);
                }
                assertEquals(-before[1 + i * WIDTH + j], sum, 2 * (ROWS + 2) * 0x1p-53 * sizes, "row " + i);
            }
        }
        assertEquals(before[0], x[0]);
        assertEquals(before[ROWS * WIDTH + 1], x[ROWS * WIDTH + 1]);
    }

    /** Tests right-hand sides that begin with zeros, for which most of the forward half is passed over. */
    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("sizes")
    void rowsOfZerosBeforeTheFirstOtherChangeNoBit(UpdateKernel kernel, int n) {
        Matrix matrix = new Matrix(n, n, random(n * n, n));
        Matrix system = Kernels.multiplyTranspose(matrix, matrix).plus(n, Matrix.identity(n));
        Cholesky cholesky = Cholesky.of(system, kernel);
        int columns = WIDTH + 1;
        Matrix zerosFirst = new Matrix(n, columns, random(n * columns, n + 1L));
        int zeros = n * 19 / 20 * columns;
        Arrays.fill(zerosFirst.values(), 0, zeros, 0.0);
        // A column more that has no zeros, in the same strip as the last one: nothing is passed over.
        Matrix mixed = Matrix.zeros(n, columns + 1);
        for (int i = 0; i < n; i++) {
            System.arraycopy(zerosFirst.values(), i * columns, mixed.values(), i * (columns + 1), columns);
            mixed.set(i, columns, 1.0);
        }
        Matrix expected = cholesky.solve(mixed).leadingColumns(columns);
        Matrix found = cholesky.solve(zerosFirst);
        assertArrayEquals(expected.values(), found.values(), kernel.toString());
    }

    /**
     * Half a solve needs the factor the other way round; also where it has tiles that change places with themselves.
     */
    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("sizes")
    void solvingAgainOrInPlaceGivesTheSameBits(UpdateKernel kernel, int n) {
        Matrix matrix = new Matrix(n, n, random(n * n, n));
        Matrix system = Kernels.multiplyTranspose(matrix, matrix).plus(n, Matrix.identity(n));
        Matrix rightHandSides = new Matrix(n, WIDTH + 5, random(n * (WIDTH + 5), n + 2L));
        double[] given = rightHandSides.values().clone();
        Cholesky cholesky = Cholesky.of(system, kernel);
        Matrix first = cholesky.solve(rightHandSides);
        assertArrayEquals(given, rightHandSides.values(), "not changed");
        Matrix second = cholesky.solve(rightHandSides);
        assertArrayEquals(first.values(), second.values(), kernel.toString());
        cholesky.solveInPlace(rightHandSides);
        assertArrayEquals(first.values(), rightHandSides.values(), kernel.toString());
    }

    /**
     * The computed solution solves {@code (A + E) x = b} with {@code |E| <= g |R^T| |R|}, g = (3 n + 4) 2^-53 and some
     * (Higham, Accuracy and Stability, theorem 10.4, with an operation more where a reciprocal stands for a division),
     * whose norm is at most the trace; and that for a system with a condition number of 1e12.
     */
    @ParameterizedTest(name = "{0}, n = {1}")
    @MethodSource("sizes")
    void solvingIsBackwardStableHoweverIllConditioned(UpdateKernel kernel, int n) {
        Matrix root = new Matrix(n, n, random(n * n, n));
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < n; j++) {
                root.set(i, j, root.get(i, j) * Math.pow(10.0, -6.0 * i / n));
            }
        }
        Matrix system = Kernels.transposeMultiply(root, root).plus(1e-12, Matrix.identity(n));
        Matrix rightHandSides = new Matrix(n, 29, random(n * 29, n + 1L));
        Matrix read = system.copy();
        for (int i = 0; i < n; i++) {
            Arrays.fill(read.values(), i * n, i * n + i, Double.NaN);
        }
        Matrix solution = Cholesky.of(read, kernel).solve(rightHandSides);
        double residual =
                Kernels.multiply(system, solution).minus(rightHandSides).frobeniusNorm();
        double tolerance = (3.0 * n + 4) * 0x1p-53 * system.trace() * solution.frobeniusNorm()
                + 2 * n * 0x1p-53 * system.frobeniusNorm() * solution.frobeniusNorm();
        assertTrue(residual <= tolerance, "%s, n = %d: %s above %s".formatted(kernel, n, residual, tolerance));
    }

    @ParameterizedTest
    @MethodSource("io.plumbline.linalg.kernel.PanelTwinsTest#kernels")
    void aPivotThatIsNotPositiveIsNamedWhereverItStands(UpdateKernel kernel) {
        for (int row : new int[] {0, 5, 8, 23, 24, 119, 120, 166, 168}) {
            Matrix matrix = Matrix.identity(169).plus(1.0, Matrix.identity(169));
            matrix.set(row, row, -3.0);
            ArithmeticException refusal = assertThrows(ArithmeticException.class, () -> Cholesky.of(matrix, kernel));
            assertEquals(
                    "not positive definite: pivot %d of 169 is -3.0 (of a diagonal entry -3.0)".formatted(row),
                    refusal.getMessage());
        }
        Matrix unknown = Matrix.identity(40);
        unknown.set(3, 30, Double.NaN);
        ArithmeticException refusal = assertThrows(ArithmeticException.class, () -> Cholesky.of(unknown, kernel));
        assertTrue(String.valueOf(refusal.getMessage()).contains("pivot 30 of 40 is NaN"), refusal.getMessage());
    }

    @Test
    void theNumberOfThreadsDoesNotChangeABit() {
        int n = 700;
        Matrix root = new Matrix(n, n, random(n * n, 5));
        Matrix system = Kernels.transposeMultiply(root, root).plus(1.0, Matrix.identity(n));
        Matrix rightHandSides = new Matrix(n, 400, random(n * 400, 6));
        double[] together = Cholesky.of(system).solve(rightHandSides).values();
        String before = System.getProperty(Cores.PROPERTY);
        System.setProperty(Cores.PROPERTY, "1");
        try {
            assertArrayEquals(
                    together, Cholesky.of(system).solve(rightHandSides).values());
        } finally {
            if (before == null) {
                System.clearProperty(Cores.PROPERTY);
            } else {
                System.setProperty(Cores.PROPERTY, before);
            }
        }
        Matrix last = Matrix.zeros(n, 1);
        for (int i = 0; i < n; i++) {
            last.set(i, 0, rightHandSides.get(i, 399));
        }
        double[] alone = Cholesky.of(system).solve(last).values();
        for (int i = 0; i < n; i++) {
            assertEquals(together[i * 400 + 399], alone[i], "row " + i);
        }
    }

    private static double[] random(int length, long seed) {
        return new SplittableRandom(seed).doubles(length, -1, 2).toArray();
    }
}
