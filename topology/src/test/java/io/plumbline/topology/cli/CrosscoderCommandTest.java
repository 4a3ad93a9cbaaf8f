package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands on crosscoders, and on OpenMOSS' cross-layer transcoders, against what its own classes compute. */
class CrosscoderCommandTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path CASES = Path.of("..", "operators", "src", "test", "resources", "crosslayer");
    private static final List<Integer> NUMBERS = List.of(5, 9, 12);

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"openmoss_crosscoder_jumprelu", "openmoss_clt_jumprelu", "gemma_scope_2_crosscoder"})
    void everyLayerIsEncodedAsTheLibraryDoes(String name) throws IOException {
        Path out = folder.resolve("codes.safetensors");
        JsonNode told = run("encode", explainer(name), "--activations", rows(name), "--out", out, "--json");
        try (Safetensors ours = Safetensors.open(out);
                Safetensors theirs = Safetensors.open(rows(name))) {
            for (int number : NUMBERS) {
                double fvu = fvu(name, number);
                assertEquals(fvu, told.get("reconstruction_fvu." + number).asDouble(), 1e-6 * fvu);
                Matrix made = ours.tensor("reconstructions." + number).toMatrix();
                Matrix recorded = theirs.tensor("reconstructions." + number).toMatrix();
                for (int i = 0; i < made.values().length; i++) {
                    assertEquals(recorded.values()[i], made.values()[i], 1e-5);
                }
            }
        }
    }

    @Test
    void whatEachBlockReadsAndWritesIsTold() throws IOException {
        JsonNode told = run("explainer", explainer("openmoss_crosscoder_jumprelu"), "--json");
        assertEquals("OpenMOSS crosscoder or CLT", told.get("format").asText());
        assertEquals("jumprelu_crosscoder", told.get("architecture").asText());
        assertEquals("yes, each block by itself", told.get("refitted").asText());
        JsonNode first = told.get("blocks").get(0);
        assertEquals("targets.5", first.get("name").asText());
        assertEquals("[5,9,12]", first.get("sources").toString());
        assertEquals(3 * 16, first.get("input_width").asInt());
        assertEquals(32, first.get("features").asInt());
        assertEquals(16, first.get("target_width").asInt());
        JsonNode largest = run("explainer", explainer("openmoss_crosscoder_topk"), "--json");
        assertTrue(largest.get("refitted").asText().startsWith("no: a feature is one of the k largest"));
    }

    @ParameterizedTest
    @ValueSource(strings = {"openmoss_crosscoder_topk", "openmoss_clt_jumprelu", "gemma_scope_2_crosscoder"})
    void everyLayerHasItsBaselineAndTheWorstIsNamed(String name) throws IOException {
        Path baselines = folder.resolve("baselines");
        run(
                "baseline",
                explainer(name),
                "--activations",
                rows(name),
                "--rank",
                3,
                "--window-rows",
                8,
                "--out",
                baselines,
                "--json");
        JsonNode judged = run(
                "assess",
                explainer(name),
                "--baseline",
                baselines,
                "--activations",
                shifted(name),
                "--rank",
                3,
                "--threshold",
                1.0,
                "--json");
        assertEquals(NUMBERS.size(), judged.get("blocks").size());
        assertEquals("targets.12", judged.get("worst_block").asText(), judged.toString());
        assertEquals("drifted", judged.get("verdict").asText());
    }

    @ParameterizedTest
    @ValueSource(strings = {"openmoss_clt_jumprelu", "gemma_scope_2_crosscoder"})
    void everyLayerIsRefittedIntoOneFolder(String name) throws IOException {
        Path out = folder.resolve("adapted");
        JsonNode told = adapt(name, out);
        JsonNode again =
                run("encode", out, "--activations", rows(name), "--out", folder.resolve("again.safetensors"), "--json");
        for (int number : NUMBERS) {
            double after = assertBetter(name, number, told);
            assertEquals(after, again.get("reconstruction_fvu." + number).asDouble(), 1e-4 * after);
        }
    }

    @Test
    void adaptedLayersOfACrosscoderOfOpenMossAreTranscodersOfTheLayersSideBySide() throws IOException {
        String name = "openmoss_crosscoder_jumprelu";
        Path out = folder.resolve("adapted");
        JsonNode told = adapt(name, out);
        Path beside = folder.resolve("beside.safetensors");
        for (int number : NUMBERS) {
            try (Safetensors rows = Safetensors.open(rows(name))) {
                SafetensorsWriter.create()
                        .add("activations", DType.F32, sideBySide(rows))
                        .add(
                                "targets",
                                DType.F32,
                                rows.tensor("activations." + number).toMatrix())
                        .writeTo(Files.exists(beside) ? again(beside) : beside);
            }
            JsonNode encoded = run(
                    "encode",
                    out.resolve("targets." + number),
                    "--activations",
                    beside,
                    "--out",
                    folder.resolve("codes." + number),
                    "--json");
            double after = assertBetter(name, number, told);
            assertEquals(after, encoded.get("reconstruction_fvu").asDouble(), 1e-4 * after);
        }
    }

    @Test
    void nothingIsWrittenWhereTheLargestFeaturesAreChosen() {
        Path out = folder.resolve("adapted");
        Shell shell = Shell.run(
                "adapt",
                "--explainer",
                explainer("openmoss_crosscoder_topk"),
                "--activations",
                rows("openmoss_crosscoder_topk"),
                "--rank",
                3,
                "--out",
                out);
        assertEquals(ExitCodes.FAILURE, shell.exitCode(), shell.err());
        assertTrue(shell.err().contains("is watched and not refitted"), shell.err());
        assertFalse(Files.exists(out));
    }

    private JsonNode adapt(String name, Path out) throws IOException {
        return run(
                "adapt",
                explainer(name),
                "--activations",
                rows(name),
                "--rank",
                12,
                "--lambda-pres",
                0.01,
                "--lambda-geom",
                0,
                "--relative-lambdas",
                "--out",
                out,
                "--json");
    }

    /** Returns the FVU of the adapted block. */
    private static double assertBetter(String name, int number, JsonNode told) throws IOException {
        JsonNode block = told.get("blocks").get("targets." + number);
        double trained = fvu(name, number);
        assertEquals(trained, block.get("fvu_before").asDouble(), 1e-5 * trained);
        double after = block.get("fvu_after").asDouble();
        assertTrue(after < trained, "targets." + number + ": " + after + " after " + trained);
        return after;
    }

    private static Path again(Path file) throws IOException {
        Files.delete(file);
        return file;
    }

    private static Matrix sideBySide(Safetensors rows) {
        List<Matrix> parts = new ArrayList<>();
        for (int number : NUMBERS) {
            parts.add(rows.tensor("activations." + number).toMatrix());
        }
        int width = parts.get(0).columns();
        Matrix all = Matrix.zeros(parts.get(0).rows(), parts.size() * width);
        for (int i = 0; i < all.rows(); i++) {
            for (int layer = 0; layer < parts.size(); layer++) {
                for (int j = 0; j < width; j++) {
                    all.set(i, layer * width + j, parts.get(layer).get(i, j));
                }
            }
        }
        return all;
    }

    /** The recorded rows, where those of the last layer, or its targets, point elsewhere. */
    private Path shifted(String name) throws IOException {
        Path out = folder.resolve("shifted.safetensors");
        SafetensorsWriter writer = SafetensorsWriter.create();
        try (Safetensors rows = Safetensors.open(rows(name))) {
            String moved = rows.contains("targets.12") ? "targets.12" : "activations.12";
            for (String tensor : rows.names()) {
                Matrix values = rows.tensor(tensor).toMatrix();
                for (int i = 0; tensor.equals(moved) && i < values.rows(); i++) {
                    for (int j = 0; j < 3; j++) {
                        values.set(i, 12 + j, values.get(i, 12 + j) + 60.0 * Math.sin(i * (j + 1.0)));
                    }
                }
                if (tensor.startsWith("activations.") || tensor.startsWith("targets.")) {
                    writer.add(tensor, DType.F32, values);
                }
            }
        }
        writer.writeTo(out);
        return out;
    }

    private static double fvu(String name, int number) throws IOException {
        return JSON.readTree(CASES.resolve(name).resolve("blocks.json").toFile())
                .path("fvu")
                .path(Integer.toString(number))
                .asDouble();
    }

    private static JsonNode run(String command, Path explainer, Object... more) throws IOException {
        List<Object> words = new ArrayList<>(List.of(command));
        if (!command.equals("explainer")) {
            words.add("--explainer");
        }
        words.add(explainer);
        words.addAll(List.of(more));
        Shell shell = Shell.run(words.toArray());
        assertEquals(0, shell.exitCode(), shell.err());
        return JSON.readTree(shell.out());
    }

    private static Path explainer(String name) {
        return CASES.resolve(name).resolve("explainer");
    }

    private static Path rows(String name) {
        return CASES.resolve(name).resolve("blocks.safetensors");
    }
}
