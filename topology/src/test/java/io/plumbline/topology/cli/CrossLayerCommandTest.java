package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The commands on cross-layer transcoders, against what circuit-tracer's own class computes. */
class CrossLayerCommandTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path CASES = Path.of("..", "operators", "src", "test", "resources", "crosslayer");
    private static final int LAYERS = 3;

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"circuit_tracer_clt", "gemma_scope_2_clt"})
    void codesAndReconstructionsOfEveryTargetAreThoseOfTheLibrary(String name) throws IOException {
        Path out = folder.resolve("codes.safetensors");
        JsonNode told = run("encode", name, "--activations", rows(name), "--out", out, "--json");
        JsonNode expected =
                JSON.readTree(CASES.resolve(name).resolve("blocks.json").toFile());
        try (Safetensors ours = Safetensors.open(out);
                Safetensors theirs = Safetensors.open(rows(name))) {
            for (int target = 0; target < LAYERS; target++) {
                double fvu = expected.path("fvu").path(Integer.toString(target)).asDouble();
                assertEquals(fvu, told.get("reconstruction_fvu." + target).asDouble(), 1e-5 * fvu);
                Matrix made = ours.tensor("reconstructions." + target).toMatrix();
                Matrix recorded = theirs.tensor("reconstructions." + target).toMatrix();
                Matrix codes = ours.tensor("codes." + target).toMatrix();
                Matrix own = theirs.tensor("codes." + target).toMatrix();
                int before = codes.columns() - own.columns();
                for (int i = 0; i < made.rows(); i++) {
                    for (int j = 0; j < made.columns(); j++) {
                        assertEquals(recorded.get(i, j), made.get(i, j), 1e-5);
                    }
                    for (int j = 0; j < own.columns(); j++) {
                        assertEquals(own.get(i, j), codes.get(i, before + j), 1e-5);
                    }
                }
            }
        }
    }

    @Test
    void whatEachBlockReadsAndWritesIsTold() throws IOException {
        JsonNode told = run("explainer", "circuit_tracer_clt", "--json");
        assertEquals("circuit-tracer cross-layer transcoder", told.get("format").asText());
        assertEquals("jumprelu_cross_layer_transcoder", told.get("architecture").asText());
        assertEquals(LAYERS, told.get("blocks").size());
        JsonNode last = told.get("blocks").get(2);
        assertEquals("targets.2", last.get("name").asText());
        assertEquals("[0,1,2]", last.get("sources").toString());
        assertEquals(3 * 48, last.get("input_width").asInt());
        assertEquals(3 * 64, last.get("features").asInt());
        assertEquals(48, last.get("target_width").asInt());
        JsonNode alone = run("explainer", "circuit_tracer_clt", "--explainer-option", "target=2", "--json");
        assertEquals(last.get("decoder_sha256"), alone.get("decoder_sha256"));
        assertEquals(3 * 48, alone.get("input_width").asInt());
    }

    @Test
    void everyTargetHasItsBaselineAndTheWorstIsNamed() throws IOException {
        Path baselines = folder.resolve("baselines");
        JsonNode made = run(
                "baseline",
                "circuit_tracer_clt",
                "--activations",
                rows("circuit_tracer_clt"),
                "--rank",
                4,
                "--window-rows",
                8,
                "--out",
                baselines,
                "--json");
        assertEquals(LAYERS, made.get("blocks").size());
        for (int target = 0; target < LAYERS; target++) {
            assertTrue(Files.isRegularFile(baselines.resolve("targets.%d.safetensors".formatted(target))));
        }
        assertEquals(
                baselines.resolve("targets.1.safetensors").toString(),
                made.get("blocks").get("targets.1").get("out").asText());
        Path shifted = shifted(1);
        JsonNode judged = run(
                "assess",
                "circuit_tracer_clt",
                "--baseline",
                baselines,
                "--activations",
                shifted,
                "--rank",
                4,
                "--threshold",
                1.0,
                "--json");
        assertEquals("targets.1", judged.get("worst_block").asText(), judged.toString());
        assertEquals("drifted", judged.get("verdict").asText());
        JsonNode alone = run(
                "assess",
                "circuit_tracer_clt",
                "--explainer-option",
                "target=1",
                "--baseline",
                baselines.resolve("targets.1.safetensors"),
                "--activations",
                shifted,
                "--rank",
                4,
                "--threshold",
                1.0,
                "--json");
        assertEquals(
                alone.get("faithfulness_gap"),
                judged.get("blocks").get("targets.1").get("faithfulness_gap"));
        Shell lists = Shell.run(
                "assess",
                "--explainer",
                CASES.resolve("circuit_tracer_clt").resolve("explainer"),
                "--baseline",
                baselines,
                "--activations",
                shifted,
                "--rank",
                4,
                "--threshold",
                1.0,
                "--features",
                2,
                "--groups");
        assertEquals(0, lists.exitCode(), lists.err());
        for (int target = 0; target < LAYERS; target++) {
            String heading = "targets." + target + System.lineSeparator();
            String list = heading + System.lineSeparator() + "feature  systematic residual";
            assertTrue(lists.out().contains(list), lists.out());
        }
    }

    @Test
    void featuresOfOneTargetHaveAMap() throws IOException {
        Path clt = CASES.resolve("circuit_tracer_clt").resolve("explainer");
        Path map = folder.resolve("map.csv");
        Shell refused = Shell.run("match", "--before", clt, "--after", clt, "--out", map);
        assertTrue(refused.err().contains("--explainer-option target="), refused.err());
        Shell made =
                Shell.run("match", "--before", clt, "--after", clt, "--explainer-option", "target=1", "--out", map);
        assertEquals(0, made.exitCode(), made.err());
        assertTrue(Files.exists(map));
    }

    @Test
    void everyTargetIsRefittedIntoOneFolder() throws IOException {
        Path out = folder.resolve("adapted");
        JsonNode told = run(
                "adapt",
                "gemma_scope_2_clt",
                "--activations",
                rows("gemma_scope_2_clt"),
                "--rank",
                16,
                "--lambda-pres",
                0.01,
                "--lambda-geom",
                0,
                "--relative-lambdas",
                "--out",
                out,
                "--json");
        JsonNode expected = JSON.readTree(
                CASES.resolve("gemma_scope_2_clt").resolve("blocks.json").toFile());
        JsonNode adapted = run(
                "encode",
                out,
                "--activations",
                rows("gemma_scope_2_clt"),
                "--out",
                folder.resolve("again.safetensors"),
                "--json");
        for (int target = 0; target < LAYERS; target++) {
            JsonNode block = told.get("blocks").get("targets." + target);
            double trained = expected.path("fvu").path(Integer.toString(target)).asDouble();
            assertEquals(trained, block.get("fvu_before").asDouble(), 1e-5 * trained);
            double after = block.get("fvu_after").asDouble();
            assertEquals(after, adapted.get("reconstruction_fvu." + target).asDouble(), 1e-4 * after);
            assertTrue(after < trained, "targets." + target + ": " + after + " after " + trained);
        }
    }

    /** The recorded rows, where the targets of one layer point elsewhere. */
    private Path shifted(int layer) throws IOException {
        Path out = folder.resolve("shifted.safetensors");
        SafetensorsWriter writer = SafetensorsWriter.create();
        try (Safetensors rows = Safetensors.open(rows("circuit_tracer_clt"))) {
            for (int target = 0; target < LAYERS; target++) {
                writer.add(
                        "activations." + target,
                        DType.F32,
                        rows.tensor("activations." + target).toMatrix());
                Matrix targets = rows.tensor("targets." + target).toMatrix();
                for (int i = 0; target == layer && i < targets.rows(); i++) {
                    for (int j = 0; j < 4; j++) {
                        targets.set(i, 40 + j, targets.get(i, 40 + j) + 40.0 * Math.sin(i * (j + 1.0)));
                    }
                }
                writer.add("targets." + target, DType.F32, targets);
            }
        }
        writer.writeTo(out);
        return out;
    }

    @Test
    void aComparisonIsOfOneTarget() {
        Path rows = rows("circuit_tracer_clt");
        Shell several = Shell.run(
                "compare",
                "--explainer",
                CASES.resolve("circuit_tracer_clt").resolve("explainer"),
                "--before",
                rows,
                "--after",
                rows);
        assertEquals(2, several.exitCode());
        assertTrue(several.err().contains("has 3 targets; name one with --explainer-option target=L"), several.err());
    }

    private static JsonNode run(String command, String name, Object... more) throws IOException {
        return run(command, CASES.resolve(name).resolve("explainer"), more);
    }

    private static JsonNode run(String command, Path explainer, Object... more) throws IOException {
        boolean named = !command.equals("explainer");
        Object[] words = new Object[(named ? 3 : 2) + more.length];
        words[0] = command;
        int at = 1;
        if (named) {
            words[at++] = "--explainer";
        }
        words[at++] = explainer;
        System.arraycopy(more, 0, words, at, more.length);
        Shell shell = Shell.run(words);
        assertEquals(0, shell.exitCode(), shell.err());
        assertTrue(shell.err().isEmpty() || !shell.err().contains("rror"), shell.err());
        return JSON.readTree(shell.out());
    }

    private static Path rows(String name) {
        return CASES.resolve(name).resolve("blocks.safetensors");
    }
}
