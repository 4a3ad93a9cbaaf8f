package io.plumbline.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.cli.Shell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the demonstration with a model that really runs. */
class LiveDemoIT {

    @Test
    void aRunningModelDriftsIsAdaptedAndIsNearerToItself() throws IOException {
        Set<Path> before = folders();
        Shell shell = Shell.run("demo", "--live", "--timeout", "900", "--sentence", "Y dijo Jehová a Moisés");
        assertEquals(0, shell.exitCode(), () -> shell.out() + shell.err());
        for (String line : List.of(
                "3       spanish",
                "  published in ",
                "What the model does on the last window of spanish: held-out KL 0.3",
                "adapted explainer: the model's own next token is the most likely one after ",
                "after              the model itself       trained explainer        adapted explainer",
                "' Jehová'")) {
            assertTrue(shell.out().contains(line), () -> line + " is not in " + shell.out());
        }
        assertFalse(shell.out().contains("NOT SHOWN"), shell::out);
        assertEquals(before, folders());
    }

    @Test
    void whatCannotBeShownIsSaidAtOnce(@TempDir Path folder) throws IOException {
        Path brief = Files.writeString(folder.resolve("brief.txt"), "Too little to fit anything to.\n");
        Object[][] wrong = {
            {"--text", brief, "--live"},
            {"--text", "nowhere.txt", "--live"},
            {"--text", brief},
            {"--model", folder, "--live"}
        };
        List<String> said = List.of(
                "text brief: 0 requests of 128 tokens, expected at least 36",
                "--text = nowhere.txt: no such file",
                "--text, --sentence and --model go with --live",
                "it has no model/body.onnx");
        for (int i = 0; i < wrong.length; i++) {
            Object[] arguments =
                    Stream.concat(Stream.of("demo"), Stream.of(wrong[i])).toArray();
            Shell refused = Shell.run(arguments);
            String expected = said.get(i);
            assertEquals(2, refused.exitCode(), refused::err);
            assertTrue(refused.err().contains(expected), refused::err);
        }
    }

    private static Set<Path> folders() throws IOException {
        try (Stream<Path> entries = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return entries.filter(path -> path.getFileName().toString().startsWith("plumbline-demo-"))
                    .collect(Collectors.toSet());
        }
    }
}
