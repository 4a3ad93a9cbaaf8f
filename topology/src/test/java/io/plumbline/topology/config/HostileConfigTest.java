package io.plumbline.topology.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.topology.WatchedFolder;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a configuration file that is none, or of someone who means harm. */
class HostileConfigTest {

    @TempDir
    private Path folder;

    @Test
    void aFileTooLargeForAConfigurationIsRefusedUnread() throws IOException {
        Path file = folder.resolve("large.yaml");
        try (RandomAccessFile sparse = new RandomAccessFile(file.toFile(), "rw")) {
            sparse.setLength(1L << 40);
        }
        assertRefused(file, "1099511627776 bytes: expected a configuration of at most 1048576");
    }

    @Test
    void aFileThatIsNotTextIsRefusedBySayingSo() throws IOException {
        Path file = Files.write(folder.resolve("weights.yaml"), new byte[] {(byte) 0xff, 3, 0, 1});
        assertRefused(file, "is not text in UTF-8 (at byte 0)");
    }

    @Test
    void aMarkOfWindowsBeforeTheTextIsNoneOfIt() throws IOException {
        Path file = write("\uFEFFapplication_id: \"a b\"\n");
        assertRefused(file, "application_id");
        Path wide = Files.write(folder.resolve("wide.yaml"), "application_id: x\n".getBytes(StandardCharsets.UTF_16));
        assertRefused(wide, "is text in UTF-16: expected UTF-8");
    }

    @Test
    void whatIsNoYamlIsSaidWithoutTheParsersWordsAndWithoutTheText() throws IOException {
        assertRefused(write("sites:\n\tpassword: x\n"), ": not valid YAML: expected `key: value`");
        assertRefused(write("window: {}\nwindow: {}\n"), "line 2: the key \"window\" stands twice");
    }

    @Test
    void aValueInTheWrongPlaceIsShownByItsBeginningOnly() throws IOException {
        Path file =
                write("limits: {rows_per_record: \"" + "x".repeat(100_000) + "\"}\n" + "y".repeat(100_000) + ": 1\n");
        ConfigException refusal = assertThrows(ConfigException.class, () -> MonitorConfig.load(file));
        for (String problem : refusal.problems()) {
            assertTrue(problem.length() < 1_000, "a sentence of %d characters".formatted(problem.length()));
        }
    }

    @Test
    void aliasesAreNotExpanded() throws IOException {
        StringBuilder bomb = new StringBuilder("a0: &a0 [lol]\n");
        for (int level = 1; level <= 30; level++) {
            bomb.append("a%d: &a%d [%s]\n".formatted(level, level, ("*a" + (level - 1) + ",").repeat(9)));
        }
        assertRefused(write(bomb.append("limits: *a30\n").toString()), "limits = a30: expected a mapping");
    }

    @Test
    void bracketsInBracketsEndAtADepth() throws IOException {
        assertRefused(write("sites: " + "[".repeat(200_000)), "is nested deeper");
        assertRefused(write("- ".repeat(200_000)), "is nested deeper");
    }

    @Test
    void aNameNobodyMeantCostsNoTime() {
        assertEquals("threshold", Nearest.to("treshold" + " ".repeat(1 << 20), List.of("rank", "threshold")));
    }

    @Test
    void moreSitesThanAllowedAreRefusedAtStart() throws IOException {
        String site = "  layer.%d: {explainer: sae, baseline: b, rank: 2, threshold: 1.0}\n";
        String yaml = "kafka: {bootstrap.servers: \"localhost:9092\"}\nlimits: {sites: 2}\nsites:\n";
        yaml += site.formatted(1) + site.formatted(2);
        assertEquals(2, MonitorConfig.load(write(yaml)).sites().size());
        assertRefused(write(yaml + site.formatted(3)), "sites names 3 sites, limits.sites allows 2");
    }

    @Test
    void aSiteNameThatWouldMoveATerminalsCursorIsRefused() throws IOException {
        Path file = write("""
                kafka: {bootstrap.servers: "localhost:9092"}
                sites:
                  "layer\\e[2J": {explainer: sae, baseline: b, rank: 2, threshold: 1.0}
                """);
        assertRefused(file, "sites.\"layer?[2J\": expected a name without control characters");
    }

    @Test
    void anExplainerWiderThanAllowedIsRefusedAtStart() throws IOException {
        MonitorConfig wide = WatchedFolder.create(
                folder, "localhost:9092", WatchedFolder.WINDOW, "limits: {width: 7}", WatchedFolder.SITE);
        assertEquals(
                List.of("explainer: 8 columns, limits.width allows 7"),
                ConfigCheck.sites(wide).get(0).problems());
        MonitorConfig fits = WatchedFolder.create(
                folder, "localhost:9092", WatchedFolder.WINDOW, "limits: {width: 8}", WatchedFolder.SITE);
        assertEquals(List.of(), ConfigCheck.sites(fits).get(0).problems());
    }

    /** Tests widths that {@code limits.width} allows, of a row that one record of the sample holds or does not. */
    @Test
    void aSampledRowThatFitsInNoRecordIsRefusedAtStart() throws IOException {
        int most = RowSample.MOST_VALUES;
        assertEquals(List.of(), problems("transcoder", most - WatchedFolder.WIDTH));
        String refusal = "explainer: a sampled row has %d values, of activations and targets, "
                + "and a record holds at most 127987";
        assertEquals(List.of(refusal.formatted(most + 1)), problems("transcoder", most + 1 - WatchedFolder.WIDTH));
        RowSample sample = RowSample.ofCapacity(1);
        sample.offer(1, 1, 0, new float[most - 1], new float[] {0.1f});
        assertEquals(1, sample.encode(RowSample.RECORD_PART_BYTES).size());
    }

    private List<String> problems(String architecture, int inputWidth) throws IOException {
        ConfigCheck.Site site = ConfigCheck.sites(WatchedFolder.create(folder, "localhost:9092"))
                .get(0);
        Explainer explainer = Objects.requireNonNull(site.explainer());
        List<String> problems = new ArrayList<>();
        ExplainerCheck.check(
                site.settings(),
                null,
                new Explainer(architecture, new Wide(inputWidth), explainer.decoder(), folder),
                inputWidth,
                problems);
        return problems;
    }

    /** Claims to read wide rows, and finds no feature in them. */
    private record Wide(int inputWidth) implements Encoder {

        @Override
        public int features() {
            return WatchedFolder.FEATURES;
        }

        @Override
        public SparseCodes encode(Matrix rows) {
            return SparseCodes.fromDense(Matrix.zeros(rows.rows(), features()));
        }
    }

    private Path write(String yaml) throws IOException {
        return Files.writeString(folder.resolve("plumbline.yaml"), yaml, StandardCharsets.UTF_8);
    }

    private static void assertRefused(Path file, String words) {
        ConfigException refusal = assertThrows(ConfigException.class, () -> MonitorConfig.load(file));
        assertTrue(refusal.getMessage().contains(words), refusal.getMessage());
    }
}
