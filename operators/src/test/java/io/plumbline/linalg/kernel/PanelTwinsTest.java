package io.plumbline.linalg.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.List;
import java.util.SplittableRandom;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Compares the plain and the vector kernel with the definition, over sizes that fill no tile, strip or group of strips.
 */
public class PanelTwinsTest {

    /** The dimensions: tiles are 3, 6 or 8 columns, strips 24 or 48, groups of strips 192 or 384. */
    private static final int[] DIMENSIONS = {1, 2, 3, 7, 8, 9, 23, 24, 25, 47, 48, 49, 95, 97, 130, 193, 385, 401};

    private static final int[] ROW_COUNTS = {1, 2, 7, 8, 9, 31, 127, 128};

    /**
     * Returns the plain kernel, and a vector kernel of each shape that this machine allows, whichever is the fastest.
     */
    public static Stream<UpdateKernel> kernels() {
        return Stream.concat(Stream.of(new PlainKernel()), vectorKernels().stream());
    }

    /** Returns those that this machine allows and those that are slow on it: a build tests every shape it can. */
    static List<UpdateKernel> vectorKernels() {
        return UpdateKernelsTest.moduleIsThere() ? Shapes.all() : List.of();
    }

    /** A class of its own, which is loaded only where the module of vectors is there. */
    private static final class Shapes {
        static List<UpdateKernel> all() {
            return Arrays.stream(VectorTiles.values())
                    .filter(shape -> switch (shape) {
                        case SIX_BY_THREE -> true;
                        case THREE_BY_SIX -> VectorTiles.BITS < 512;
                        case SIX_BY_TWO -> VectorTiles.BITS == 256;
                    })
                    .<UpdateKernel>map(VectorKernel::new)
                    .toList();
        }
    }

    static Stream<Arguments> sizes() {
        List<UpdateKernel> kernels = kernels().toList();
        return Arrays.stream(DIMENSIONS).boxed().flatMap(d -> kernels.stream()
                .map(kernel -> Arguments.of(kernel, d, ROW_COUNTS[d % ROW_COUNTS.length])));
    }

    /**
     * A float product and each of the at most n - 1 float additions err by a factor of at most {@code 1 + 2^-24}; the
     * sum in double before and after adds {@code 2^-53} of what is there already.
     */
    @ParameterizedTest(name = "{0}, d = {1}, {2} rows")
    @MethodSource("sizes")
    void floatsAgreeWithTheDefinitionWithinTheirRounding(UpdateKernel kernel, int d, int n) {
        float[] x = floats(d, n);
        double[] state = before(d);
        FloatPanel panel = kernel.floats(d);
        for (int row = 0; row < n; row++) {
            panel.add(x, row * d);
        }
        assertEquals(n, panel.rows());
        panel.drainTo(state);
        assertEquals(0, panel.rows());
        assertClose(widened(x), d, n, state, (n + 1) * 0x1p-24, "%s, d = %d, n = %d".formatted(kernel, d, n));
    }

    @ParameterizedTest(name = "{0}, d = {1}, {2} rows")
    @MethodSource("sizes")
    void doublesAgreeWithTheDefinitionWithinTheirRounding(UpdateKernel kernel, int d, int n) {
        SplittableRandom random = new SplittableRandom(31L * d + n);
        double[] x = random.doubles((long) n * d, -3, 5).toArray();
        double[] state = before(d);
        DoublePanel panel = kernel.doubles(d, n);
        for (int row = 0; row < n; row++) {
            panel.add(x, row * d);
        }
        panel.drainTo(state);
        // The definition is summed in double too: its own error counts as much.
        assertClose(x, d, n, state, 2 * (n + 2) * 0x1p-53, "%s, d = %d, n = %d".formatted(kernel, d, n));
    }

    /**
     * Tests odd widths, and any number of rows over several panels. The twins round differently, each within the bound
     * of {@link #floatsAgreeWithTheDefinitionWithinTheirRounding}: at most {@code (n + 1) 2^-24} of the sum of sizes
     * within a panel of n rows, so twice that apart; a float sum of {@value FloatPanel#ROWS} is folded into double
     * before the next begins.
     */
    @ParameterizedTest(name = "d = {0}")
    @ValueSource(ints = {1, 7, 33, 100, 769})
    void theTwinsAgreeOnAnyNumberOfRows(int d) {
        Assumptions.assumeFalse(vectorKernels().isEmpty(), "without the vector module there is one kernel");
        for (int n = 1; n <= 300; n += d > 500 ? 23 : 1) {
            float[] x = floats(d, n);
            double[] sizes = new double[d + d * (d + 1) / 2];
            define(Arrays.stream(widened(x)).map(Math::abs).toArray(), d, n, sizes);
            double unit = 2 * (Math.min(n, FloatPanel.ROWS) + 1) * 0x1p-24;
            double[] plain = summed(new PlainKernel(), x, d, n);
            for (UpdateKernel kernel : vectorKernels()) {
                double[] vector = summed(kernel, x, d, n);
                String what = "%s, d = %d, n = %d".formatted(kernel, d, n);
                for (int i = 0; i < plain.length; i++) {
                    assertNear(plain[i], vector[i], i < d ? 0.0 : unit * sizes[i], what, i);
                }
            }
        }
    }

