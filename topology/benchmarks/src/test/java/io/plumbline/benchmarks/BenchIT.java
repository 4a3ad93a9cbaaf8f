package io.plumbline.benchmarks;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.topology.cli.Shell;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class BenchIT {

    @TempDir
    private Path folder;

    @Test
    void everythingIsMeasuredComparedAndCleanedUp() throws IOException {
        Set<Path> before = leftovers();
        Path json = folder.resolve("bench.json");
        Shell shell = Shell.run(
                "bench",
                "--kernels",
                "--pipeline",
                "--swap",
                "--quick",
                "--rivals",
                "--widths",
                "32",
                "--rows",
                "8000",
                "--json",
                json);
        assertEquals(0, shell.exitCode(), shell.err());
        for (String line : new String[] {
            "update, d = 32, 128 rows",
            "encoder with TopK, d = 32, 128 rows",
            "pipeline, d = 32, 64 rows a record",
            "plumbline monitor, hopping, 12 panes of 1 s",
            "bare consumer, poll loop",
            "DSL aggregate, plain loops",
            "two partitions and threads, beside one",
            "stalls of ingestion, d = 32, windows of 1 s",
            "garbage collector, d = 32, windows of 1 s, refits of 32 x 128 beside",
            "drift to decoder, 64 x 1,024, r = 4",
            "as weights: seconds from the verdict (of them the refit; processor time meanwhile; from the last row)"
        }) {
            assertTrue(shell.out().contains(line), line + " is not in\n" + shell.out());
        }
        JsonNode report = JsonMapper.builder().build().readTree(json.toFile());
        assertTrue(report.at("/machine/cores").asInt() > 0, report.toString());
        assertFalse(report.get("measurements").isEmpty());
        for (JsonNode one : report.get("measurements")) {
            for (String figure : new String[] {"median", "best", "ahead"}) {
                double value = one.get(figure).asDouble(Double.NaN);
                assertTrue(value > 0.0 && Double.isFinite(value), figure + " of " + one);
            }
        }
        assertEquals(4, report.get("pauses").size(), report.get("pauses").toString());
        JsonNode stalls = report.at("/pauses/0");
        assertTrue(
                stalls.get("number").asLong() > 0
                        && stalls.get("ninety_ninth").asDouble()
                                <= stalls.get("longest").asDouble(),
                stalls.toString());
        assertFalse(report.get("ratios").isEmpty());
        for (JsonNode ratio : report.get("ratios")) {
            assertTrue(ratio.get("least").asDouble() > 0.0, ratio.toString());
        }
        assertEquals(before, leftovers(), "folders left in the temporary one");
    }

    @Test
    void sizesOutOfReachAreRefusedBeforeAnythingStarts() {
        Shell shell = Shell.run("bench", "--widths", "768,9000");
        assertEquals(2, shell.exitCode());
        assertTrue(shell.err().contains("--widths = 9000: expected 8 to 8192"), shell.err());
    }

    private static Set<Path> leftovers() throws IOException {
        try (Stream<Path> files = Files.list(Path.of(System.getProperty("java.io.tmpdir")))) {
            return files.filter(file -> file.getFileName().toString().startsWith("plumbline-bench-"))
                    .collect(Collectors.toSet());
        }
    }
}
