package io.plumbline.linalg.eigenspace;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.linalg.kernel.DoublePieces;
import io.plumbline.linalg.kernel.FloatPieces;
import io.plumbline.linalg.kernel.FloatTileKernel;
import io.plumbline.linalg.kernel.PanelTwinsTest;
import io.plumbline.linalg.kernel.TileKernel;
import io.plumbline.linalg.kernel.UpdateKernel;
import java.util.SplittableRandom;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

/** Compares squares of products by the plain kernel and by every shape of the vector kernel with their definition. */
class SquareTwinsTest {

    private static final int SIDE = TileKernel.WIDTH;
    private static final int WIDE = FloatTileKernel.WIDTH;

    static Stream<Arguments> counts() {
        return PanelTwinsTest.kernels()
                .flatMap(kernel -> IntStream.of(0, 1, 5, 24, 121).mapToObj(count -> Arguments.of(kernel, count)));
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("counts")
    void theWantedPartOfASquareOfDoublesIsTheProduct(UpdateKernel kernel, int count) {
        double[] left = doubles(count * SIDE + 3, count);
        double[] right = doubles(count * SIDE + 2, count + 1L);
        for (int rows : new int[] {1, 6, 7, 8, 13, SIDE}) {
            for (int columns : new int[] {1, 8, 9, 17, SIDE}) {
                double[] after = doubles(SIDE * SIDE + 2, 9);
                double[] unlike = after.clone();
                kernel.tiles().square(left, 3, right, 2, count, rows, columns, after, 1);
                for (int i = 0; i < rows; i++) {
                    for (int j = 0; j < columns; j++) {
                        double found = after[1 + i * SIDE + j];
                        assertProduct(left, 3 + i, right, 2 + j, count, found, kernel + ", " + rows);
                    }
                }
                assertEquals(unlike[0], after[0]);
                assertEquals(unlike[SIDE * SIDE + 1], after[SIDE * SIDE + 1]);
            }
        }
    }

    private static void assertProduct(double[] a, int at, double[] b, int of, int count, double found, String what) {
        double sum = 0.0;
        double sizes = 0.0;
        for (int h = 0; h < count; h++) {
            double product = a[at + h * SIDE] * b[of + h * SIDE];
            sum += product;
            sizes += Math.abs(product);
        }
        assertEquals(sum, found, 2 * count * 0x1p-53 * sizes, what);
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("counts")
    void theWantedPartOfASquareOfFloatsIsTheProduct(UpdateKernel kernel, int count) {
        float[] left = floats(count * WIDE + 3, count);
        float[] right = floats(count * WIDE + 2, count + 1L);
        for (int rows : new int[] {1, 6, 7, 8, 13, WIDE}) {
            for (int columns : new int[] {1, 16, 17, 33, WIDE}) {
                float[] after = floats(WIDE * WIDE + 2, 9);
                float[] unlike = after.clone();
                kernel.floatTiles().square(left, 3, right, 2, count, rows, columns, after, 1);
                for (int i = 0; i < rows; i++) {
                    for (int j = 0; j < columns; j++) {
                        float found = after[1 + i * WIDE + j];
                        assertProduct(left, 3 + i, right, 2 + j, count, found, kernel + ", " + rows);
                    }
                }
                assertEquals(unlike[0], after[0]);
                assertEquals(unlike[WIDE * WIDE + 1], after[WIDE * WIDE + 1]);
            }
        }
    }

    private static void assertProduct(float[] a, int at, float[] b, int of, int count, float found, String what) {
        double sum = 0.0;
        double sizes = 0.0;
        for (int h = 0; h < count; h++) {
            double product = (double) a[at + h * WIDE] * b[of + h * WIDE];
            sum += product;
            sizes += Math.abs(product);
        }
        assertEquals(sum, found, count * 0x1p-24 * sizes, what);
    }

    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("counts")
    void piecesAreAddedToASquareWithTheBitsOfStrips(UpdateKernel kernel, int count) {
        float[] strip = floats(2 * count * WIDE + 5, count);
        FloatPieces pieces = kernel.floatTiles().pieces(3, count);
        pieces.take(2, strip, 5);
        pieces.take(0, strip, 5 + count * WIDE);
        float[] square = floats(WIDE * WIDE + 1, 7);
        float[] expected = square.clone();
        kernel.floatTiles().addSquare(strip, 5 + count * WIDE, strip, 5, count, expected, 1);
        pieces.addSquare(0, 2, square, 1);
        assertArrayEquals(expected, square, kernel.toString());

        double[] wide = doubles(2 * count * SIDE + 5, count);
        DoublePieces twice = kernel.tiles().pieces(3, count);
        twice.take(2, wide, 5);
        twice.take(0, wide, 5 + count * SIDE);
        double[] sums = doubles(SIDE * SIDE + 1, 7);
        double[] sumsOfStrips = sums.clone();
        kernel.tiles().addSquare(wide, 5 + count * SIDE, wide, 5, count, sumsOfStrips, 1);
        twice.addSquare(0, 2, sums, 1);
        assertArrayEquals(sumsOfStrips, sums, kernel.toString());
    }

    /**
     * Tests that an old sum loses no more than one rounding, however many products come to it: the claim of
     * {@link FloatCholesky}.
     */
    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("counts")
    void productsOfFloatsAreSummedBeforeTheyAreAddedToASquare(UpdateKernel kernel, int count) {
        float[] left = floats(count * WIDE, count);
        float[] right = floats(count * WIDE, count + 1L);
        float[] product = new float[WIDE * WIDE];
        kernel.floatTiles().square(left, 0, right, 0, count, WIDE, WIDE, product, 0);
        float[] before = floats(WIDE * WIDE + 1, count + 2L);
        float[] after = before.clone();
        kernel.floatTiles().addSquare(left, 0, right, 0, count, after, 1);
        for (int i = 0; i < product.length; i++) {
            assertEquals(before[1 + i] + product[i], after[1 + i], kernel + ", entry " + i);
        }
        assertEquals(before[0], after[0]);
    }

    /** Tests sums that begin with the old entry in registers, so that it may lose a rounding for each product. */
    @ParameterizedTest(name = "{0}, {1}")
    @MethodSource("counts")
    void productsOfDoublesAreAddedToASquareAndToATile(UpdateKernel kernel, int count) {
        double[] left = doubles(count * SIDE, count);
        double[] right = doubles(count * SIDE, count + 1L);
        double[] before = doubles(SIDE * SIDE + 1, count + 2L);
        double[] square = before.clone();
        kernel.tiles().addSquare(left, 0, right, 0, count, square, 1);
        double[] tile = before.clone();
        kernel.tiles().add(left, 0, right, 0, count, tile, 1);
        for (int i = 0; i < SIDE * SIDE; i++) {
            double sum = before[1 + i];
            double sizes = Math.abs(sum);
            for (int h = 0; h < count; h++) {
                double product = left[h * SIDE + i / SIDE] * right[h * SIDE + i % SIDE];
                sum += product;
                sizes += Math.abs(product);
            }
            double most = 2.0 * (count + 1) * 0x1p-53 * sizes;
            assertEquals(sum, square[1 + i], most, kernel + ", entry " + i);
            assertEquals(i < TileKernel.ROWS * SIDE ? sum : before[1 + i], tile[1 + i], most, kernel + ", entry " + i);
        }
        assertEquals(before[0], square[0]);
        assertEquals(before[0], tile[0]);
    }

    private static double[] doubles(int length, long seed) {
        return new SplittableRandom(seed).doubles(length, -2, 3).toArray();
    }

    private static float[] floats(int length, long seed) {
        double[] values = doubles(length, seed);
        float[] floats = new float[length];
        for (int i = 0; i < length; i++) {
            floats[i] = (float) values[i];
        }
        return floats;
    }
}