    /**
     * Moments that one machine stored are added to by another with fewer registers: each entry is a chain of products,
     * one rounding each, whatever tile it is in.
     */
    @ParameterizedTest(name = "d = {0}")
    @ValueSource(ints = {1, 7, 49, 100, 385})
    void anEntryOfAMomentOfFloatsIsTheChainOfItsProductsInEveryShape(int d) {
        for (UpdateKernel kernel : vectorKernels()) {
            for (int n : new int[] {1, 31, 128}) {
                float[] x = floats(d, n);
                double[] found = summed(kernel, x, d, n);
                int at = d;
                for (int i = 0; i < d; i++) {
                    for (int j = 0; j <= i; j++) {
                        float sum = 0f;
                        for (int row = 0; row < n; row++) {
                            sum = Math.fma(x[row * d + i], x[row * d + j], sum);
                        }
                        assertNear(sum, found[at], 0, kernel.toString(), at++);
                    }
                }
            }
        }
    }

    /** Tests that no bit shows which core adds which part, and when. */
    @ParameterizedTest
    @MethodSource("kernels")
    void everyEntryBelongsToOnePartAndSeveralCoresGiveTheBitsOfOne(UpdateKernel kernel) {
        for (int d : new int[] {1, 48, 49, 384, 385, 769}) {
            int n = FloatPanel.capacity(d);
            float[] x = floats(d, n);
            FloatPanel panel = filled(kernel, d, n, x);
            double[] expected = new double[d + d * (d + 1) / 2];
            panel.addSums(expected, n);
            int[] parts = new int[d * (d + 1) / 2];
            for (int part = 0; part < panel.parts(); part++) {
                double[] one = new double[expected.length];
                panel.addProducts(one, d, n, part);
                for (int entry = 0; entry < parts.length; entry++) {
                    parts[entry] += one[d + entry] == 0.0 ? 0 : 1;
                    expected[d + entry] += one[d + entry];
                }
            }
            assertEquals(1, Arrays.stream(parts).min().orElseThrow(), "d = " + d);
            assertEquals(1, Arrays.stream(parts).max().orElseThrow(), "d = " + d);
            for (int time = 0; time < 50; time++) {
                double[] state = new double[expected.length];
                filled(kernel, d, n, x).drainTo(state);
                assertArrayEquals(expected, state, "d = " + d);
            }
        }
    }

    private static FloatPanel filled(UpdateKernel kernel, int d, int n, float[] x) {
        FloatPanel panel = kernel.floats(d);
        for (int row = 0; row < n; row++) {
            panel.add(x, row * d);
        }
        return panel;
    }

    /**
     * Tests wide rows. Several batches of them are added while an entry is at hand: any number of batches, the last one
     * full or not. For the wider rows the moment's lines are read first.
     */
    @ParameterizedTest
    @MethodSource("kernels")
    void severalBatchesGiveTheBitsOfOneAfterTheOther(UpdateKernel kernel) {
        for (int d : new int[] {FloatPanel.NARROW + 5, 1_029}) {
            assertEquals(FloatPanel.MOST_BATCHES * FloatPanel.ROWS, FloatPanel.capacity(d));
            for (int n : new int[] {256, 384, 385, 512, 683}) {
                float[] x = floats(d, n);
                // So large that sums are rounded: their order shows.
                double[] oneByOne = new double[d + d * (d + 1) / 2];
                Arrays.fill(oneByOne, Math.PI * 0x1p40);
                double[] together = oneByOne.clone();
                FloatPanel panel = kernel.floats(d);
                for (int row = 0; row < n; row++) {
                    panel.add(x, row * d);
                    if (panel.rows() == FloatPanel.ROWS) {
                        panel.drainTo(oneByOne);
                    }
                }
                panel.drainTo(oneByOne);
                sum(kernel, x, d, n, together);
                assertArrayEquals(oneByOne, together, "%s, %d rows of %d".formatted(kernel, n, d));
            }
        }
    }

    private static double[] summed(UpdateKernel kernel, float[] x, int d, int n) {
        double[] state = new double[d + d * (d + 1) / 2];
        sum(kernel, x, d, n, state);
        return state;
    }

