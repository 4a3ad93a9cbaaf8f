package io.plumbline.records;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.records.HiddenLayers.Axes;
import io.plumbline.wire.DType;
import io.plumbline.wire.KnownHeaders;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.LongStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Tests one layer's rows out of the hidden states of several, in both orders of the axes. */
class HiddenLayersTest {

    private static final int HIDDEN = 3;
    private static final HiddenLayers SIXTH = new HiddenLayers(List.of(3, 6), 6, null);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @EnumSource(Axes.class)
    void theNumberOfLayersTellsTheOrderOfTheAxes(Axes axes) {
        ActivationBlob blob = parse(states(axes, 4, 2, 4), SIXTH);
        assertEquals(4, blob.rows());
        for (int token = 0; token < 4; token++) {
            assertArrayEquals(
                    new float[] {10 + token, 10.25f + token, 10.5f + token},
                    blob.activations().row(token));
        }
        assertArrayEquals(new long[] {100, 101, 102, 103}, blob.tokenIds());
    }

    @Test
    void whereBothOrdersFitTheRecordIsRefusedUnlessTheOrderIsSaid() {
        for (int ids : new int[] {0, 2, 5}) {
            byte[] square = states(Axes.TOKENS_FIRST, 2, 2, ids);
            String message = assertThrows(ActivationBatchException.class, () -> parse(square, SIXTH))
                    .getMessage();
            assertTrue(message.contains("[2, 2, 3], and 2 layers fit either of the first two axes"), message);
        }
        ActivationBlob said =
                parse(states(Axes.TOKENS_FIRST, 2, 2, 2), new HiddenLayers(List.of(3, 6), 6, Axes.TOKENS_FIRST));
        assertEquals(11f, said.activations().row(1)[0]);
        ActivationBlob other =
                parse(states(Axes.TOKENS_FIRST, 2, 2, 2), new HiddenLayers(List.of(3, 6), 6, Axes.LAYERS_FIRST));
        assertEquals(1f, other.activations().row(0)[0]);
    }

    @Test
    void tokenIdsSettleWhatTheLayersLeaveOpenAndAreCutToTheLastRows() {
        HiddenLayers five = new HiddenLayers(List.of(0, 1, 2, 3, 4), 1, null);
        // 5 tokens and 5 layers: neither axis is longer than the ids, so both fit.
        assertThrows(ActivationBatchException.class, () -> parse(states(Axes.TOKENS_FIRST, 5, 5, 5), five));
        ActivationBlob cached = parse(states(Axes.TOKENS_FIRST, 2, 5, 7), five);
        assertEquals(2, cached.rows());
        assertArrayEquals(new long[] {105, 106}, cached.tokenIds());
        String few = assertThrows(ActivationBatchException.class, () -> parse(states(Axes.TOKENS_FIRST, 4, 5, 3), five))
                .getMessage();
        assertTrue(few.contains("and at most 3 tokens"), few);
    }

    @Test
    void anotherNumberOfLayersAndHiddenStatesThatNobodyDeclaredAreRefused() {
        byte[] three = states(Axes.TOKENS_FIRST, 4, 3, 4);
        assertTrue(assertThrows(ActivationBatchException.class, () -> parse(three, SIXTH))
                .getMessage()
                .contains("with the 2 layers [3, 6]"));
        assertTrue(assertThrows(ActivationBatchException.class, () -> parse(three, null))
                .getMessage()
                .contains("expected [rows, width]"));
        assertThrows(EmptyBatchException.class, () -> parse(states(Axes.TOKENS_FIRST, 0, 2, 0), SIXTH));
        assertThrows(IllegalArgumentException.class, () -> new HiddenLayers(List.of(3, 6), 5, null));
        assertThrows(IllegalArgumentException.class, () -> new HiddenLayers(List.of(6, 6), 6, null));
    }

    @Test
    void aSiteWithDeclaredLayersTakesPlainRowsAsWell() {
        byte[] plain = SafetensorsWriter.create()
                .addRaw("activations", DType.F32, new long[] {2, HIDDEN}, floats(new double[2 * HIDDEN]))
                .toBytes();
        assertEquals(2, parse(plain, SIXTH).rows());
    }

    @Test
    void aFileOfAnEngineIsOneRequest() throws IOException {
        Path file = folder.resolve("cmpl-7.safetensors");
        Files.write(file, states(Axes.TOKENS_FIRST, 300, 2, 300));
        try (ActivationFile dump = ActivationFile.open(file, SIXTH)) {
            assertEquals(1, dump.requests());
            assertEquals(HIDDEN, dump.inputWidth());
            ActivationBlob record = ActivationBlob.parse(dump.requestAsRecord(0), new KnownHeaders());
            assertEquals(300, record.rows());
            assertEquals(10f + 299, record.activations().row(299)[0]);
            assertEquals(399, record.tokenIds()[299]);
        }
        assertThrows(ActivationBatchException.class, () -> ActivationFile.open(file));
    }

    private static ActivationBlob parse(byte[] blob, @Nullable HiddenLayers layers) {
        return (ActivationBlob) ActivationRecord.parse(blob, new KnownHeaders(), layers);
    }

    /** Returns states with value 10 l + t + j / 4 for layer l, token t, column j. */
    private static byte[] states(Axes axes, int tokens, int layers, int ids) {
        double[] values = new double[tokens * layers * HIDDEN];
        for (int token = 0; token < tokens; token++) {
            for (int layer = 0; layer < layers; layer++) {
                for (int j = 0; j < HIDDEN; j++) {
                    int row = axes == Axes.TOKENS_FIRST ? token * layers + layer : layer * tokens + token;
                    values[row * HIDDEN + j] = 10 * layer + token + j / 4.0;
                }
            }
        }
        long[] shape =
                axes == Axes.TOKENS_FIRST ? new long[] {tokens, layers, HIDDEN} : new long[] {layers, tokens, HIDDEN};
        SafetensorsWriter writer = SafetensorsWriter.create().addRaw("hidden_states", DType.F32, shape, floats(values));
        if (ids > 0) {
            writer.addLongs("token_ids", LongStream.range(100, 100 + ids).toArray());
        }
        return writer.toBytes();
    }

    private static ByteBuffer floats(double[] values) {
        ByteBuffer bytes = ByteBuffer.allocate(Float.BYTES * values.length).order(ByteOrder.LITTLE_ENDIAN);
        for (double value : values) {
            bytes.putFloat((float) value);
        }
        return bytes.flip();
    }
}
