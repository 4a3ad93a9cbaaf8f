package io.plumbline.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
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

class BenchIT {

    @TempDir
    private Path folder;

    @Test
    void thePipelineIsMeasuredComparedAndCleanedUp() throws IOException {
        List<String> rows = measured("--rivals", "--widths", "32", "--rows", "8000");
        for (String row : new String[] {
            "\"pipeline, d = 32, 64 rows a record\",plumbline monitor,rows/s,",
            "\"plumbline monitor, hopping, 12 panes of 1 s\",",
            "\"bare consumer, poll loop\",",
            "\"DSL aggregate, plain loops\",",
            "\"two partitions and threads, beside one\",",
            "\"stalls of ingestion, d = 32, windows of 1 s\",99th percentile,ms,",
            "\"stalls of ingestion, d = 32, windows of 1 s, refits of 32 x 128 beside\",longest,ms,"
        }) {
            assertTrue(rows.stream().anyMatch(one -> one.contains(row)), row + " is not in " + rows);
        }
    }

    @Test
    void swapsAreTimed() throws IOException {
        List<String> rows = measured("--swap");
        assertEquals(2, rows.size(), rows.toString());
        assertTrue(rows.get(1).startsWith("\"drift to decoder, 64 x 1,024, r = 4\",plumbline,s,"), rows.get(1));
    }

    @Test
    void aWideSiteIsMeasuredByRowsAndByMomentsOnce() throws IOException {
        List<String> rows = measured("--wide", "--widths", "64");
        for (String row : new String[] {
            "\"site of 64 x 1,024, r = 4, by rows\",read,rows/s,",
            "\"site of 64 x 1,024, r = 4, by moments\",\"large window, close to report\",s,",
            "\"site of 64 x 1,024, r = 4, by moments, memory\",\"heap after a collection, a pane open\",MB,",
            "\"site of 64 x 1,024, r = 4, by moments\",kill to reading again,s,"
        }) {
            assertTrue(rows.stream().anyMatch(one -> one.startsWith(row)), row + " is not in " + rows);
        }
        Path csv = folder.resolve("bench.csv");
        Shell again = Shell.run("bench", "--quick", "--wide", "--widths", "64", "--csv", csv);
        assertEquals(0, again.exitCode(), again.err());
        assertEquals(rows, Files.readAllLines(csv), "it was measured again");
    }

    @Test
    void sizesOutOfReachAreRefusedBeforeAnythingStarts() {
        Shell shell = Shell.run("bench", "--widths", "768,9000");
        assertEquals(2, shell.exitCode());
        assertTrue(shell.err().contains("--widths = 9000: expected 8 to 8192"), shell.err());
    }

    /** Returns the lines of the CSV file of a short run that left nothing behind. */
    private List<String> measured(String... options) throws IOException {
        Set<Path> before = leftovers();
        Path csv = folder.resolve("bench.csv");
        Shell shell = Shell.run(Stream.concat(Stream.of("bench", "--quick", "--csv", csv), Stream.of(options))
                .toArray());
        assertEquals(0, shell.exitCode(), shell.err());
        assertTrue(shell.out().contains("ahead"), shell.out());
        assertEquals(before, leftovers(), "folders left in the temporary one");
        return Files.readAllLines(csv);
    }

    private static Set<Path> leftovers() throws IOException {
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return files.filter(file -> file.getFileName().toString().startsWith("plumbline-bench-"))
                    .collect(Collectors.toSet());
        }
    }
}
