package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.Repository;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that weights for which Java has no memory end a command with a sentence: 300 MiB of zeros, a sparse file. */
class ExplainerHeapTest {

    private static final int WIDTH = 1_024;
    private static final int FEATURES = 38_400;

    /** The weights and biases, and half as much and 256 MiB besides. */
    private static final String ADVICE = "give it more: PLUMBLINE_JAVA_OPTS=-Xmx707m";

    @TempDir
    private static Path folder;

    @BeforeAll
    static void writeSparseWeights() throws IOException {
        long matrix = (long) Float.BYTES * WIDTH * FEATURES;
        long encoderBias = matrix + (long) Float.BYTES * FEATURES;
        long end = encoderBias + matrix;
        byte[] header = """
                {"W_enc": {"dtype": "F32", "shape": [%1$d, %2$d], "data_offsets": [0, %3$d]},
                 "b_enc": {"dtype": "F32", "shape": [%2$d], "data_offsets": [%3$d, %4$d]},
                 "W_dec": {"dtype": "F32", "shape": [%2$d, %1$d], "data_offsets": [%4$d, %5$d]},
                 "b_dec": {"dtype": "F32", "shape": [%1$d], "data_offsets": [%5$d, %6$d]}}""".formatted(WIDTH, FEATURES, matrix, encoderBias, end, end + Float.BYTES * WIDTH)
                .getBytes(StandardCharsets.UTF_8);
        ByteBuffer length = ByteBuffer.allocate(Long.BYTES).order(ByteOrder.LITTLE_ENDIAN);
        length.putLong(header.length);
        try (RandomAccessFile weights =
                new RandomAccessFile(folder.resolve("sae_weights.safetensors").toFile(), "rw")) {
            weights.write(length.array());
            weights.write(header);
            weights.setLength(Long.BYTES + header.length + end + (long) Float.BYTES * WIDTH);
        }
        Files.writeString(folder.resolve("cfg.json"), """
                {"architecture": "standard", "d_in": %d, "d_sae": %d, "apply_b_dec_to_input": false,
                 "normalize_activations": "none"}
                """.formatted(WIDTH, FEATURES));
    }

    /** Tests a heap smaller than the weights, and one that is full while they are read. */
    @ParameterizedTest
    @ValueSource(ints = {64, 320})
    void theMessageNamesTheHeapToGive(int megabytes) throws Exception {
        Path said = folder.resolve("said-" + megabytes);
        ProcessBuilder launcher = new ProcessBuilder(
                        "bash",
                        "-c",
                        ". deploy/distribution/java.sh; find_java jdk; start \"$@\"",
                        "plumbline",
                        System.getProperty("java.class.path"),
                        "explainer",
                        folder.toString())
                .directory(Repository.ROOT.toFile())
                .redirectErrorStream(true)
                .redirectOutput(said.toFile());
        launcher.environment().put("PLUMBLINE_JAVA_OPTS", "-Xmx%dm -XX:TieredStopAtLevel=1".formatted(megabytes));
        Process process = launcher.start();
        try {
            assertTrue(process.waitFor(60, TimeUnit.SECONDS), "lingers");
            String text = Files.readString(said);
            assertEquals(ExitCodes.FAILURE, process.exitValue(), text);
            assertTrue(
                    text.contains("takes 301 MiB of memory, and Java may use %d MiB; %s".formatted(megabytes, ADVICE)),
                    text);
            assertFalse(text.contains("\tat "), text);
        } finally {
            process.destroyForcibly();
        }
    }
}
