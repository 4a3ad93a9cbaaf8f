package io.plumbline.linalg.kernel;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;

import java.util.SplittableRandom;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class FloatRowOpsTest {

    private final FloatRowOps plain = new PlainFloatRowOps();

    @ParameterizedTest
    @ValueSource(ints = {0, 1, 3, 7, 8, 9, 15, 16, 17, 33, 768})
    void twinsAgree(int count) {
        PanelTwinsTest.kernels().forEach(kernel -> agreesWithPlainLoops(kernel.floatRowOps(), count));
    }

    private void agreesWithPlainLoops(FloatRowOps loops, int count) {
        float[] x = floats(count + 5, 1);
        float[] y = floats(count + 5, 2);
        double[] one = new double[count + 7];
        double[] two = new double[count + 7];
        plain.add(1.0 / 3.0, x, 2, one, 4, count);
        loops.add(1.0 / 3.0, x, 2, two, 4, count);
        assertArrayEquals(one, two, "to the last bit, and nothing beside the stretch");
        plain.widen(x, 3, one, 1, count);
        loops.widen(x, 3, two, 1, count);
        assertArrayEquals(one, two);
        double size = 0.0;
        double expected = 0.0;
        for (int j = 0; j < count; j++) {
            expected += (double) x[j + 1] * y[j + 2];
            size += Math.abs((double) x[j + 1] * y[j + 2]);
        }
        // Products of floats are exact in float64; what differs is the order of the sum.
        assertEquals(expected, plain.dot(x, 1, y, 2, count), count * 0x1p-53 * size);
        assertEquals(expected, loops.dot(x, 1, y, 2, count), count * 0x1p-53 * size);
    }

    private static float[] floats(int count, long seed) {
        SplittableRandom random = new SplittableRandom(seed);
        float[] values = new float[count];
        for (int i = 0; i < count; i++) {
            values[i] = (float) random.nextDouble(-1, 1);
        }
        return values;
    }
}
