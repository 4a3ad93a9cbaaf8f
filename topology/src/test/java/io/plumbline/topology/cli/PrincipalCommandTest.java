package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.SplittableRandom;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class PrincipalCommandTest {

    private static final int WIDTH = 16;
    private static final int ROWS = 512;

    @TempDir
    private Path folder;

    private Path rows;

    /** Rows around (3, 3, ...) whose first two columns vary most. */
    @BeforeEach
    void record() throws IOException {
        SplittableRandom random = new SplittableRandom(7);
        Matrix values = Matrix.zeros(ROWS, WIDTH);
        long[] offsets = new long[ROWS / 8 + 1];
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < WIDTH; j++) {
                values.set(i, j, 3.0 + (j == 0 ? 40.0 : j == 1 ? 20.0 : 0.5) * random.nextGaussian());
            }
            offsets[i / 8 + 1] = i + 1L;
        }
        rows = folder.resolve("rows.safetensors");
        SafetensorsWriter.create()
                .add("activations", DType.F32, values)
                .addLongs("request_offsets", offsets)
                .writeTo(rows);
    }

    @Test
    void itsCodesGiveTheProjectionOfARowOntoTheLeadingDirections() throws IOException {
        Path out = folder.resolve("directions");
        Shell shell = Shell.run("principal", "--activations", rows, "--directions", 2, "--out", out);
        assertEquals(0, shell.exitCode(), shell.err());
        assertTrue(shell.out().contains("2 directions of 512 rows, with 9"), shell.out());
        Explainer made = Formats.read(out);
        assertEquals(4, made.features());
        Matrix row = Matrix.zeros(1, WIDTH);
        row.set(0, 0, 50.0);
        row.set(0, 1, -30.0);
        row.set(0, 5, 9.0);
        Matrix back = made.decoder().reconstruct(made.encoder().encode(row));
        assertEquals(50.0, back.get(0, 0), 4.0);
        assertEquals(-30.0, back.get(0, 1), 4.0);
        for (int j = 2; j < WIDTH; j++) {
            assertEquals(3.0, back.get(0, j), 4.0, "column " + j);
        }
    }

    @Test
    void aSiteMayHaveProbesAlone() throws IOException {
        Path out = folder.resolve("directions");
        assertEquals(
                0, Shell.run("principal", "--activations", rows, "--out", out).exitCode());
        Path baseline = folder.resolve("baseline.safetensors");
        Shell recorded = Shell.run(
                "baseline",
                "--explainer",
                out,
                "--activations",
                rows,
                "--rank",
                4,
                "--window-rows",
                128,
                "--out",
                baseline);
        assertEquals(0, recorded.exitCode(), recorded.err());
        double[] direction = new double[WIDTH];
        direction[0] = 1.0;
        SafetensorsWriter.create()
                .addVector("weight", DType.F32, direction)
                .writeTo(folder.resolve("refusal.safetensors"));
        Path config = Files.writeString(folder.resolve("monitor.yaml"), """
                kafka: {bootstrap.servers: "127.0.0.1:9092"}
                sites:
                  middle:
                    explainer: directions
                    baseline: baseline.safetensors
                    rank: 4
                    watch: {probes: [{file: refusal.safetensors, threshold: 0.0}]}
                """);
        Shell checked = Shell.run("check", "--offline", "--config", config);
        assertEquals(0, checked.exitCode(), checked.err() + checked.out());
    }

    @Test
    void whatCannotBeMadeIsRefusedWithWhatToAskForInstead() {
        Path out = folder.resolve("directions");
        Shell whole = Shell.run("principal", "--activations", rows, "--directions", WIDTH, "--out", out);
        assertEquals(2, whole.exitCode());
        assertTrue(whole.err().contains("--directions = 16: expected 1 to 15"), whole.err());
        assertFalse(Files.exists(out));
    }
}
