package io.plumbline.baseline;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import io.plumbline.records.ActivationBatch;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BaselineFileTest {

    @Test
    void aFileGivesBackEveryBit(@TempDir Path folder) throws IOException {
        Baseline baseline = BaselineTest.build(12);
        Path file = folder.resolve("baseline.safetensors");
        baseline.write(file);
        Baseline read = Baseline.read(file);
        assertEquals(baseline.explainerSha256(), read.explainerSha256());
        assertEquals(baseline.rowCount(), read.rowCount());
        assertArrayEquals(baseline.moment().state(), read.moment().state());
        assertEquals(baseline.reconstructionMoment(), read.reconstructionMoment());
        assertEquals(baseline.reconstructionFvu(), read.reconstructionFvu());
        assertNotNull(read.grouping());
        assertEquals(baseline.grouping(), read.grouping());
        for (NullSample sample : baseline.samples()) {
            NullSample same = read.sample(sample.rank(), sample.rowsPerWindow()).orElseThrow();
            assertEquals(sample.statistics().keySet(), same.statistics().keySet());
            sample.statistics().forEach((name, values) -> assertArrayEquals(values, same.values(name), name));
        }
        assertSameRows(baseline.rows(), read.rows());
    }

    private static void assertSameRows(List<SampledRow> expected, List<SampledRow> rows) {
        assertEquals(expected.size(), rows.size());
        for (int i = 0; i < rows.size(); i++) {
            assertEquals(expected.get(i).request(), rows.get(i).request());
            assertEquals(expected.get(i).hash(), rows.get(i).hash());
            assertArrayEquals(expected.get(i).activation(), rows.get(i).activation());
            assertArrayEquals(expected.get(i).target(), rows.get(i).target());
        }
    }

    @Test
    void aFileSaysWhenItWasMadeOfWhatAndWhatItReplaces(@TempDir Path folder) throws IOException {
        assertNull(BaselineTest.reread(folder, BaselineTest.build(12)).provenance());
        Provenance first = Provenance.first(Instant.parse("2026-01-01T00:00:00Z"), "monday.safetensors");
        Baseline one = BaselineTest.reread(folder, BaselineTest.build(12).with(first));
        Path file = folder.resolve("sealed.safetensors");
        one.write(file);
        try (Safetensors sealed = Safetensors.open(file)) {
            String content = Objects.requireNonNull(sealed.checksum());
            Provenance read = new Provenance(first.created(), first.source(), 1, null, content);
            assertEquals(read, one.provenance());
            assertEquals(read, Baseline.read(file).provenance());
        }
        Provenance second = Provenance.replacing(
                one, "ab".repeat(32), Instant.parse("2026-02-01T00:00:00Z"), "tuesday.safetensors");
        Provenance read =
                BaselineTest.reread(folder, BaselineTest.build(12).with(second)).provenance();
        assertEquals(second.parent(), Objects.requireNonNull(read).parent());
        assertEquals(2, second.revision());
        assertRefused("expected an instant in UTC", complete().metadata("created", "yesterday"));
        assertRefused(
                "expected revision 1 without a parent",
                complete().metadata("created", "2026-01-01T00:00:00Z").metadata("revision", "2"));
    }

    @Test
    void keptRowsThatDoNotFitAreRefusedInWords() {
        assertRefused("expected [rows, 3] of F16, BF16 or F32", kept(2, 4, 0, 2));
        assertRefused(
                "no tensor \"sample_requests\"", complete().add("sample_activations", DType.F32, Matrix.zeros(2, 3)));
        assertRefused("expected ascending ones from 0 to 2", kept(2, 3, 0, 3));
        assertRefused("expected ascending ones from 0 to 2", kept(2, 3, 0, 0, 2));
        assertRefused("expected ascending ones from 0 to 2", kept(2, 3, 0));
        assertRefused("expected [2, 3] of F16", kept(2, 3, 0, 2).add("sample_targets", DType.F32, Matrix.zeros(1, 3)));
        Matrix poisoned = Matrix.zeros(2, 3);
        poisoned.set(1, 1, Double.NaN);
        assertRefused("not finite", kept(2, 5, 0, 2).add("sample_targets", DType.F32, poisoned));
    }

    private static SafetensorsWriter kept(int rows, int width, long... offsets) {
        return complete()
                .add("sample_activations", DType.F32, Matrix.zeros(rows, width))
                .addLongs("sample_requests", 5)
                .addLongs("sample_request_offsets", offsets);
    }

    private static SafetensorsWriter complete() {
        return complete(new double[] {1}, "windows.2.20.gap_share");
    }

    @Test
    void aFileThatIsNoBaselineIsRefusedInWords(@TempDir Path folder) throws IOException {
        assertRefused("is no baseline: it holds the tensors []", SafetensorsWriter.create());
        assertRefused(
                "is no baseline: it holds activations, rows that --activations takes",
                SafetensorsWriter.create().addVector("activations", DType.F32, new double[] {1}));
        assertRefused("version 2", header().metadata("version", "2"));
        assertRefused("run `plumbline baseline` again", header().metadata("version", "2"));
        assertRefused("no tensor \"rows\"", header());
        assertRefused("rows = 0", header().addLongs("rows", 0));
        assertRefused("shape [2], expected [1]", header().addLongs("rows", 1, 2));
        assertRefused("no tensor \"moment_state\"", square());
        assertRefused("shape [8], expected [9]", square().addVector("moment_state", DType.F64, new double[8]));
        assertRefused(
                "expected [d, d]",
                header().addLongs("rows", 4).add("reconstruction_moment", DType.F64, Matrix.zeros(3, 2)));
        assertRefused(
                "is F32, expected F64",
                header().addLongs("rows", 4).add("reconstruction_moment", DType.F32, Matrix.zeros(3, 3)));
        assertRefused(
                "1 requests with design effects",
                complete(new double[] {1}, "windows.2.20.gap_share")
                        .addLongs("requests", 1)
                        .addVector("design_effect", DType.F64, new double[] {1, 1}));
        assertRefused("not finite", complete(new double[] {1, 2, Double.POSITIVE_INFINITY}, "windows.2.20.gap_share"));
        assertRefused(
                "different numbers of values, expected one for every window",
                complete(new double[] {1, 2}, "windows.2.20.gap_share")
                        .addVector("windows.2.20.eta", DType.F64, new double[] {1}));
        assertRefused("expected windows.RANK.ROWS.STATISTIC", complete(new double[] {1}, "windows.0.20.gap_share"));

        Path file = folder.resolve("baseline.safetensors");
        BaselineTest.build(12).write(file);
        byte[] bytes = Files.readAllBytes(file);
        Files.write(file, Arrays.copyOf(bytes, bytes.length - 1));
        BaselineException cut = assertThrows(BaselineException.class, () -> Baseline.read(file));
        assertTrue(String.valueOf(cut.getMessage()).startsWith(file.toString()), cut::toString);
    }

    private static SafetensorsWriter square() {
        return header().addLongs("rows", 4).add("reconstruction_moment", DType.F64, Matrix.zeros(3, 3));
    }

    private static SafetensorsWriter header() {
        return SafetensorsWriter.create()
                .metadata("format", BaselineFile.FORMAT)
                .metadata("version", BaselineFile.VERSION)
                .metadata("explainer_sha256", "0".repeat(64));
    }

    private static SafetensorsWriter complete(double[] values, String name) {
        return header().addLongs("rows", 4)
                .add("reconstruction_moment", DType.F64, Matrix.zeros(3, 3))
                .addVector("moment_state", DType.F64, new double[9])
                .addVector("reconstruction_fvu", DType.F64, new double[1])
                .addLongs("encoded_rows", 256)
                .addVector(name, DType.F64, values);
    }

    private static void assertRefused(String words, SafetensorsWriter file) {
        BaselineException refusal = assertThrows(
                BaselineException.class,
                () -> BaselineFile.read("here", Safetensors.parse(file.sealed().toBytes())));
        assertTrue(String.valueOf(refusal.getMessage()).contains(words), refusal::toString);
        assertTrue(String.valueOf(refusal.getMessage()).startsWith("here"), refusal::toString);
    }

    @Test
    void rowsOfATranscoderAreKeptWithTheirTargetsInTheTypeTheyCameIn(@TempDir Path folder) throws IOException {
        for (DType dtype : List.of(DType.F16, DType.BF16, DType.F32)) {
            BaselineBuilder builder = BaselineBuilder.of(
                            BaselineTest.explainer("transcoder"), List.of(BaselineTest.RANK), List.of())
                    .keeping(16);
            for (int i = 0; i < 12; i++) {
                Matrix targets = BaselineTest.gaussian(
                        new Random(i), BaselineTest.request(i).rows(), BaselineTest.DIMENSION);
                builder.add(
                        new ActivationBatch(rounded(BaselineTest.request(i), dtype), rounded(targets, dtype), null));
            }
            Baseline baseline = builder.build();
            assertEquals(16, baseline.rows().size(), "8 stretches of 2 rows");
            Path file = folder.resolve(dtype + ".safetensors");
            baseline.write(file);
            assertSameRows(baseline.rows(), Baseline.read(file).rows());
            try (Safetensors tensors = Safetensors.open(file)) {
                assertEquals(dtype, tensors.tensor("sample_activations").dtype());
                assertEquals(dtype, tensors.tensor("sample_targets").dtype());
            }
        }
    }

    private static Matrix rounded(Matrix matrix, DType dtype) {
        for (int i = 0; i < matrix.values().length; i++) {
            // 1e6 is more than F16 holds.
            matrix.values()[i] = dtype.rounded(matrix.values()[i] * (dtype == DType.F16 ? 1 : 1e6));
        }
        return matrix;
    }
}
