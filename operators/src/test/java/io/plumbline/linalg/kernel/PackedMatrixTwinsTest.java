package io.plumbline.linalg.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.plumbline.linalg.Matrix;
import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/**
 * Compares products of the plain and the vector kernel with the definition, over sizes that fill no tile, strip or
 * cache.
 */
class PackedMatrixTwinsTest {

    private static final int[][] SIZES = {
        {1, 1, 1},
        {3, 2, 5},
        {7, 9, 23},
        {8, 128, 24},
        {9, 129, 25},
        {17, 257, 47},
        {65, 31, 49},
        {13, 300, 97},
        {700, 131, 12}
    };

    static Stream<Arguments> sizes() {
        return PanelTwinsTest.kernels()
                .flatMap(kernel -> Stream.of(SIZES).map(size -> Arguments.of(kernel, size[0], size[1], size[2])));
    }

    @ParameterizedTest(name = "{0}, {1} x {2} x {3}")
    @MethodSource("sizes")
    void productsAgreeWithTheDefinitionWithinTheirRounding(UpdateKernel kernel, int n, int m, int p) {
        Matrix a = random(n, m, 1);
        Matrix b = random(m, p, 2);
        double[] fromLeft = filled(n * p);
        kernel.pack(b.view()).addProduct(a.view(), fromLeft);
        double[] transposed = filled(n * p);
        kernel.pack(b.transpose().transposedView()).addProduct(a.transpose().transposedView(), transposed);
        assertArrayEquals(fromLeft, transposed);
        for (int i = 0; i < n; i++) {
            for (int j = 0; j < p; j++) {
                double sum = 2.0;
                double sizes = 2.0;
                for (int h = 0; h < m; h++) {
                    sum += a.get(i, h) * b.get(h, j);
                    sizes += Math.abs(a.get(i, h) * b.get(h, j));
                }
                // Both sums round m products and m additions.
                String entry = "%s, entry (%d, %d)".formatted(kernel, i, j);
                assertEquals(sum, fromLeft[i * p + j], 2 * (m + 1) * 0x1p-53 * sizes, entry);
            }
        }
    }

    /** Codes of a row must not depend on the rows it is encoded with. */
    @ParameterizedTest(name = "{0}, {1} x {2} x {3}")
    @MethodSource("sizes")
    void aRowsProductDoesNotDependOnItsNeighbours(UpdateKernel kernel, int n, int m, int p) {
        Matrix a = random(n, m, 3);
        PackedMatrix factor = kernel.pack(random(m, p, 4).view());
        double[] together = new double[n * p];
        factor.addProduct(a.view(), together);
        double[] alone = new double[p];
        factor.addProduct(a.rowsView(n - 1, n), alone);
        assertArrayEquals(Arrays.copyOfRange(together, (n - 1) * p, n * p), alone);
    }

    @ParameterizedTest
    @MethodSource("io.plumbline.linalg.kernel.PanelTwinsTest#kernels")
    void sizesThatDoNotFitAreRefused(UpdateKernel kernel) {
        PackedMatrix factor = kernel.pack(Matrix.zeros(3, 4).view());
        assertThrows(
                IllegalArgumentException.class,
                () -> factor.addProduct(Matrix.zeros(2, 2).view(), new double[8]));
        assertThrows(
                IllegalArgumentException.class,
                () -> factor.addProduct(Matrix.zeros(2, 3).view(), new double[7]));
    }

    private static double[] filled(int length) {
        double[] values = new double[length];
        Arrays.fill(values, 2.0);
        return values;
    }

    private static Matrix random(int rows, int columns, long seed) {
        SplittableRandom random = new SplittableRandom(seed + 31L * rows + columns);
        return new Matrix(
                rows, columns, random.doubles((long) rows * columns, -1, 2).toArray());
    }
}
