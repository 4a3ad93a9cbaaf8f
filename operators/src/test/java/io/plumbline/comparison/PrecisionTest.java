package io.plumbline.comparison;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import java.util.Random;
import org.junit.jupiter.api.Test;

class PrecisionTest {

    @Test
    void valuesThatWereStoredInATypeAreHeldByItAndOthersAreNot() {
        Random random = new Random(1);
        double[] values = new double[1_000];
        for (int i = 0; i < values.length; i++) {
            values[i] = random.nextGaussian() * Math.pow(10.0, random.nextInt(9) - 5);
        }
        Precision exact = precision(values);
        assertEquals(false, exact.isF16);
        assertEquals(false, exact.isBf16);
        assertEquals(true, precision(stored(DType.F16, values)).isF16);
        assertEquals(false, precision(stored(DType.F16, values)).isBf16);
        assertEquals(true, precision(stored(DType.BF16, values)).isBf16);
        assertEquals(false, precision(70_000.0).isF16);
        assertEquals(true, precision(0.0, -0.0, 65_504.0, Math.scalb(1.0, -24)).isF16);
        assertEquals(false, precision(Math.scalb(1.0, -25)).isF16);
        assertEquals(true, precision(Math.scalb(1.0, -133), 0x1.FEp127).isBf16);
        assertEquals(false, precision(Math.scalb(1.0, -134)).isBf16);
    }

    private static double[] stored(DType type, double[] values) {
        byte[] blob = SafetensorsWriter.create().addVector("x", type, values).toBytes();
        return Safetensors.parse(blob).tensor("x").toDoubles();
    }

    private static Precision precision(double... values) {
        Precision precision = new Precision();
        precision.add(new Matrix(1, values.length, values));
        return precision;
    }
}
