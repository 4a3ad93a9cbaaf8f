package io.plumbline.baseline;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.geometry.Statistic;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.RequestRecord;
import io.plumbline.wire.DType;
import io.plumbline.wire.KnownHeaders;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class WholeRequestsInBaselineTest {

    private static final int WIDTH = BaselineTest.DIMENSION;

    @TempDir
    private Path folder;

    private static byte[] record(int seed, int rows, boolean withTokens) {
        Random random = new Random(seed);
        Matrix residual = BaselineTest.gaussian(random, rows, WIDTH);
        long[] ids = new long[rows];
        for (int i = 0; i < rows; i++) {
            ids[i] = 100L * seed + i;
        }
        SafetensorsWriter record = SafetensorsWriter.create()
                .add("activations", DType.F16, BaselineTest.gaussian(random, rows, 3))
                .add("targets", DType.F32, BaselineTest.gaussian(random, rows, WIDTH))
                .add("residual", DType.BF16, residual);
        return (withTokens ? record.addLongs("token_ids", ids) : record).toBytes();
    }

    @Test
    void wholeRequestsComeBackFromTheFileWithEveryTensor() throws IOException {
        List<byte[]> whole = List.of(record(1, 5, true), record(2, 2, true));
        List<byte[]> read = BaselineTest.reread(folder, BaselineTest.build(12).keepingWhole(whole))
                .wholeRequests();
        assertEquals(2, read.size());
        for (int i = 0; i < 2; i++) {
            RequestRecord written = RequestRecord.parse(whole.get(i), new KnownHeaders(), null);
            RequestRecord back = RequestRecord.parse(read.get(i), new KnownHeaders(), null);
            assertArrayEquals(
                    written.batch().activations().values(),
                    back.batch().activations().values());
            assertArrayEquals(
                    written.batch().targetRows().values(),
                    back.batch().targetRows().values());
            assertArrayEquals(written.batch().tokenIds(), back.batch().tokenIds());
            assertArrayEquals(
                    assertNotNullResidual(written).values(),
                    assertNotNullResidual(back).values());
        }
        try (Safetensors file = Safetensors.open(folder.resolve("baseline.safetensors"))) {
            assertEquals(DType.F16, file.tensor("whole_activations").dtype());
        }
        assertEquals(
                List.of(), BaselineTest.reread(folder, BaselineTest.build(12)).wholeRequests());
    }

    private static Matrix assertNotNullResidual(RequestRecord record) {
        assertNotNull(record.residual());
        return record.residual().toMatrix();
    }

    @Test
    void tokensThatOneRequestLacksAreKeptOfNone() throws IOException {
        List<byte[]> whole = List.of(record(1, 5, true), record(2, 2, false));
        List<byte[]> read = BaselineTest.reread(folder, BaselineTest.build(12).keepingWhole(whole))
                .wholeRequests();
        assertNull(ActivationBatch.parse(read.get(0)).tokenIds());
    }

    @Test
    void offsetsThatDoNotCoverTheRowsAreRefused() throws IOException {
        Path file = folder.resolve("wrong.safetensors");
        SafetensorsWriter.create()
                .add("whole_activations", DType.F32, Matrix.zeros(4, WIDTH))
                .addLongs("whole_request_offsets", 0, 3)
                .writeTo(file);
        try (Safetensors tensors = Safetensors.open(file)) {
            String said =
                    String.valueOf(assertThrows(BaselineException.class, () -> KeptWhole.read("wrong", tensors, WIDTH))
                            .getMessage());
            assertTrue(said.contains("whole_request_offsets"), said);
            assertTrue(said.contains("from 0 to 4"), said);
        }
    }

    @Test
    void furtherFiguresAreAskedOfTheRequestsOfEachCleanWindow() {
        List<List<Integer>> asked = new ArrayList<>();
        BaselineBuilder builder = BaselineBuilder.of(BaselineTest.AUTOENCODER, List.of(BaselineTest.RANK), List.of(20))
                .measuring(requests -> {
                    asked.add(requests);
                    return requests.contains(3) ? Map.of() : Map.of(Statistic.KL, (double) requests.get(0));
                });
        for (int i = 0; i < 12; i++) {
            builder.add(new ActivationBatch(BaselineTest.request(i), null, null));
        }
        CleanWindowPass windows = builder.secondPass();
        for (int i = 0; i < 12; i++) {
            windows.add(new ActivationBatch(BaselineTest.request(i), null, null));
        }
        NullSample sample = windows.build().sample(BaselineTest.RANK, 20).orElseThrow();
        assertEquals(List.of(List.of(0, 1, 2), List.of(3, 4), List.of(5, 6, 7), List.of(8, 9)), asked);
        assertArrayEquals(
                new double[] {0, Double.NaN, 5, 8}, sample.statistics().get("kl"));
    }
}
