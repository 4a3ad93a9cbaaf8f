package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests files of another kind in the place of rows, of a baseline and of an explainer. */
class OtherFilesCommandTest {

    @TempDir
    private Path folder;

    @BeforeEach
    void copyExplainer() throws IOException {
        for (String name : List.of("cfg.json", "sae_weights.safetensors", "english.safetensors")) {
            try (InputStream resource =
                    OtherFilesCommandTest.class.getResourceAsStream("/io/plumbline/fixtures/" + name)) {
                Files.copy(resource, folder.resolve(name));
            }
        }
    }

    @Test
    void aFileThatTorchSavedInThePlaceOfRowsIsAUsageError() throws IOException {
        Path rows = Files.write(
                folder.resolve("rows.pt"), "PK\3\4-----rows/data.pkl".getBytes(StandardCharsets.ISO_8859_1));
        Shell shell = Shell.run(
                "baseline", "--explainer", folder, "--activations", rows, "--out", folder.resolve("b.safetensors"));
        assertEquals(ExitCodes.USAGE, shell.exitCode(), shell.err());
        assertTrue(shell.err().contains(rows + ": expected safetensors; this is what torch.save writes"), shell.err());
        assertTrue(shell.err().contains("safetensors.torch.save_file"), shell.err());
    }

    @Test
    void rowsInThePlaceOfABaselineAreAUsageError() {
        Path rows = folder.resolve("english.safetensors");
        Shell shell =
                Shell.run("assess", "--explainer", folder, "--activations", rows, "--baseline", rows, "--rank", 4);
        assertEquals(ExitCodes.USAGE, shell.exitCode(), shell.err());
        assertTrue(shell.err().contains("is no baseline: it holds activations"), shell.err());
    }

    @Test
    void aFileInThePlaceOfAFolderToWriteIsAUsageErrorWithItsReason() {
        Path out = folder.resolve("english.safetensors");
        Shell shell = Shell.run(
                "decoders",
                "follow",
                "--bootstrap-servers",
                "127.0.0.1:1",
                "--site",
                "encoder.layer.2",
                "--explainer",
                folder,
                "--out",
                out);
        assertEquals(ExitCodes.USAGE, shell.exitCode(), shell.err());
        assertTrue(shell.err().contains(out + ": exists already"), shell.err());
    }

    @Test
    void aPointerInThePlaceOfWeightsIsAUsageError() throws IOException {
        Files.writeString(folder.resolve("sae_weights.safetensors"), "version https://git-lfs.github.com/spec/v1\n");
        Shell shell = Shell.run("explainer", folder);
        assertEquals(ExitCodes.USAGE, shell.exitCode(), shell.err());
        assertTrue(shell.err().contains("git lfs pull"), shell.err());
    }
}
