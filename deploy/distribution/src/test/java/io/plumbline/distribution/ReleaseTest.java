package io.plumbline.distribution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.Repository;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests what {@code deploy/release} says before it builds anything; a workflow runs the rest every week. */
class ReleaseTest {

    private static final Path RELEASE = Repository.path("deploy", "release");

    @TempDir
    private Path folder;

    @Test
    void theHelpNamesEveryOption() throws Exception {
        Said help = run(RELEASE, "--help");
        assertEquals(0, help.exit(), help.text());
        for (String option : List.of("--dirty", "--twice", "PLUMBLINE_PYTHON", "JAVA_HOME")) {
            assertTrue(help.text().contains(option), option);
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"--thrice", "release", "--dirty --twice"})
    void whatIsNoOptionIsRefusedAndTheHelpIsNamed(String arguments) throws Exception {
        Said said = run(RELEASE, arguments.split(" ", -1));
        assertEquals(2, said.exit(), said.text());
        assertTrue(said.text().endsWith("see deploy/release --help\n"), said.text());
    }

    @Test
    void aTreeWithChangesIsRefusedByTheNameOfTheFile() throws Exception {
        Path script = Files.createDirectories(folder.resolve("deploy")).resolve("release");
        Files.copy(RELEASE, script, StandardCopyOption.COPY_ATTRIBUTES);
        assertEquals(0, run(Path.of("git"), "init", "-q", folder.toString()).exit());
        Said said = run(script);
        assertEquals(2, said.exit(), said.text());
        assertTrue(said.text().endsWith("?? deploy/\n"), said.text());
    }

    @Test
    void whatIsMadeOfNoCommitIsNotSigned() throws Exception {
        Said said = run(Path.of("env"), "PLUMBLINE_RELEASE_KEY=key.pem", RELEASE.toString(), "--dirty");
        assertEquals(2, said.exit(), said.text());
        assertTrue(
                said.text().startsWith("release: PLUMBLINE_RELEASE_KEY is set, and what --dirty makes is of no commit"),
                said.text());
    }

    private record Said(int exit, String text) {}

    private Said run(Path program, String... arguments) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(Stream.concat(Stream.of(program.toString()), Stream.of(arguments))
                        .toList())
                .directory(folder.toFile())
                .redirectErrorStream(true)
                .start();
        String text = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        return new Said(process.waitFor(), text);
    }
}
