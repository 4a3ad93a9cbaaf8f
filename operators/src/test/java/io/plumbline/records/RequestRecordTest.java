package io.plumbline.records;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.KnownHeaders;
import io.plumbline.wire.SafetensorsWriter;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.List;
import org.junit.jupiter.api.Test;

class RequestRecordTest {

    private static final Matrix ROWS = new Matrix(3, 2, new double[] {1, 2, 3, 4, 5, 6});

    private static RequestRecord read(SafetensorsWriter record) {
        return RequestRecord.parse(record.toBytes(), new KnownHeaders(), null);
    }

    private static SafetensorsWriter rows() {
        return SafetensorsWriter.create().add("activations", DType.F16, ROWS).addLongs("token_ids", 7, 8, 9);
    }

    @Test
    void aRecordIsOneRequestUnlessItSaysOtherwise() {
        RequestRecord one = read(rows());
        assertEquals(1, one.count());
        assertEquals(new ActivationBatch(ROWS, null, new long[] {7, 8, 9}), ActivationBatch.parse(one.request(0)));
        RequestRecord two = read(rows().addLongs("request_offsets", 0, 1, 3));
        assertEquals(2, two.count());
        assertEquals(2, two.rows(1));
        assertEquals(
                new ActivationBatch(ROWS.rowRange(1, 3), null, new long[] {8, 9}),
                ActivationBatch.parse(two.request(1)));
        assertEquals(1, read2(two.request(1)).count(), "a request cut out is a record of one");
    }

    private static RequestRecord read2(byte[] record) {
        return RequestRecord.parse(record, new KnownHeaders(), null);
    }

    @Test
    void theResidualStreamGoesWithItsRows() {
        RequestRecord two = read(SafetensorsWriter.create()
                .add("activations", DType.F32, ROWS)
                .add("targets", DType.F32, ROWS)
                .add("residual", DType.F32, ROWS)
                .addLongs("request_offsets", 0, 1, 3));
        EncodedRows residual = read2(two.request(1)).residual();
        assertNotNull(residual);
        assertEquals(ROWS.rowRange(1, 3), residual.toMatrix());
        assertNull(read(rows()).residual());
    }

    /** Tests records such as vLLM's hidden states behind a prefix cache: ids of all tokens, rows of the last. */
    @Test
    void aRecordWithMoreTokensThanRowsLacksItsFirstRows() {
        byte[] cached = SafetensorsWriter.create()
                .addRaw(
                        "hidden_states",
                        DType.F32,
                        new long[] {3, 1, 2},
                        ByteBuffer.allocate(24).order(ByteOrder.LITTLE_ENDIAN))
                .addLongs("token_ids", 5, 6, 7, 8, 9)
                .toBytes();
        HiddenLayers layers = new HiddenLayers(List.of(4), 4, HiddenLayers.Axes.TOKENS_FIRST);
        assertTrue(RequestRecord.parse(cached, new KnownHeaders(), layers).lacksRows());
        assertFalse(read(rows()).lacksRows());
    }

    @Test
    void offsetsAndResidualsThatDoNotFitAreRefusedByName() {
        assertRefused(
                "\"request_offsets\" runs from 0 to 2, expected 0 to 3", rows().addLongs("request_offsets", 0, 2));
        assertRefused("no request empty", rows().addLongs("request_offsets", 0, 2, 2, 3));
        assertRefused(
                "\"residual\": shape [2, 2], expected [3, 2]", rows().add("residual", DType.F32, ROWS.rowRange(0, 2)));
    }

    private static void assertRefused(String part, SafetensorsWriter record) {
        String said = String.valueOf(
                assertThrows(ActivationBatchException.class, () -> read(record)).getMessage());
        assertTrue(said.contains(part), said);
    }
}
