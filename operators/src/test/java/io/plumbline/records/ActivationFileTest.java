package io.plumbline.records;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ActivationFileTest {

    @TempDir
    Path folder;

    @Test
    void requestsAreTheRowsBetweenTheirOffsets() throws IOException {
        try (ActivationFile file = open(dump(5).addLongs("request_offsets", 0, 2, 5))) {
            assertEquals(5, file.rows());
            assertEquals(2, file.requests());
            assertEquals(2, file.inputWidth());
            assertEquals(2, file.targetWidth());
            assertFalse(file.hasTargets());
            assertEquals(rows(5).rowRange(0, 2), file.request(0).activations());
            assertEquals(rows(5).rowRange(2, 5), file.request(1).activations());
        }
    }

    @Test
    void targetsAndTokenIdsAreCutWithTheirRows() throws IOException {
        Matrix targets = new Matrix(3, 1, new double[] {7, 8, 9});
        try (ActivationFile file = open(dump(3).add("targets", DType.F32, targets)
                .addLongs("token_ids", 101, 5, 102)
                .addLongs("request_offsets", 0, 1, 3))) {
            assertEquals(1, file.targetWidth());
            assertTrue(file.hasTargets());
            assertEquals(targets.rowRange(1, 3), file.request(1).targets());
            assertArrayEquals(new long[] {5, 102}, file.request(1).tokenIds());
        }
    }

    @Test
    void dumpWithoutOffsetsIsReadInRequestsOf128Rows() throws IOException {
        try (ActivationFile file = open(dump(300))) {
            assertEquals(3, file.requests());
            assertEquals(128, file.request(1).rows());
            assertEquals(44, file.request(2).rows());
        }
        try (ActivationFile file = open(dump(128))) {
            assertEquals(1, file.requests());
        }
    }

    @Test
    void recordOfARequestSaysTheSameInTheSameTypes() throws IOException {
        try (ActivationFile file = open(SafetensorsWriter.create()
                .add("hidden_states", DType.F16, rows(3))
                .add("targets", DType.BF16, rows(3))
                .addLongs("token_ids", 1, 2, 3)
                .addLongs("request_offsets", 0, 2, 3))) {
            byte[] record = file.requestAsRecord(0);
            assertEquals(file.request(0), ActivationBatch.parse(record));
            Safetensors blob = Safetensors.parse(record);
            assertEquals(DType.F16, blob.tensor("activations").dtype());
            assertEquals(DType.BF16, blob.tensor("targets").dtype());
            assertFalse(blob.contains("request_offsets"));
        }
    }

    @Test
    void offsetsMustRunFromZeroToTheRowsAscending() throws IOException {
        refused(dump(4).addLongs("request_offsets", 1, 4), "runs from 1 to 4, expected 0 to 4");
        refused(dump(4).addLongs("request_offsets", 0, 3), "runs from 0 to 3, expected 0 to 4");
        refused(dump(4).addLongs("request_offsets", 0, 3, 2, 4), "entry 2 is 2 after 3");
        refused(dump(4).addLongs("request_offsets", 0, 2, 2, 4), "no request empty");
        refused(dump(4).addLongs("request_offsets", 0, 1L << 32, 4), "entry 1 is 4294967296");
        refused(dump(4).addLongs("request_offsets", 0), "expected [requests + 1] of I64");
        refused(dump(4).addVector("request_offsets", DType.F64, new double[] {0, 4}), "expected [requests + 1] of I64");
    }

    @Test
    void messagesBeginWithThePath() throws IOException {
        Path path = folder.resolve("empty.safetensors");
        SafetensorsWriter.create().writeTo(path);
        ActivationBatchException e = assertThrows(ActivationBatchException.class, () -> ActivationFile.open(path));
        assertEquals(path + ": tensor \"activations\" is missing; the blob has []", e.getMessage());
    }

    private static Matrix rows(int count) {
        Matrix rows = Matrix.zeros(count, 2);
        for (int i = 0; i < 2 * count; i++) {
            rows.values()[i] = i;
        }
        return rows;
    }

    private static SafetensorsWriter dump(int count) {
        return SafetensorsWriter.create().add("activations", DType.F16, rows(count));
    }

    private ActivationFile open(SafetensorsWriter writer) throws IOException {
        Path path = folder.resolve("dump.safetensors");
        writer.writeTo(path);
        return ActivationFile.open(path);
    }

    private void refused(SafetensorsWriter writer, String message) {
        ActivationBatchException e = assertThrows(ActivationBatchException.class, () -> open(writer));
        assertTrue(String.valueOf(e.getMessage()).contains(message), e.getMessage());
    }
}
