package io.plumbline.benchmarks.study;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.cli.Shell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class StudyCommandTest {

    @TempDir
    private Path folder;

    @Test
    void everyDetectorSeesGermanAndTheDefaultSeesAQuarterOfItBeforeTheGap() throws IOException {
        Path csv = folder.resolve("study.csv");
        Shell shell = Shell.run("study", "--windows", "20", "--csv", csv);
        assertEquals(0, shell.exitCode(), shell.err());
        assertTrue(shell.out().contains("windows of 512 rows, 40 of usual traffic"), shell.out());
        List<String> lines = Files.readAllLines(csv);
        assertEquals(1 + 6 * Study.DETECTORS.size(), lines.size());
        for (String detector : Study.DETECTORS) {
            assertTrue(alarms(lines, "German,100,", detector) >= 90, shell.out());
        }
        for (String detector : Rivals.NAMES) {
            assertTrue(alarms(lines, "usual,0,", detector) <= 20, shell.out());
            assertTrue(alarms(lines, "German,25,", detector) < 100, shell.out());
        }
        assertTrue(alarms(lines, "German,25,", "default") > alarms(lines, "German,25,", "gap"), shell.out());
    }

    private static int alarms(List<String> lines, String traffic, String detector) {
        String line = lines.stream()
                .filter(one -> one.startsWith("512," + traffic + detector + ","))
                .findFirst()
                .orElseThrow();
        return Integer.parseInt(line.split(",", -1)[4]);
    }

    @Test
    void windowsThatTheRecordingsCannotFillAreRefused() {
        Shell shell = Shell.run("study", "--rows", "512,2048");
        assertEquals(2, shell.exitCode());
        assertTrue(shell.err().contains("--rows = 2048: expected 64 to"), shell.err());
    }
}
