package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests an explainer eight of whose features write where the quiet rows were, and eight, a fifth as strongly as they
 * should, where the drifted ones are.
 */
class FailingFeaturesCommandTest {

    @TempDir
    private Path folder;

    @BeforeEach
    void makeSite() throws IOException {
        WatchedFolder.create(folder, "h:1");
        // Of rows in which the last features do nothing: on the folder's own their columns are as wrong as in the
        // window.
        BaselineBuilder baseline = BaselineBuilder.of(Formats.read(folder.resolve("explainer")), List.of(4), List.of());
        for (int record = 0; record < 64; record++) {
            Matrix quiet = WatchedFolder.quiet(-1 - record);
            for (int row = 0; row < quiet.rows(); row++) {
                for (int column = 4; column < quiet.columns(); column++) {
                    quiet.set(row, column, 0.0);
                }
            }
            baseline.add(new ActivationBatch(quiet, null, null));
        }
        baseline.build().write(folder.resolve("baseline.safetensors"));
        Matrix rows = Matrix.zeros(16 * WatchedFolder.ROWS, WatchedFolder.WIDTH);
        for (int record = 0; record < 16; record++) {
            double[] values = WatchedFolder.drifted(record).values();
            System.arraycopy(values, 0, rows.values(), record * values.length, values.length);
        }
        SafetensorsWriter.create()
                .add("activations", DType.F32, rows)
                .addLongs(
                        "request_offsets",
                        LongStream.rangeClosed(0, 16)
                                .map(request -> request * WatchedFolder.ROWS)
                                .toArray())
                .writeTo(folder.resolve("drifted.safetensors"));
    }

    @Test
    void theFeaturesThatWriteTooLittleAreListedWorstFirst() throws IOException {
        JsonNode failing = new ObjectMapper()
                .readTree(assess("--features", 5, "--json").out())
                .get("failing_features");
        assertEquals(5, failing.size());
        List<Double> residuals = new ArrayList<>();
        for (JsonNode feature : failing) {
            assertTrue(feature.get("feature").asInt() % 8 >= 4, failing.toString());
            double residual = feature.get("systematic_residual").asDouble();
            double low = feature.get("systematic_residual_low").asDouble();
            assertTrue(low <= residual, failing.toString());
            assertTrue(low > feature.get("systematic_residual_baseline").asDouble(), failing.toString());
            assertTrue(feature.get("usefulness").asDouble()
                    > feature.get("usefulness_baseline").asDouble());
            assertTrue(feature.get("direction_change").isNull(), failing.toString());
            residuals.add(residual);
        }
        List<Double> sorted = new ArrayList<>(residuals);
        sorted.sort((a, b) -> Double.compare(b, a));
        assertEquals(sorted, residuals);
    }

    @Test
    void theTableSaysTheSameAndHowFarTheColumnsOfADecoderInServiceHaveTurned() throws IOException {
        Path adapted = Files.createDirectory(folder.resolve("adapted"));
        Files.copy(folder.resolve("explainer/cfg.json"), adapted.resolve("cfg.json"));
        Matrix decoder = Matrix.zeros(WatchedFolder.FEATURES, WatchedFolder.WIDTH);
        SafetensorsWriter.create()
                .add("W_enc", DType.F32, Matrix.zeros(WatchedFolder.WIDTH, WatchedFolder.FEATURES))
                .addVector("b_enc", DType.F32, new double[WatchedFolder.FEATURES])
                .add("W_dec", DType.F32, decoder)
                .addVector("b_dec", DType.F32, new double[WatchedFolder.WIDTH])
                .writeTo(adapted.resolve("sae_weights.safetensors"));
        String table = assess("--features", 50, "--active", adapted).out();
        String list =
                table.substring(table.indexOf("feature  systematic residual")).split("\n\n", 2)[0];
        assertEquals(9, list.lines().count(), list);
        assertTrue(list.lines().skip(1).allMatch(line -> line.endsWith(" 1.000")), list);
        assertFalse(assess().out().contains("feature  systematic residual"));
    }

    @Test
    void theListSaysWhatFeaturesAreCalledAndWhereTheirPagesAre() throws IOException {
        Path labels =
                Files.writeString(folder.resolve("labels.csv"), "feature,label\n4,\"dogs, and cats\"\n5,cities\n");
        JsonNode names = new ObjectMapper()
                .readTree(assess(
                                "--features",
                                50,
                                "--json",
                                "--labels",
                                labels,
                                "--link",
                                "https://example.org/{feature}")
                        .out())
                .get("feature_names");
        assertEquals("dogs, and cats", names.get("4").get("label").asText());
        assertEquals("https://example.org/4", names.get("4").get("link").asText());
        assertTrue(names.get("6").get("label").isNull(), names.toString());
        String table = assess("--features", 50, "--labels", labels).out();
        assertTrue(
                table.lines().anyMatch(line -> line.startsWith("      4  ") && line.endsWith("  dogs, and cats")),
                table);
        Shell refused = shell("--features", 5, "--link", "ftp://example.org/{feature}");
        assertEquals(2, refused.exitCode());
        assertTrue(refused.err().contains("expected an address of http or https with {feature}"), refused.err());
    }

    @Test
    void aDecoderInServiceWithoutAListIsAMistake() {
        Shell shell = shell("--active", folder.resolve("explainer"));
        assertEquals(2, shell.exitCode(), shell.out());
        assertTrue(shell.err().contains("--features = 0: expected 1 or more"), shell.err());
    }

    private Shell assess(Object... more) {
        Shell shell = shell(more);
        assertEquals(0, shell.exitCode(), shell.err());
        return shell;
    }

    private Shell shell(Object... more) {
        List<Object> words = new ArrayList<>(List.of(
                "assess",
                "--explainer",
                folder.resolve("explainer"),
                "--baseline",
                folder.resolve("baseline.safetensors"),
                "--activations",
                folder.resolve("drifted.safetensors"),
                "--rank",
                4,
                "--threshold-share",
                0.6));
        words.addAll(List.of(more));
        return Shell.run(words.toArray());
    }
}
