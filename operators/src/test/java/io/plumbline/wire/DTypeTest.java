package io.plumbline.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.ByteBuffer;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;

class DTypeTest {

    @Test
    void everyHalfSurvivesTheWayThroughDouble() {
        for (int bits = 0; bits <= 0xFFFF; bits++) {
            double value = DType.fromHalf((short) bits);
            if (!Double.isNaN(value)) {
                assertEquals((short) bits, narrow(DType.F16, value), "half " + Integer.toHexString(bits));
            }
        }
    }

    @Test
    void everyBrainFloatSurvivesTheWayThroughDouble() {
        for (int bits = 0; bits <= 0xFFFF; bits++) {
            double value = DType.fromBrain((short) bits);
            if (!Double.isNaN(value)) {
                assertEquals((short) bits, narrow(DType.BF16, value), "bfloat16 " + Integer.toHexString(bits));
            }
        }
    }

    @Test
    void roundedIsWhatIsReadBack() {
        long seed = 43;
        SplittableRandom random = new SplittableRandom(seed);
        for (DType dtype : new DType[] {DType.F64, DType.F32, DType.F16, DType.BF16}) {
            for (int i = 0; i < 2_000; i++) {
                double value = Math.scalb(random.nextDouble(-1, 1), random.nextInt(-40, 40));
                byte[] blob = SafetensorsWriter.create()
                        .addVector("x", dtype, new double[] {value})
                        .toBytes();
                double read = Safetensors.parse(blob).tensor("x").toDoubles()[0];
                assertEquals(read, dtype.rounded(value), dtype + ", seed " + seed + ", value " + value);
            }
            assertEquals(dtype.largest(), dtype.rounded(dtype.largest()));
            if (dtype != DType.F64) {
                assertEquals(Double.POSITIVE_INFINITY, dtype.rounded(1.01 * dtype.largest()));
                assertEquals(Double.NEGATIVE_INFINITY, dtype.rounded(-1.01 * dtype.largest()));
            }
        }
    }

    @Test
    void halvesMeanWhatTheStandardSays() {
        assertEquals(1.0f, DType.fromHalf((short) 0x3C00));
        assertEquals(-2.0f, DType.fromHalf((short) 0xC000));
        assertEquals(65504.0f, DType.fromHalf((short) 0x7BFF));
        assertEquals(0x1p-24f, DType.fromHalf((short) 0x0001));
        assertEquals(0x1p-14f, DType.fromHalf((short) 0x0400));
        assertEquals(Float.POSITIVE_INFINITY, DType.fromHalf((short) 0x7C00));
        assertEquals(Float.NaN, DType.fromHalf((short) 0x7E00));
        assertEquals(-0.0f, DType.fromHalf((short) 0x8000));
    }

    @Test
    void narrowingTakesTheNearestOfTheTwoNeighbours() {
        long seed = 41;
        SplittableRandom random = new SplittableRandom(seed);
        for (int i = 0; i < 20_000; i++) {
            double value = Math.scalb(random.nextDouble(-1, 1), random.nextInt(-26, 16));
            short bits = narrow(DType.F16, value);
            double error = Math.abs(DType.fromHalf(bits) - value);
            for (int neighbour : new int[] {bits - 1, bits + 1}) {
                double other = DType.fromHalf((short) neighbour);
                if ((neighbour & 0x7FFF) != 0x7FFF && !Double.isNaN(other)) {
                    double otherError = Math.abs(other - value);
                    assertTrue(error <= otherError, "seed " + seed + ", value " + value);
                }
            }
        }
    }

    @Test
    void narrowingBreaksTiesToEvenAndDoesNotRoundTwice() {
        assertEquals(1.0f, DType.fromHalf(narrow(DType.F16, 1 + 0x1p-11)), "halfway between 1 and the next: 1 is even");
        assertEquals(1 + 0x1p-9f, DType.fromHalf(narrow(DType.F16, 1 + 0x3p-11)));
        // A float would drop the last bit and leave a tie.
        assertEquals(1 + 0x1p-10f, DType.fromHalf(narrow(DType.F16, 1 + 0x1p-11 + 0x1p-40)));
        assertEquals(1 + 0x1p-7f, DType.fromBrain(narrow(DType.BF16, 1 + 0x1p-8 + 0x1p-40)));
    }

    @Test
    void narrowingOverflowsToInfinityAndUnderflowsToZero() {
        assertEquals(65504.0f, DType.fromHalf(narrow(DType.F16, 65519.999)));
        assertEquals(Float.POSITIVE_INFINITY, DType.fromHalf(narrow(DType.F16, 65520)));
        assertEquals(Float.NEGATIVE_INFINITY, DType.fromHalf(narrow(DType.F16, -1e300)));
        assertEquals(Float.POSITIVE_INFINITY, DType.fromBrain(narrow(DType.BF16, Double.MAX_VALUE)));
        assertEquals(0.0f, DType.fromHalf(narrow(DType.F16, 0x1p-25)), "a tie with the even 0");
        assertEquals(0x1p-24f, DType.fromHalf(narrow(DType.F16, 0x1.000001p-25)));
        assertEquals(-0.0f, DType.fromHalf(narrow(DType.F16, -Double.MIN_VALUE)));
        assertEquals(Float.NaN, DType.fromHalf(narrow(DType.F16, Double.NaN)));
        assertEquals(Float.NaN, DType.fromBrain(narrow(DType.BF16, Double.NaN)));
    }

    private static short narrow(DType dtype, double value) {
        ByteBuffer buffer = ByteBuffer.allocate(2);
        dtype.put(buffer, value);
        return buffer.getShort(0);
    }
}
