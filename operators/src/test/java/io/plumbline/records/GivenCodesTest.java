package io.plumbline.records;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.KnownHeaders;
import io.plumbline.wire.SafetensorsWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import org.junit.jupiter.api.Test;

class GivenCodesTest {

    @Test
    void theLargestCodesStandBehindEachRowWithTheirIndices() {
        ActivationBlob blob = blob(new long[] {4, -1, 2, 0, 1, -1}, 3, 0.5, 9.0, -2.0, 1.0, 0.0, 7.0);
        assertTrue(blob.hasCodes());
        Matrix rows = blob.joined(5).activations().toMatrix();
        assertEquals(2 * 2 + GivenCodes.WIDTH, rows.columns());
        assertArrayEquals(new double[] {1.0, 1.0, 0.75, 0.75}, leading(rows, 0, 4), 1e-7);
        assertEquals(3.0, rows.get(0, 4));
        assertEquals(5.0, rows.get(0, 5));
        assertEquals(0.0, rows.get(0, 6));
        assertEquals(-2.0, rows.get(0, 4 + GivenCodes.MOST));
        assertEquals(0.5, rows.get(0, 5 + GivenCodes.MOST));
        assertEquals(1.0, rows.get(1, 4));
        assertEquals(0.0, rows.get(1, 5), "a code of 0 is none");
        Matrix second = blob.keep(new int[] {1}).joined(5).activations().toMatrix();
        assertArrayEquals(leading(rows, 1, rows.columns()), leading(second, 0, rows.columns()));
        assertEquals(4, blob.joined(5).targetRows().columns());
        assertEquals(4, blob.joined(0).activations().columns());
    }

    @Test
    void onlyTheMostAreKept() {
        int many = GivenCodes.MOST + 10;
        long[] indices = new long[2 * many];
        double[] values = new double[2 * many];
        for (int j = 0; j < indices.length; j++) {
            indices[j] = j % many;
            values[j] = 1.0 + j % many;
        }
        Matrix rows = blob(indices, many, values).joined(many).activations().toMatrix();
        assertEquals(many, rows.get(0, 4), "the largest first");
        assertEquals(11.0, rows.get(0, 4 + GivenCodes.WIDTH - 1), "the smallest that is kept");
    }

    @Test
    void codesOfNoFeatureAreRefused() {
        assertTrue(refused(new long[] {5, 0, 1, 2}, 1.0, 1.0, 1.0, 1.0)
                .contains("row 0: 5, expected a feature from 0 to 4"));
        assertTrue(refused(new long[] {0, -2, 1, 2}, 1.0, 1.0, 1.0, 1.0).contains("row 0: -2"));
        assertTrue(refused(new long[] {0, 1, 3, 3}, 1.0, 1.0, 1.0, 1.0).contains("row 1: feature 3 twice"));
        assertTrue(refused(new long[] {0, 1, 3, 2}, 1.0, Double.NaN, 1.0, 1.0).contains("feature 1 is NaN"));
        assertThrows(ActivationBatchException.class, () -> blob(new long[] {1, 2, 3}, 1, 1.0, 2.0, 3.0));
        assertFalse(ActivationBlob.parse(
                        SafetensorsWriter.create()
                                .add("activations", DType.F32, Matrix.zeros(2, 2))
                                .toBytes(),
                        new KnownHeaders())
                .hasCodes());
    }

    private static String refused(long[] indices, double... values) {
        ActivationBlob blob = blob(indices, 2, values);
        return String.valueOf(assertThrows(ActivationBatchException.class, () -> blob.joined(5))
                .getMessage());
    }

    /** Returns two rows of ones, whose reconstructions are a quarter. */
    private static ActivationBlob blob(long[] indices, int most, double... values) {
        ByteBuffer bytes = ByteBuffer.allocate(Long.BYTES * indices.length).order(ByteOrder.LITTLE_ENDIAN);
        for (long index : indices) {
            bytes.putLong(index);
        }
        int rows = indices.length / most;
        return ActivationBlob.parse(
                SafetensorsWriter.create()
                        .add("activations", DType.F32, new Matrix(2, 2, new double[] {1, 1, 1, 1}))
                        .add("reconstructions", DType.F32, new Matrix(2, 2, new double[] {.25, .25, .25, .25}))
                        .addRaw("code_indices", DType.I64, new long[] {rows, most}, bytes.flip())
                        .add("code_values", DType.F64, new Matrix(rows, most, values))
                        .toBytes(),
                new KnownHeaders());
    }

    private static double[] leading(Matrix rows, int row, int count) {
        double[] values = new double[count];
        for (int j = 0; j < count; j++) {
            values[j] = rows.get(row, j);
        }
        return values;
    }
}
