package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.plumbline.topology.Repository;
import io.plumbline.topology.operate.Plumbline;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import picocli.CommandLine;

/** Tests that the unit says to systemd what the program's exit codes and its stop mean. */
class SystemdUnitTest {

    private static final Path UNIT = Repository.path("deploy", "systemd", "plumbline.service");
    private static final Path SYSTEMD_ANALYZE = Path.of("/usr/bin/systemd-analyze");
    private static final String LAUNCHER = "/opt/plumbline/bin/plumbline";

    @TempDir
    private Path folder;

    @Test
    void aMistakeInTheConfigurationIsNotTriedAgainAndAnythingElseIs() throws IOException {
        Map<String, String> unit = settings();
        assertEquals(Integer.toString(ExitCodes.USAGE), unit.get("RestartPreventExitStatus"));
        assertEquals("on-failure", unit.get("Restart"));
        assertEquals("0", unit.get("StartLimitIntervalSec"));
    }

    @Test
    void aStopHasTheTimeBothApplicationsMayTake() throws IOException {
        Map<String, String> unit = settings();
        int seconds = Integer.parseInt(unit.get("TimeoutStopSec").replace("s", ""));
        assertTrue(seconds > 2 * 20, "two applications of 20 s each, and Java: " + seconds);
        assertEquals(Integer.toString(128 + 15), unit.get("SuccessExitStatus"), "SIGTERM");
    }

    @Test
    void whatItStartsIsACommandOfThisProgram() throws IOException {
        String[] words = settings().get("ExecStart").split(" ");
        assertEquals(LAUNCHER, words[0]);
        CommandLine.ParseResult parsed = Plumbline.commandLine()
                .parseArgs(
                        String.join(" ", words).substring(words[0].length() + 1).split(" "));
        assertEquals("run", parsed.subcommand().commandSpec().name());
    }

    @Test
    void systemdFindsNothingWrongWithIt() throws Exception {
        assumeTrue(Files.isExecutable(SYSTEMD_ANALYZE), "there is no systemd-analyze on this machine");
        String unit = Files.readString(UNIT).replace(LAUNCHER, "/bin/true");
        assertEquals("", verify(unit));
        assertFalse(verify(unit.replace("ProtectClock", "ProtektClock")).isEmpty(), "a misspelt setting is seen");
    }

    private String verify(String unit) throws IOException, InterruptedException {
        Path file = Files.writeString(folder.resolve("plumbline.service"), unit);
        Path said = folder.resolve("said");
        Process process = new ProcessBuilder(SYSTEMD_ANALYZE.toString(), "verify", file.toString())
                .redirectErrorStream(true)
                .redirectOutput(said.toFile())
                .start();
        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        return Files.readString(said);
    }

    private static Map<String, String> settings() throws IOException {
        Map<String, String> settings = new TreeMap<>();
        for (String line : Files.readAllLines(UNIT)) {
            int equals = line.indexOf('=');
            if (!line.startsWith("#") && equals > 0) {
                settings.put(line.substring(0, equals), line.substring(equals + 1));
            }
        }
        return settings;
    }
}
