package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Of eight features that write where the quiet rows were, and eight that write where the drifted ones are. */
class LostFeaturesCommandTest {

    @TempDir
    private Path folder;

    @BeforeEach
    void makeSite() throws IOException {
        WatchedFolder.create(folder, "h:1");
        Matrix rows = Matrix.zeros(16 * WatchedFolder.ROWS, WatchedFolder.WIDTH);
        for (int record = 0; record < 16; record++) {
            double[] values = WatchedFolder.drifted(record).values();
            System.arraycopy(values, 0, rows.values(), record * values.length, values.length);
        }
        SafetensorsWriter.create().add("activations", DType.F32, rows).writeTo(folder.resolve("drifted.safetensors"));
    }

    @Test
    void theFeaturesThatWroteWhereNothingIsAnyMoreAreListedHeaviestFirst() throws IOException {
        JsonNode lost = new ObjectMapper()
                .readTree(assess("--features", 5, "--json").out())
                .get("lost_features");
        assertEquals(5, lost.size());
        List<Double> weights = new ArrayList<>();
        for (JsonNode feature : lost) {
            assertTrue(feature.get("feature").asInt() % 8 < 4, lost.toString());
            assertTrue(feature.get("outside").asDouble() > 0.99, lost.toString());
            assertTrue(feature.get("outside_baseline").asDouble() < 0.01, lost.toString());
            assertTrue(feature.get("direction_change").isNull(), lost.toString());
            weights.add(feature.get("weight").asDouble());
        }
        List<Double> sorted = new ArrayList<>(weights);
        sorted.sort((a, b) -> Double.compare(b, a));
        assertEquals(sorted, weights);
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
        String list = table.substring(table.indexOf("feature    weight"));
        assertEquals(9, list.lines().count(), list);
        assertTrue(list.lines().skip(1).allMatch(line -> line.endsWith(" 1.000")), list);
        assertFalse(assess().out().contains("feature    weight"));
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
