package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Random;
import java.util.stream.LongStream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Judges windows far larger than the largest that the baseline was calibrated for. Of such a window only a few rows of
 * each request are encoded.
 */
class LargeCleanWindowsTest {

    private static final int WIDTH = 16;
    private static final int FEATURES = 32;
    private static final int ROWS_PER_REQUEST = 48;
    private static final int REQUESTS = 400;
    /** The largest size of the default ladder that fits eight times into the rows of the baseline. */
    private static final int LARGEST = 2_048;

    @TempDir
    private static Path folder;

    @BeforeAll
    static void makeBaseline() throws IOException {
        Path sae = Files.createDirectories(folder.resolve("sae"));
        SafetensorsWriter.create()
                .add("W_enc", DType.F32, encoder())
                .addVector("b_enc", DType.F32, new double[FEATURES])
                .add("W_dec", DType.F32, decoder())
                .addVector("b_dec", DType.F32, new double[WIDTH])
                .writeTo(sae.resolve("sae_weights.safetensors"));
        Files.writeString(sae.resolve("cfg.json"), """
                {"architecture": "standard", "d_in": %d, "d_sae": %d, "apply_b_dec_to_input": false,
                 "normalize_activations": "none"}
                """.formatted(WIDTH, FEATURES));
        write("clean", 2, REQUESTS, 0.0);
        Shell shell = Shell.run(
                "baseline",
                "--explainer",
                sae,
                "--activations",
                folder.resolve("clean"),
                "--rank",
                4,
                "--encoded-rows",
                512,
                "--out",
                folder.resolve("baseline"),
                "--verbose");
        assertEquals(0, shell.exitCode(), shell.err());
        assertTrue(shell.out().contains("clean_windows_rank_4_rows_" + LARGEST), shell.out());
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 10, 40})
    void aCleanWindowOfManyTimesTheLargestSizeIsAligned(int times) throws IOException {
        JsonNode window = assess("later", 100 + times, times, 0.0);
        assertEquals("aligned", window.get("verdict").asText(), window::toPrettyString);
    }

    /** Tests that a large window is still judged, and not only called aligned. */
    @Test
    void aLargeWindowWithADirectionOfItsOwnIsDrifted() throws IOException {
        JsonNode window = assess("moved", 7, 10, 12.0);
        assertEquals("drifted", window.get("verdict").asText(), window::toPrettyString);
    }

    private JsonNode assess(String name, long seed, int times, double offset) throws IOException {
        write(name, seed, times * LARGEST / ROWS_PER_REQUEST, offset);
        Shell shell = Shell.run(
                "assess",
                "--explainer",
                folder.resolve("sae"),
                "--baseline",
                folder.resolve("baseline"),
                "--activations",
                folder.resolve(name),
                "--rank",
                4,
                "--json");
        assertEquals(0, shell.exitCode(), shell.err());
        return new ObjectMapper().readTree(shell.out());
    }

    /** Writes requests whose rows differ much in size, so that the FVU of a few of them scatters widely. */
    private static void write(String name, long seed, int requests, double offset) throws IOException {
        Random random = new Random(seed);
        Matrix rows = Matrix.zeros(requests * ROWS_PER_REQUEST, WIDTH);
        for (int row = 0; row < rows.rows(); row++) {
            double size = Math.exp(0.7 * random.nextGaussian());
            for (int column = 0; column < WIDTH; column++) {
                rows.values()[row * WIDTH + column] =
                        size * random.nextGaussian() * (1 + column % 6) + (column == WIDTH - 1 ? offset : 0.0);
            }
        }
        SafetensorsWriter.create()
                .add("activations", DType.F32, rows)
                .addLongs(
                        "request_offsets",
                        LongStream.rangeClosed(0, requests)
                                .map(request -> ROWS_PER_REQUEST * request)
                                .toArray())
                .writeTo(folder.resolve(name));
    }

    /** Returns one feature for each sign of each column, {@code [d, 2 d]}. */
    private static Matrix encoder() {
        Matrix encoder = Matrix.zeros(WIDTH, FEATURES);
        for (int column = 0; column < WIDTH; column++) {
            encoder.values()[column * FEATURES + column] = 1.0;
            encoder.values()[column * FEATURES + WIDTH + column] = -1.0;
        }
        return encoder;
    }

    /** Returns a decoder, {@code [2 d, d]}, that knows half of the columns well and the others badly. */
    private static Matrix decoder() {
        Matrix decoder = Matrix.zeros(FEATURES, WIDTH);
        for (int column = 0; column < WIDTH; column++) {
            double known = column < WIDTH / 2 ? 0.9 : 0.3;
            decoder.values()[column * WIDTH + column] = known;
            decoder.values()[(WIDTH + column) * WIDTH + column] = -known;
        }
        return decoder;
    }
}
