package io.plumbline.distribution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.geometry.GapAssessment;
import io.plumbline.topology.Repository;
import io.plumbline.topology.cli.Markdown;
import io.plumbline.topology.config.MonitorConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Holds the README, and the pages it was cut from, to the code they show. */
class ReadmeTest {

    private static final String README = "README.md";
    private static final String STATISTICS = "docs/concepts/statistics.md";
    private static final String CONFIGURE = "docs/operate/configure.md";
    private static final String PYTHON = "docs/use/python.md";
    private static final int LINES = 200;
    private static final Pattern STATISTIC_ROW = Pattern.compile("(?m)^\\| `([a-z_]+)` \\|");
    private static final Path HOT_SWAP = Repository.path("topology/client/example/src/main/java/FollowDecoders.java");
    private static final Path PACKAGE = Repository.path("clients/python/src/plumbline_sae/__init__.py");

    @Test
    void theTwoCommandsStandAtTheTop() throws IOException {
        Markdown readme = Markdown.read(README);
        Markdown.Block first = readme.blocks().get(0);
        List<String> commands = first.code()
                .lines()
                .map(line -> line.replaceFirst("#.*", "").strip())
                .toList();
        assertEquals(List.of("./plumbline demo", "./mvnw verify"), commands);
        long linesBefore = readme.text()
                .substring(0, first.offset())
                .lines()
                .filter(line -> !line.isBlank())
                .count();
        assertEquals(1, linesBefore, "only the title may stand above the two commands");
    }

    @Test
    void theFileThatABaselineIsMadeOfIsWrittenByTheSameStep() throws IOException {
        String readme = Markdown.read(README).text();
        String step = readme.substring(readme.indexOf("**2. "), readme.indexOf("**3. "));
        assertTrue(step.contains("Recording(\"monday.safetensors\")"), step);
        assertTrue(step.contains("--activations monday-*.safetensors "), step);
    }

    @Test
    void itHasAtMost200Lines() throws IOException {
        long lines = Markdown.read(README).text().lines().count();
        assertTrue(lines <= LINES, "README.md has %d lines, expected at most %d".formatted(lines, LINES));
    }

    @Test
    void statisticsCanBeTriggers() throws IOException {
        String text = Markdown.read(STATISTICS).text();
        int begin = text.indexOf("| statistic |");
        assertTrue(begin > 0, "the table of statistics");
        String table = text.substring(begin, text.indexOf("\n\n", begin));
        Set<String> named = found(STATISTIC_ROW, table, 1);
        assertTrue(named.size() > 3, named.toString());
        named.removeAll(GapAssessment.statisticNames());
        assertEquals(Set.of(), named);
    }

    @ParameterizedTest
    @ValueSource(strings = {README, CONFIGURE})
    void configurationsLoad(String page) throws IOException {
        List<Markdown.Block> blocks = Markdown.read(page).blocks("yaml");
        assertFalse(blocks.isEmpty());
        for (Markdown.Block block : blocks) {
            MonitorConfig config = MonitorConfig.parse(block.code(), page, Path.of(""));
            assertEquals(Set.of("encoder.layer.2"), config.sites().keySet());
        }
    }

    @Test
    void theHotSwapIsCodeThatCompiles() throws IOException {
        assertEquals(marked(HOT_SWAP, "// "), only(README, "java"));
    }

    /**
     * Compares the README's example in Python with one of the package's page, whose examples the package's own tests
     * run.
     */
    @Test
    void thePythonExampleIsOneOfThePackagesPage() throws IOException {
        List<String> tested = Markdown.read(PYTHON).blocks("python").stream()
                .map(block -> block.code().strip())
                .toList();
        assertTrue(tested.contains(only(README, "python")), tested.toString());
    }

    @Test
    void thePythonPackageHasTheProductsVersion() throws Exception {
        String pom = Files.readString(Repository.path("pom.xml"));
        Set<String> product = found(Pattern.compile("(?s)\\A.*?<version>([^<]+)</version>"), pom, 1);
        assertEquals(product, found(Pattern.compile("__version__ = \"([^\"]+)\""), Files.readString(PACKAGE), 1));
    }

    private static String only(String page, String language) throws IOException {
        List<Markdown.Block> blocks = Markdown.read(page).blocks(language);
        assertEquals(1, blocks.size());
        return blocks.get(0).code().strip();
    }

    /** Returns what stands between the marks, an empty line between two of such places. */
    private static String marked(Path file, String comment) throws IOException {
        String begin = comment + "README begins";
        return Stream.of(Files.readString(file).split(begin, -1))
                .skip(1)
                .map(part -> part.substring(0, part.indexOf(comment + "README ends"))
                        .stripIndent()
                        .strip())
                .collect(Collectors.joining("\n\n"));
    }

    private static Set<String> found(Pattern pattern, String text, int group) {
        return pattern.matcher(text)
                .results()
                .map((MatchResult result) -> result.group(group))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
