package io.plumbline.linalg;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.kernel.PanelTwinsTest;
import io.plumbline.linalg.kernel.UpdateKernel;
import io.plumbline.parallel.Cores;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares triangles by the plain and the vector kernel, over sizes that fill no strip, no block and no part. */
class TriangularFactorTwinsTest {

    private static final int[][] SIZES = {
        {1, 1}, {2, 9}, {24, 24}, {25, 47}, {239, 23}, {241, 72}, {481, 97}, {2000, 61}
    };

    static Stream<Arguments> sizes() {
        return PanelTwinsTest.kernels()
                .flatMap(kernel -> Stream.of(SIZES).map(size -> Arguments.of(kernel, size[0], size[1])));
    }

    /**
     * {@code X + E = Q R} with {@code ||E|| <= c n d 2^-53 ||X||} for a small c (Higham, Accuracy and Stability,
     * theorem 19.4).
     */
    @ParameterizedTest(name = "{0}, {1} x {2}")
    @MethodSource("sizes")
    void theTriangleHasTheProductsOfTheWhole(UpdateKernel kernel, int n, int d) {
        Matrix tall = random(n, d);
        Matrix factor = TriangularFactor.of(tall, kernel.tiles());
        Matrix expected = Kernels.transposeMultiply(tall, tall);
        double error = Kernels.transposeMultiply(factor, factor).minus(expected).frobeniusNorm();
        double tolerance = 4.0 * (n + d) * 0x1p-53 * tall.frobeniusNorm() * tall.frobeniusNorm();
        assertTrue(error <= tolerance, "%s, %d x %d: %s above %s".formatted(kernel, n, d, error, tolerance));
        for (int i = 0; i < d; i++) {
            for (int j = 0; j < i; j++) {
                assertEquals(0.0, factor.get(i, j));
            }
        }
    }

    @ParameterizedTest
    @MethodSource("io.plumbline.linalg.kernel.PanelTwinsTest#kernels")
    void columnsOfZerosAndRowsFarApartInSizeAreReflectedAllTheSame(UpdateKernel kernel) {
        int d = 50;
        Matrix tall = random(600, d);
        for (int i = 0; i < 600; i++) {
            tall.set(i, 3, 0.0);
            tall.set(i, 30, 0.0);
            tall.set(i, 10, 1e-170 * tall.get(i, 10));
            tall.set(i, 40, 1e160 * tall.get(i, 40));
        }
        Matrix factor = TriangularFactor.of(tall, kernel.tiles());
        for (int j : new int[] {3, 10, 30, 40}) {
            double length = length(tall, j, 600);
            assertEquals(length, length(factor, j, d), 1e-13 * length, "column " + j);
        }
    }

    @Test
    void theNumberOfThreadsDoesNotChangeABit() {
        Matrix tall = random(2500, 60);
        double[] together = TriangularFactor.of(tall).values();
        String before = System.getProperty(Cores.PROPERTY);
        System.setProperty(Cores.PROPERTY, "1");
        try {
            assertArrayEquals(together, TriangularFactor.of(tall).values());
        } finally {
            if (before == null) {
                System.clearProperty(Cores.PROPERTY);
            } else {
                System.setProperty(Cores.PROPERTY, before);
            }
        }
    }

    private static double length(Matrix matrix, int column, int rows) {
        Matrix one = Matrix.zeros(rows, 1);
        for (int i = 0; i < rows; i++) {
            one.set(i, 0, matrix.get(i, column));
        }
        return one.frobeniusNorm();
    }

    private static Matrix random(int rows, int columns) {
        SplittableRandom random = new SplittableRandom(31L * rows + columns);
        return new Matrix(
                rows, columns, random.doubles((long) rows * columns, -1, 2).toArray());
    }
}
