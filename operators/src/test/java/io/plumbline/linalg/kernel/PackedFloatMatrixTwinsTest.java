package io.plumbline.linalg.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compares float products of both kernels with the definition in float64, over sizes that fill no tile, strip or cache.
 */
class PackedFloatMatrixTwinsTest {

    private static final int[][] SIZES = {
        {1, 1, 1},
        {3, 2, 5},
        {7, 9, 47},
        {8, 128, 48},
        {9, 129, 49},
        {17, 257, 95},
        {64, 31, 97},
        {13, 700, 300},
        {100, 300, 150}
    };

    static Stream<Arguments> sizes() {
        return PanelTwinsTest.kernels()
                .flatMap(kernel -> Stream.of(SIZES).map(size -> Arguments.of(kernel, size[0], size[1], size[2])));
    }

    @ParameterizedTest(name = "{0}, {1} x {2} x {3}")
    @MethodSource("sizes")
    void productsAreWithinTheDocumentedBound(UpdateKernel kernel, int n, int m, int p) {
        Matrix a = random(n, m, 1, false);
        Matrix b = random(m, p, 2, true);
        float[] bias = biases(p);
        float[][] found = products(kernel.packFloats(b.view()), a.view(), bias);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < p; j++) {
                double sum = bias[j];
                double sizes = Math.abs(bias[j]);
                for (int h = 0; h < m; h++) {
                    sum += a.get(i, h) * b.get(h, j);
                    sizes += Math.abs(a.get(i, h) * b.get(h, j));
                }
                double bound = (PackedFloatMatrix.INNER + m / PackedFloatMatrix.INNER + 3) * 0x1p-24 * sizes;
                assertEquals(sum, found[i][j], bound, "%s, entry (%d, %d)".formatted(kernel, i, j));
            }
        }
    }

    @ParameterizedTest(name = "{0}, {1} x {2} x {3}")
    @MethodSource("sizes")
    void aRowsProductDoesNotDependOnItsNeighbours(UpdateKernel kernel, int n, int m, int p) {
        Matrix a = random(n, m, 3, true);
        PackedFloatMatrix factor = kernel.packFloats(random(p, m, 4, true).transposedView());
        float[][] together = products(factor, a.view(), biases(p));
        float[][] alone = products(factor, a.rowsView(n - 1, n), biases(p));
        assertArrayEquals(together[n - 1], alone[0]);
    }

    @ParameterizedTest(name = "{0}, {1} x {2} x {3}")
    @MethodSource("sizes")
    void allThatIsAboveTheLevelOfItsRowIsHandedOver(UpdateKernel kernel, int n, int m, int p) {
        Matrix a = random(n, m, 5, true);
        PackedFloatMatrix factor = kernel.packFloats(random(m, p, 6, true).view());
        float[][] all = products(factor, a.view(), biases(p));
        float[][] found = new float[n][p];
        int[] next = new int[n];
        factor.multiply(a.view(), biases(p), new PackedFloatMatrix.Sink() {
            @Override
            public float level(int row) {
                return all[row][p / 2];
            }

            @Override
            public void take(int row, int column, float[] values, int at, int count) {
                assertTrue(column >= next[row], "stretches of a row come in order");
                System.arraycopy(values, at, found[row], column, count);
                next[row] = column + count;
            }
        });
        for (int row = 0; row < n; row++) {
            for (int j = 0; j < p; j++) {
                if (all[row][j] > all[row][p / 2]) {
                    assertEquals(all[row][j], found[row][j], "entry (%d, %d)".formatted(row, j));
                }
            }
        }
    }

    @Test
    void onlyFloatsOfASizeThatCanBeSummedAreHeldAsFloats() {
        assertTrue(PackedFloatMatrix.holds(new float[] {0.5f, -3, 0x1p60f, 0}));
        assertFalse(PackedFloatMatrix.holds(new float[] {0x1p61f}));
        assertFalse(PackedFloatMatrix.holds(new float[] {Float.NaN}));
    }

    @ParameterizedTest
    @MethodSource("io.plumbline.linalg.kernel.PanelTwinsTest#kernels")
    void sizesThatDoNotFitAreRefused(UpdateKernel kernel) {
        PackedFloatMatrix factor = kernel.packFloats(Matrix.zeros(3, 4).view());
        PackedFloatMatrix.Sink none = (row, column, values, at, count) -> {};
        MatrixView tooMany = Matrix.zeros(PackedFloatMatrix.BLOCK_ROWS + 1, 3).view();
        for (MatrixView rows : new MatrixView[] {Matrix.zeros(2, 2).view(), tooMany}) {
            assertThrows(IllegalArgumentException.class, () -> factor.multiply(rows, new float[4], none));
        }
        MatrixView fitting = Matrix.zeros(2, 3).view();
        assertThrows(IllegalArgumentException.class, () -> factor.multiply(fitting, new float[3], none));
    }

    private static float[][] products(PackedFloatMatrix factor, MatrixView a, float[] bias) {
        float[][] products = new float[a.rows()][bias.length];
        int[] next = new int[a.rows()];
        factor.multiply(a, bias, (row, column, values, at, count) -> {
            assertEquals(next[row], column, "stretches of a row come in order");
            System.arraycopy(values, at, products[row], column, count);
            next[row] += count;
        });
        for (int end : next) {
            assertEquals(bias.length, end);
        }
        return products;
    }

    private static float[] biases(int length) {
        float[] bias = new float[length];
        for (int j = 0; j < length; j++) {
            bias[j] = 0.25f * (j % 7) - 1;
        }
        return bias;
    }

    private static Matrix random(int rows, int columns, long seed, boolean floats) {
        SplittableRandom random = new SplittableRandom(seed + 31L * rows + columns);
        double[] values = random.doubles((long) rows * columns, -1, 2).toArray();
        for (int i = 0; floats && i < values.length; i++) {
            values[i] = (float) values[i];
        }
        return new Matrix(rows, columns, values);
    }
}
