package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A folder with an explainer, clean rows, a baseline of them, and the commands that read these. */
public abstract class CheckedSite {

    public static final int WIDTH = 6;
    public static final int FEATURES = 9;

    @TempDir
    public Path folder;

    @BeforeEach
    public void makeSite() throws IOException {
        explainer("sae", 1);
        SafetensorsWriter.create()
                .add("activations", DType.F32, random(2, 2_000, WIDTH))
                .writeTo(folder.resolve("clean.safetensors"));
        Shell shell = baseline("--window-rows", 64);
        assertEquals(0, shell.exitCode(), shell.err());
    }

    public Shell baseline(Object... more) throws IOException {
        Files.deleteIfExists(folder.resolve("base.safetensors"));
        return baselineAgain(more);
    }

    public Shell baselineAgain(Object... more) {
        List<Object> words = new ArrayList<>(List.of(
                "baseline",
                "--explainer",
                folder.resolve("sae"),
                "--activations",
                folder.resolve("clean.safetensors"),
                "--rank",
                2,
                "--out",
                folder.resolve("base.safetensors")));
        words.addAll(List.of(more));
        return Shell.run(words.toArray());
    }

    public void assertProblem(String site, String sentence) throws IOException {
        Shell shell = check(site, "--offline");
        assertEquals(2, shell.exitCode(), shell.out());
        assertTrue(shell.err().contains(sentence), shell.err());
    }

    public Shell check(String site, String option) throws IOException {
        Path file = folder.resolve("plumbline.yaml");
        Files.writeString(file, """
                kafka: {bootstrap.servers: "127.0.0.1:1"}
                window: {minimum_rows: 64}
                sites:
                  layer.2: {explainer: sae, baseline: base.safetensors, %s}
                """.formatted(site));
        return Shell.run("check", "--config", file, option);
    }

    public void explainer(String name, long seed) throws IOException {
        explainer(name, random(seed, WIDTH, FEATURES), random(seed + 1, FEATURES, WIDTH));
    }

    /** Writes an explainer that reconstructs the three widest columns, and the positive half of the others. */
    public void fittingExplainer(String name) throws IOException {
        Matrix encoder = Matrix.zeros(WIDTH, FEATURES);
        Matrix decoder = Matrix.zeros(FEATURES, WIDTH);
        for (int feature = 0; feature < FEATURES; feature++) {
            int column = feature < WIDTH ? feature : feature - 3;
            double length = (feature < WIDTH ? 1.0 : -1.0) * (1 + column);
            encoder.set(column, feature, 1.0 / length);
            decoder.set(feature, column, length);
        }
        explainer(name, encoder, decoder);
    }

    private void explainer(String name, Matrix encoder, Matrix decoder) throws IOException {
        Path directory = Files.createDirectories(folder.resolve(name));
        SafetensorsWriter.create()
                .add("W_enc", DType.F32, encoder)
                .addVector("b_enc", DType.F32, new double[FEATURES])
                .add("W_dec", DType.F32, decoder)
                .addVector("b_dec", DType.F32, new double[WIDTH])
                .writeTo(directory.resolve("sae_weights.safetensors"));
        Files.writeString(directory.resolve("cfg.json"), """
                {"architecture": "standard", "d_in": %d, "d_sae": %d, "apply_b_dec_to_input": false,
                 "normalize_activations": "none"}
                """.formatted(WIDTH, FEATURES));
    }

    public static Matrix random(long seed, int rows, int columns) {
        Random random = new Random(seed);
        Matrix matrix = Matrix.zeros(rows, columns);
        for (int i = 0; i < matrix.values().length; i++) {
            // Columns of different spread, so that every subspace is identified.
            matrix.values()[i] = random.nextGaussian() * (1 + i % columns);
        }
        return matrix;
    }
}
