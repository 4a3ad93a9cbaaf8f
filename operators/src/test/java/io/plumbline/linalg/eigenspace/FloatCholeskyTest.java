package io.plumbline.linalg.eigenspace;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.kernel.FloatTileKernel;
import io.plumbline.linalg.kernel.PanelTwinsTest;
import io.plumbline.linalg.kernel.UpdateKernel;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compares both kernels with their definitions and with known eigenvalues, over sizes that fill no tile, strip or
 * block.
 */
class FloatCholeskyTest {

    private static final int ROWS = FloatTileKernel.ROWS;
    private static final int WIDTH = FloatTileKernel.WIDTH;

    static Stream<Arguments> counts() {
        return PanelTwinsTest.kernels()
                .flatMap(kernel -> IntStream.of(0, 1, 5, 48, 145).mapToObj(count -> Arguments.of(kernel, count)));
    }

    static Stream<Arguments> sizes() {
        return PanelTwinsTest.kernels().flatMap(kernel -> IntStream.of(2, 7, 9, 47, 49, 97, 143, 145, 193, 390)
                .mapToObj(n -> Arguments.of(kernel, n)));
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("counts")
    void aTileIsAddedToWithinTheRoundingOfItsSum(UpdateKernel kernel, int count) {
        float[] left = random(count * WIDTH + 3, count);
        float[] right = random(count * WIDTH + 2, count + 1L);
        float[] before = random(ROWS * WIDTH + 2, count + 2L);
        float[] after = before.clone();
        kernel.floatTiles().add(left, 3, right, 2, count, after, 1);
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < WIDTH; j++) {
                int at = 1 + i * WIDTH + j;
                double sum = before[at];
                double sizes = Math.abs(sum);
                for (int h = 0; h < count; h++) {
                    double product = (double) left[3 + h * WIDTH + i] * right[2 + h * WIDTH + j];
                    sum += product;
                    sizes += Math.abs(product);
                }
                assertEquals(sum, after[at], (count + 1) * 0x1p-24 * sizes, kernel + ", entry " + i + ", " + j);
            }
        }
        assertEquals(before[0], after[0]);
        assertEquals(before[ROWS * WIDTH + 1], after[ROWS * WIDTH + 1]);
    }

    @ParameterizedTest
    @MethodSource("io.plumbline.linalg.kernel.PanelTwinsTest#kernels")
    void aSolvedTileSolvesItsSystemAndNothingElseIsReadOrWritten(UpdateKernel kernel) {
        float[] triangle = random(ROWS * ROWS + 1, 7);
        for (int h = 0; h < ROWS; h++) {
            Arrays.fill(triangle, 1 + h * ROWS, 1 + h * ROWS + h, Float.NaN);
            triangle[1 + h * ROWS + h] = -1f / (2f + h);
        }
        float[] before = random(ROWS * WIDTH + 2, 8);
        float[] x = before.clone();
        kernel.floatTiles().solve(triangle, 1, x, 1);
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < WIDTH; j++) {
                // Row i of R^T X = -C.
                double sum = (2.0 + i) * x[1 + i * WIDTH + j];
                double sizes = Math.abs(sum) + Math.abs(before[1 + i * WIDTH + j]);
                for (int h = 0; h < i; h++) {
                    double product = (double) triangle[1 + h * ROWS + i] * x[1 + h * WIDTH + j];
                    sum += product;
                    sizes += Math.abs(product);
                }
                assertEquals(-before[1 + i * WIDTH + j], sum, 2 * (ROWS + 2) * 0x1p-24 * sizes, "row " + i);
            }
        }
        assertEquals(before[0], x[0]);
        assertEquals(before[ROWS * WIDTH + 1], x[ROWS * WIDTH + 1]);
    }

    /** {@code I - (1 - least) u u^T} has one eigenvalue that is not 1, and u reaches every row. */
    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("sizes")
    void anEigenvalueIsSeenOnItsSideOfZeroUpToTheStatedShare(UpdateKernel kernel, int n) {
        double share = FloatCholesky.share(n) * n;
        assertTrue(share < 0.01, "of a trace of n: " + share);
        SplittableRandom random = new SplittableRandom(n);
        double[] u = random.doubles(n, -1.0, 1.0).toArray();
        double length = Math.sqrt(Arrays.stream(u).map(x -> x * x).sum());
        for (double least : new double[] {1.0, 0.5, share, -share, -0.5, -20.0}) {
            Matrix matrix = Matrix.identity(n);
            for (int i = 0; i < n; i++) {
                for (int j = 0; j < n; j++) {
                    double part = (1.0 - least) * u[i] / length * u[j] / length;
                    matrix.set(i, j, matrix.get(i, j) - part);
                }
            }
            String where = "%s, n = %d, least eigenvalue %s".formatted(kernel, n, least);
            assertEquals(least > 0.0, FloatCholesky.holds(negative(matrix), kernel.floatTiles()), where);
        }
    }

    @ParameterizedTest
    @MethodSource("io.plumbline.linalg.kernel.PanelTwinsTest#kernels")
    void whatIsNotFiniteIsNotPositiveDefinite(UpdateKernel kernel) {
        for (double wrong : new double[] {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY}) {
            Matrix matrix = Matrix.identity(100);
            matrix.set(3, 60, wrong);
            assertFalse(FloatCholesky.holds(negative(matrix), kernel.floatTiles()), kernel + ", " + wrong);
        }
    }

    private static float[][] negative(Matrix matrix) {
        int n = matrix.rows();
        float[][] strips = new float[(n + WIDTH - 1) / WIDTH][];
        for (int strip = 0; strip < strips.length; strip++) {
            strips[strip] = new float[(strip + 1) * WIDTH * WIDTH];
            for (int row = 0; row < (strip + 1) * WIDTH; row++) {
                for (int j = Math.max(0, row - strip * WIDTH); j < WIDTH; j++) {
                    int column = strip * WIDTH + j;
                    double value = row < n && column < n ? matrix.get(row, column) : row == column ? 1.0 : 0.0;
                    strips[strip][row * WIDTH + j] = (float) -value;
                }
            }
        }
        return strips;
    }

    private static float[] random(int length, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        float[] values = new float[length];
        for (int i = 0; i < length; i++) {
            values[i] = (float) random.nextDouble(-1.0, 1.0);
        }
        return values;
    }
}
