package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.FeatureLabels;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class MatchCommandTest {

    @TempDir
    private Path folder;

    /** Writes an explainer whose columns are these. */
    private Path explainer(String name, double[]... columns) throws IOException {
        Path written = Files.createDirectories(folder.resolve(name));
        Matrix decoder = Matrix.zeros(columns.length, columns[0].length);
        for (int i = 0; i < columns.length; i++) {
            for (int j = 0; j < columns[i].length; j++) {
                decoder.set(i, j, columns[i][j]);
            }
        }
        SafetensorsWriter.create()
                .add("W_enc", DType.F32, decoder.transpose())
                .addVector("b_enc", DType.F32, new double[columns.length])
                .add("W_dec", DType.F32, decoder)
                .addVector("b_dec", DType.F32, new double[columns[0].length])
                .writeTo(written.resolve("sae_weights.safetensors"));
        Files.writeString(
                written.resolve("cfg.json"),
                "{\"architecture\": \"standard\", \"d_in\": %d, \"d_sae\": %d}"
                        .formatted(columns[0].length, columns.length));
        return written;
    }

    @Test
    void labelsOfFeaturesThatAreFoundAgainStandUnderTheirNewIndex() throws IOException {
        Path before = explainer("before", new double[] {1, 0, 0}, new double[] {0, 1, 0});
        Path after = explainer(
                "after", new double[] {0, 2, 0.1}, new double[] {1, 1, 0}, new double[] {3, 0, 0}, new double[] {0, 0, 1
                });
        Path labels = Files.writeString(folder.resolve("labels.csv"), "0,\"dogs, \"\"good\"\" ones\"\n1,cats\n");
        Path out = folder.resolve("map.csv");
        Shell shell = Shell.run("match", "--before", before, "--after", after, "--labels", labels, "--out", out);
        assertEquals(0, shell.exitCode(), shell.err());
        assertTrue(shell.out().contains("2 of 4 features found again, 2 labels carried over"), shell.out());
        assertEquals(
                List.of(
                        "feature,label,nearest,cosine",
                        "0,\"cats\",1,0.9988",
                        "1,,0,0.7071",
                        "2,\"dogs, \"\"good\"\" ones\",0,1.0000",
                        "3,,0,0.0000"),
                Files.readAllLines(out));
        FeatureLabels carried = FeatureLabels.read(out, 4);
        assertEquals("dogs, \"good\" ones", carried.of(2));
        assertEquals("cats", carried.of(0));
        assertEquals(2, carried.size());

        Shell again = Shell.run("match", "--before", before, "--after", after, "--out", out);
        assertEquals(2, again.exitCode());
        Path wide = explainer("wide", new double[] {1, 0});
        Shell other = Shell.run("match", "--before", before, "--after", wide, "--out", folder.resolve("no.csv"));
        assertEquals(2, other.exitCode());
        assertTrue(other.err().contains("writes 2 columns and --before 3"), other.err());
        assertFalse(Files.exists(folder.resolve("no.csv")));
    }
}
