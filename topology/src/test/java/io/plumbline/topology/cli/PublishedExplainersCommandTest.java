package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.Safetensors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares the commands with what the libraries of some explainers computed; the readers' own test has all of them. */
class PublishedExplainersCommandTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path CASES = Path.of("..", "operators", "src", "test", "resources", "explainers");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(
            strings = {
                "saelens_layer_norm",
                "saelens_constant_norm_rescale",
                "saelens_skip_transcoder",
                "saelens_topk_rescaled",
                "sparsify_skip_autoencoder",
                "gemma_scope_2_transcoder_affine",
                "openai_v5_topk"
            })
    void everyCommandTellsTheFvuOfTheLibraryInTheSpaceOfTheTargets(String name) throws IOException {
        double expected = json(name).get("fvu").asDouble();
        Shell encode = Shell.run(
                "encode",
                "--explainer",
                explainer(name),
                "--activations",
                rows(name),
                "--out",
                folder.resolve("codes.safetensors"),
                "--dtype",
                "f64",
                "--json");
        assertFvu(expected, encode, "reconstruction_fvu");
        try (Safetensors ours = Safetensors.open(folder.resolve("codes.safetensors"));
                Safetensors theirs = Safetensors.open(rows(name))) {
            assertClose(theirs.tensor("codes").toMatrix(), ours.tensor("codes").toMatrix());
            assertClose(
                    theirs.tensor("reconstructions").toMatrix(),
                    ours.tensor("reconstructions").toMatrix());
        }
        assertFvu(
                expected,
                Shell.run(
                        "adapt",
                        "--explainer",
                        explainer(name),
                        "--activations",
                        rows(name),
                        "--rank",
                        8,
                        "--lambda-pres",
                        1,
                        "--lambda-geom",
                        0,
                        "--out",
                        folder.resolve("adapted"),
                        "--json"),
                "fvu_before");
        Path baseline = folder.resolve("baseline.safetensors");
        assertFvu(expected, baseline(name, baseline), "reconstruction_fvu");
        assertFvu(
                expected,
                Shell.run(
                        "assess",
                        "--explainer",
                        explainer(name),
                        "--baseline",
                        baseline,
                        "--activations",
                        rows(name),
                        "--rank",
                        8,
                        "--json"),
                "reconstruction_fvu");
    }

    @Test
    void sparseCodesAreTheSameCodes() throws IOException {
        Path dense = folder.resolve("dense.safetensors");
        Path sparse = folder.resolve("sparse.safetensors");
        String name = "saelens_topk";
        for (Path out : new Path[] {dense, sparse}) {
            Object[] words = {"encode", "--explainer", explainer(name), "--activations", rows(name), "--out", out};
            Shell shell = out.equals(sparse)
                    ? Shell.run("encode", "--sparse", words[1], words[2], words[3], words[4], words[5], words[6])
                    : Shell.run(words);
            assertEquals(0, shell.exitCode(), shell.err());
        }
        try (Safetensors one = Safetensors.open(dense);
                Safetensors other = Safetensors.open(sparse)) {
            Matrix codes = one.tensor("codes").toMatrix();
            long[] offsets = other.tensor("code_offsets").toLongs();
            long[] indices = other.tensor("code_indices").toLongs();
            double[] values = other.tensor("code_values").toDoubles();
            assertEquals(codes.rows() + 1, offsets.length);
            Matrix again = Matrix.zeros(codes.rows(), codes.columns());
            for (int row = 0; row < codes.rows(); row++) {
                for (long at = offsets[row]; at < offsets[row + 1]; at++) {
                    again.set(row, (int) indices[(int) at], values[(int) at]);
                }
            }
            assertEquals(codes, again);
        }
    }

    @Test
    void whatAFolderHoldsIsTold() throws IOException {
        Shell shell = Shell.run("explainer", explainer("saelens_topk_rescaled"), "--json");
        assertEquals(0, shell.exitCode(), shell.err());
        JsonNode told = JSON.readTree(shell.out());
        assertEquals("SAELens", told.get("format").asText());
        assertEquals("topk", told.get("architecture").asText());
        assertEquals(96, told.get("features").asInt());
        assertEquals(2, told.get("notes").size(), shell.out());
        Shell asks = Shell.run("explainer", explainer("qwen_scope"));
        assertEquals(ExitCodes.FAILURE, asks.exitCode());
        assertTrue(asks.err().contains("--explainer-option k=50"), asks.err());
        Shell given = Shell.run("explainer", explainer("qwen_scope"), "--explainer-option", "k=8");
        assertEquals(0, given.exitCode(), given.err());
        assertTrue(given.out().contains("topk"), given.out());
        Shell wrong = Shell.run("explainer", explainer("qwen_scope"), "--explainer-option", "k=none");
        assertEquals(ExitCodes.USAGE, wrong.exitCode());
        assertTrue(wrong.err().contains("explainer option k = none: expected a whole number from 1 on"), wrong.err());
    }

    @Test
    void whatTheServiceCannotWatchIsRefusedBeforeItStarts() throws IOException {
        String normed = said("saelens_layer_norm", "");
        assertTrue(normed.contains("baseline: no file") && !normed.contains("explainer:"), normed);
        String pursuit = said("saelens_matching_pursuit", "");
        assertTrue(pursuit.contains("cannot be adapted: its encoder's directions are its decoder's"), pursuit);
        String watched = said("saelens_matching_pursuit", "adaptation: {mode: observe}");
        assertTrue(!watched.contains("cannot be adapted"), watched);
        Shell adapt = Shell.run(
                "adapt",
                "--explainer",
                explainer("saelens_matching_pursuit"),
                "--activations",
                rows("saelens_matching_pursuit"),
                "--rank",
                8,
                "--out",
                folder.resolve("none"));
        assertEquals(ExitCodes.FAILURE, adapt.exitCode());
        assertTrue(adapt.err().contains("is watched and not refitted"), adapt.err());
    }

    @Test
    void aSiteTakesTheOptionsOfItsExplainer() throws IOException {
        String missing = said("llama_scope_r1_distill", "");
        assertTrue(missing.contains("explainer_options: {norm: FACTOR}"), missing);
        String wrong = said("llama_scope_r1_distill", "explainer_options: {norm: 0}");
        assertTrue(wrong.contains("explainer option norm = 0: expected a positive number"), wrong);
        String given = said("llama_scope_r1_distill", "explainer_options: {norm: 0.5}");
        assertTrue(!given.contains("explainer_options"), given);
    }

    /** Returns the output of a check that finds problems: there is no baseline. */
    private String said(String name, String more) throws IOException {
        Shell shell = check(name, more);
        assertEquals(ExitCodes.USAGE, shell.exitCode(), shell.err());
        return shell.out() + shell.err();
    }

    private Shell check(String name, String more) throws IOException {
        Path config = folder.resolve("plumbline.yaml");
        Files.writeString(config, """
                kafka: {bootstrap.servers: "localhost:9092"}
                window: {minimum_rows: 8}
                sites:
                  one:
                    explainer: %s
                    baseline: none.safetensors
                    rank: 8
                    threshold: 3.0
                    %s
                """.formatted(explainer(name).toAbsolutePath(), more));
        return Shell.run("check", "--config", config, "--offline");
    }

    private static Shell baseline(String name, Path out) throws IOException {
        return Shell.run(
                "baseline",
                "--explainer",
                explainer(name),
                "--activations",
                rows(name),
                "--rank",
                8,
                "--window-rows",
                16,
                "--out",
                out,
                "--json");
    }

    private static void assertFvu(double expected, Shell shell, String key) throws IOException {
        assertEquals(0, shell.exitCode(), shell.err());
        assertEquals(expected, JSON.readTree(shell.out()).get(key).asDouble(), 1e-5 * expected, shell.out());
    }

    private static void assertClose(Matrix expected, Matrix actual) {
        assertEquals(expected.rows(), actual.rows());
        for (int i = 0; i < expected.values().length; i++) {
            assertEquals(expected.values()[i], actual.values()[i], 1e-5, "entry " + i);
        }
    }

    private static JsonNode json(String name) throws IOException {
        return JSON.readTree(CASES.resolve(name).resolve("case.json").toFile());
    }

    private static Path explainer(String name) throws IOException {
        return CASES.resolve(name).resolve(json(name).get("explainer").asText());
    }

    private static Path rows(String name) {
        return CASES.resolve(name).resolve("io.safetensors");
    }
}
