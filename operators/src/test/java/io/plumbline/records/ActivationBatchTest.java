package io.plumbline.records;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsException;
import io.plumbline.wire.SafetensorsWriter;
import java.nio.ByteBuffer;
import org.junit.jupiter.api.Test;

class ActivationBatchTest {

    private static final Matrix ROWS = new Matrix(2, 3, new double[] {1, 2, 3, 4, 5, 6});
    private static final Matrix TARGETS = new Matrix(2, 1, new double[] {7, 8});

    @Test
    void activationsAloneAreTheirOwnTargets() {
        ActivationBatch batch =
                ActivationBatch.parse(blob().add("activations", DType.F16, ROWS).toBytes());
        assertEquals(ROWS, batch.activations());
        assertNull(batch.targets());
        assertNull(batch.tokenIds());
        assertEquals(2, batch.rows());
        assertSame(batch.activations(), batch.targetRows());
    }

    @Test
    void targetsAndTokenIdsComeAlong() {
        ActivationBatch batch = ActivationBatch.parse(blob().add("activations", DType.F32, ROWS)
                .add("targets", DType.BF16, TARGETS)
                .addLongs("token_ids", 101, 102)
                .toBytes());
        assertEquals(TARGETS, batch.targets());
        assertEquals(TARGETS, batch.targetRows());
        assertArrayEquals(new long[] {101, 102}, batch.tokenIds());
    }

    @Test
    void hiddenStatesIsAnotherNameForActivations() {
        assertEquals(
                ROWS,
                ActivationBatch.parse(
                                blob().add("hidden_states", DType.F32, ROWS).toBytes())
                        .activations());
        refused(
                blob().add("hidden_states", DType.F32, ROWS).add("activations", DType.F32, ROWS),
                "both \"activations\" and \"hidden_states\"");
    }

    @Test
    void valuesAreNotLookedAt() {
        Matrix rows = new Matrix(1, 1, new double[] {Double.NaN});
        assertEquals(
                rows,
                ActivationBatch.parse(blob().add("activations", DType.F64, rows).toBytes())
                        .activations());
    }

    @Test
    void batchWithoutActivationsIsRefused() {
        refused(blob().add("resid", DType.F32, ROWS), "tensor \"activations\" is missing; the blob has [resid]");
    }

    @Test
    void emptyBatchIsRefused() {
        refused(
                blob().add("activations", DType.F32, Matrix.zeros(0, 3)),
                "tensor \"activations\": shape [0, 3], expected [rows, width], both at least 1");
        refused(blob().add("activations", DType.F32, Matrix.zeros(3, 0)), "shape [3, 0]");
        assertThrows(ActivationBatchException.class, () -> new ActivationBatch(Matrix.zeros(0, 3), null, null));
    }

    @Test
    void activationsOfOneOrThreeDimensionsAreRefused() {
        refused(blob().addVector("activations", DType.F32, new double[3]), "shape [3], expected [rows, width]");
        refused(
                blob().addRaw("hidden_states", DType.F32, new long[] {1, 1, 2}, ByteBuffer.allocate(8)),
                "tensor \"hidden_states\": shape [1, 1, 2], expected [rows, width]");
    }

    @Test
    void integerActivationsAreRefused() {
        refused(
                blob().addRaw("activations", DType.I32, new long[] {1, 1}, ByteBuffer.allocate(4)),
                "dtype I32, expected F64, F32, F16 or BF16");
    }

    @Test
    void targetsOfAnotherRowCountAreRefused() {
        refused(
                blob().add("activations", DType.F32, ROWS).add("targets", DType.F32, Matrix.zeros(3, 1)),
                "tensor \"targets\": shape [3, 1], expected [2, d_out], a row for each of the activations");
        assertThrows(ActivationBatchException.class, () -> new ActivationBatch(ROWS, Matrix.zeros(1, 1), null));
    }

    @Test
    void tokenIdsMustBeOneIntegerPerRow() {
        refused(
                blob().add("activations", DType.F32, ROWS).addLongs("token_ids", 1, 2, 3),
                "tensor \"token_ids\": shape [3], expected [2]");
        refused(
                blob().add("activations", DType.F32, ROWS).addVector("token_ids", DType.F32, new double[2]),
                "tensor \"token_ids\": dtype F32, expected I64 or I32");
        assertThrows(ActivationBatchException.class, () -> new ActivationBatch(ROWS, null, new long[3]));
    }

    @Test
    void corruptBlobKeepsItsOwnName() {
        assertThrows(SafetensorsException.class, () -> ActivationBatch.parse(new byte[3]));
    }

    private static SafetensorsWriter blob() {
        return SafetensorsWriter.create();
    }

    private static void refused(SafetensorsWriter blob, String message) {
        ActivationBatchException e =
                assertThrows(ActivationBatchException.class, () -> ActivationBatch.parse(blob.toBytes()));
        assertTrue(String.valueOf(e.getMessage()).contains(message), e.getMessage());
    }
}
