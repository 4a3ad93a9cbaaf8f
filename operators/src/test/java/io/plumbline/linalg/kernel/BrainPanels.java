package io.plumbline.linalg.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.Arrays;
import java.util.SplittableRandom;

/** Holds a kernel of bfloat16 to the bound of {@link FloatPanel}, on sizes that fill no step, block or group. */
public final class BrainPanels {

    private static final int[] DIMENSIONS = {1, 2, 31, 33, 97, 257, 300};
    private static final int[] COUNTS = {1, 33, 129, 256};

    private BrainPanels() {}

    /** Returns the kernel that a process would have. */
    public static UpdateKernel kernel(BrainProduct product) {
        return new NativeKernel(UpdateKernels.plain(), product);
    }

    /** Tests random rows, and rows whose sizes are as far apart as a panel takes them. */
    public static void holdTheBoundOnEveryShape(UpdateKernel kernel) {
        for (int d : DIMENSIONS) {
            for (int count : COUNTS) {
                SplittableRandom random = new SplittableRandom(31L * d + count);
                float[] x = new float[count * d];
                for (int i = 0; i < x.length; i++) {
                    x[i] = rounded((float) random.nextDouble(-3, 5));
                }
                assertWithinTheBound(kernel, d, count, x);
                for (int i = 0; i < x.length; i++) {
                    x[i] = random.nextInt(7) == 0 ? 0f : rounded(Math.scalb(x[i] + 4f, random.nextInt(-56, 57)));
                }
                assertWithinTheBound(kernel, d, count, x);
            }
        }
    }

    /** Tests a full panel of wide rows, several groups of columns, whose sums are exact. */
    public static void areExactOnIntegers(UpdateKernel kernel, int d) {
        SplittableRandom random = new SplittableRandom(d);
        int count = BrainPanel.capacity(d);
        float[] x = new float[count * d];
        int limit = BrainPanel.LARGEST_EXACT_INTEGER;
        for (int i = 0; i < x.length; i++) {
            // Columns of one sign and full size, where sums are largest, among others.
            x[i] = i % d < 9 ? limit : random.nextInt(-limit, limit + 1);
        }
        double[] expected = new double[d + d * (d + 1) / 2];
        FloatPanel floats = PanelTwinsTest.kernels()
                .reduce((plain, vector) -> vector)
                .orElseThrow()
                .floats(d);
        for (int row = 0; row < count; row++) {
            floats.add(x, row * d);
            // So few that their sums are exact too.
            if (floats.rows() == FloatPanel.ROWS) {
                floats.drainTo(expected);
            }
        }
        assertArrayEquals(expected, summed(kernel, d, x, new double[expected.length]));
    }

    /** Tests the largest values, and the smallest with the smallest difference of their products: nothing vanishes. */
    public static void takeWhatTheyClaimTo(UpdateKernel kernel) {
        float small = BrainPanel.SMALLEST;
        float more = small * (1f + 0x1p-7f);
        int d = 513;
        float[] x = new float[BrainPanel.capacity(d) * d];
        float[] even = {BrainPanel.LARGEST, more, more};
        float[] odd = {BrainPanel.LARGEST, small, -small * (1f + 0x1p-6f)};
        for (int row = 0; row < x.length / d; row++) {
            System.arraycopy(row % 2 == 0 ? even : odd, 0, x, row * d, 3);
        }
        double[] expected = new double[d + d * (d + 1) / 2];
        PanelTwinsTest.define(PanelTwinsTest.widened(x), d, x.length / d, expected);
        double pairs = BrainPanel.capacity(d) / 2.0;
        assertEquals(pairs * Float.MIN_NORMAL, expected[d + 4]);
        assertArrayEquals(expected, summed(kernel, d, x, new double[expected.length]));
    }

    /** Tests that no bit shows which core adds which part, and when. */
    public static void haveTheSameBitsOnAnyCores(UpdateKernel kernel) {
        int d = 601;
        int count = 300;
        float[] x = new float[count * d];
        SplittableRandom random = new SplittableRandom(1);
        for (int i = 0; i < x.length; i++) {
            x[i] = rounded((float) random.nextDouble(-3, 5));
        }
        double[] expected = summed(kernel, d, x, new double[d + d * (d + 1) / 2]);
        for (int time = 0; time < 5; time++) {
            assertArrayEquals(expected, summed(kernel, d, x, new double[expected.length]));
        }
    }

    /** Adds the rows to a state. */
    static double[] summed(UpdateKernel kernel, int d, float[] x, double[] state) {
        BrainPanel panel = kernel.brains(d);
        for (int row = 0; row < x.length / d; row++) {
            byte[] target = panel.array(panel.rows());
            int at = panel.index(panel.rows());
            for (int j = 0; j < d; j++) {
                int bits = Float.floatToIntBits(x[row * d + j]) >>> Short.SIZE;
                target[at + 2 * j] = (byte) bits;
                target[at + 2 * j + 1] = (byte) (bits >>> Byte.SIZE);
            }
            panel.rowWritten();
            if (panel.isFull()) {
                panel.drainTo(state);
            }
        }
        panel.drainTo(state);
        assertEquals(0, panel.rows());
        return state;
    }

    private static void assertWithinTheBound(UpdateKernel kernel, int d, int count, float[] x) {
        double[] state = new double[d + d * (d + 1) / 2];
        Arrays.setAll(state, i -> i % 7);
        double[] before = state.clone();
        summed(kernel, d, x, state);
        int at = d;
        for (int i = 0; i < d; i++) {
            double sum = before[i];
            for (int row = 0; row < count; row++) {
                sum += x[row * d + i];
            }
            assertEquals(sum, state[i], "sum of column " + i);
            for (int j = 0; j <= i; j++) {
                double exact = before[at];
                double sizes = 0.0;
                for (int row = 0; row < count; row++) {
                    double product = (double) x[row * d + i] * x[row * d + j];
                    exact += product;
                    sizes += Math.abs(product);
                }
                double bound = FloatPanel.ROWS * 0x1p-24 * sizes + 0x1p-50 * (before[at] + sizes);
                String what = "%s, d = %d, %d rows, entry %d, %d".formatted(kernel, d, count, i, j);
                double found = state[at++];
                assertTrue(Math.abs(found - exact) <= bound, () -> what + ": " + found + " instead of " + bound);
            }
        }
    }

    /** Cuts a float to bfloat16. */
    private static float rounded(float value) {
        return Float.intBitsToFloat(Float.floatToIntBits(value) & 0xFFFF_0000);
    }
}