    private static void sum(UpdateKernel kernel, float[] x, int d, int n, double[] state) {
        FloatPanel panel = kernel.floats(d);
        for (int row = 0; row < n; row++) {
            panel.add(x, row * d);
            if (panel.isFull()) {
                panel.drainTo(state);
            }
        }
        panel.drainTo(state);
    }

    /** Tests full panels of the largest size that is promised: each partial sum is a whole number below 2^24. */
    @ParameterizedTest
    @MethodSource("kernels")
    void integersUpToTheLimitAreExact(UpdateKernel kernel) {
        int d = 61;
        SplittableRandom random = new SplittableRandom(5);
        float[] x = new float[FloatPanel.ROWS * d];
        for (int i = 0; i < x.length; i++) {
            // Columns of one sign and full size, where sums are largest, among others.
            x[i] = i % d < 9
                    ? FloatPanel.LARGEST_EXACT_INTEGER
                    : random.nextInt(-FloatPanel.LARGEST_EXACT_INTEGER, FloatPanel.LARGEST_EXACT_INTEGER + 1);
        }
        double[] state = new double[d + d * (d + 1) / 2];
        double[] expected = new double[state.length];
        FloatPanel panel = kernel.floats(d);
        for (int turn = 0; turn < 3; turn++) {
            for (int row = 0; row < FloatPanel.ROWS; row++) {
                panel.add(x, row * d);
            }
            panel.drainTo(state);
            define(widened(x), d, FloatPanel.ROWS, expected);
        }
        assertArrayEquals(expected, state);
    }

    /** The limit is the right one: one more, and 128 products no longer fit 24 bits. */
    @Test
    void theLimitOfExactIntegersIsTheLargest() {
        long limit = FloatPanel.LARGEST_EXACT_INTEGER;
        assertTrue(FloatPanel.ROWS * limit * limit <= 1 << 24);
        assertFalse(FloatPanel.ROWS * (limit + 1) * (limit + 1) <= 1 << 24);
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void theLargestValuesDoNotOverflow(UpdateKernel kernel) {
        FloatPanel panel = kernel.floats(2);
        for (int row = 0; row < FloatPanel.ROWS; row++) {
            panel.add(new float[] {FloatPanel.LARGEST, -FloatPanel.LARGEST}, 0);
        }
        double[] state = new double[5];
        panel.drainTo(state);
        assertArrayEquals(new double[] {0x1p67, -0x1p67, 0x1p127, -0x1p127, 0x1p127}, state);
    }

    @ParameterizedTest
    @MethodSource("kernels")
    void aFullPanelTakesNoMore(UpdateKernel kernel) {
        FloatPanel floats = kernel.floats(3);
        for (int row = 0; row < FloatPanel.ROWS; row++) {
            floats.rowWritten();
        }
        assertThrows(IllegalStateException.class, floats::rowWritten);
        DoublePanel doubles = kernel.doubles(3, 1);
        doubles.add(new double[3], 0);
        assertThrows(IllegalStateException.class, doubles::rowWritten);
        assertThrows(IllegalArgumentException.class, () -> kernel.doubles(3, 0));
        assertThrows(IllegalArgumentException.class, () -> kernel.doubles(3, DoublePanel.ROWS + 1));
    }

    private static float[] floats(int d, int n) {
        SplittableRandom random = new SplittableRandom(17L * d + n);
        float[] x = new float[n * d];
        for (int i = 0; i < x.length; i++) {
            x[i] = (float) random.nextDouble(-3, 5);
        }
        return x;
    }

    static double[] widened(float[] x) {
        double[] widened = new double[x.length];
        for (int i = 0; i < x.length; i++) {
            widened[i] = x[i];
        }
        return widened;
    }

    /** A state that already holds something. */
    private static double[] before(int d) {
        double[] state = new double[d + d * (d + 1) / 2];
        for (int i = 0; i < state.length; i++) {
            state[i] = i % 7;
        }
        return state;
    }

    static void define(double[] x, int d, int n, double[] state) {
        for (int row = 0; row < n; row++) {
            int at = d;
            for (int i = 0; i < d; i++) {
                state[i] += x[row * d + i];
                for (int j = 0; j <= i; j++) {
                    state[at++] += x[row * d + i] * x[row * d + j];
                }
            }
        }
    }

    private static void assertClose(double[] x, int d, int n, double[] state, double unit, String what) {
        double[] expected = before(d);
        define(x, d, n, expected);
        double[] sizes = before(d);
        double[] absolute = Arrays.stream(x).map(Math::abs).toArray();
        define(absolute, d, n, sizes);
        for (int i = 0; i < state.length; i++) {
            assertNear(expected[i], state[i], unit * sizes[i], what, i);
        }
    }

    /** Tests one of millions of entries: its message is made only where it fails. */
    private static void assertNear(double expected, double found, double by, String what, int entry) {
        assertEquals(expected, found, by, () -> what + ", entry " + entry);
    }
}
