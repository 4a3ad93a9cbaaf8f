package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.geometry.GapAssessment;
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
import picocli.CommandLine;

/** Holds the pages people copy from to the program they describe. */
class ReadmeTest {

    private static final String README = "README.md";
    private static final String CONTRIBUTING = "CONTRIBUTING.md";
    private static final Pattern METRIC = Pattern.compile("plumbline_[a-z0-9_]+");
    private static final Pattern SERIES_SUFFIX = Pattern.compile("_(bucket|count|sum)$");
    private static final Pattern LINK = Pattern.compile("\\]\\(([^)#:]+)\\)");
    private static final Pattern TEST_CLASS = Pattern.compile("[A-Z]\\w+(?:Test|IT|Soak)");
    private static final Pattern STATISTIC_ROW = Pattern.compile("(?m)^\\| `([a-z_]+)` \\|");
    private static final Path HOT_SWAP = Path.of("src/test/java/io/plumbline/topology/emission/HotSwapExample.java");
    private static final Path PRODUCER = Markdown.REPOSITORY.resolve("clients/python/send_activations.py");

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

    @ParameterizedTest
    @ValueSource(strings = {README, CONTRIBUTING})
    void commandsInBlocksAreAccepted(String page) throws IOException {
        List<List<String>> commands = Markdown.read(page).blockCommands();
        assertFalse(commands.isEmpty(), page + " shows no command");
        assertAll(commands.stream().map(arguments -> () -> {
            CommandLine.ParseResult parsed = assertDoesNotThrow(
                    () -> Plumbline.commandLine().parseArgs(arguments.toArray(new String[0])),
                    page + ": plumbline " + String.join(" ", arguments));
            assertTrue(parsed.hasSubcommand(), page + ": plumbline " + String.join(" ", arguments));
        }));
    }

    @ParameterizedTest
    @ValueSource(strings = {README, CONTRIBUTING})
    void commandsAndOptionsInSentencesExist(String page) throws IOException {
        Markdown markdown = Markdown.read(page);
        assertAll(markdown.spanCommands().stream().map(words -> () -> requireKnown(page, words)));
        Set<String> options = everyOption(Plumbline.commandLine());
        assertAll(markdown.spans().stream()
                .filter(span -> span.startsWith("--"))
                .map(span -> () -> requireKnownOptions(page, List.of(span.split("\\s+")), options)));
    }

    @ParameterizedTest
    @ValueSource(strings = {README, CONTRIBUTING})
    void metricsAreExported(String page) throws IOException {
        String exported = Markdown.read("deploy/METRICS.md").text();
        Set<String> unknown = found(METRIC, Markdown.read(page).text(), 0).stream()
                .map(name -> SERIES_SUFFIX.matcher(name).replaceFirst(""))
                .filter(name -> !exported.contains("| `" + name + "` |"))
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(Set.of(), unknown, page + " names metrics that deploy/METRICS.md does not");
    }

    @Test
    void statisticsCanBeTriggers() throws IOException {
        String text = Markdown.read(README).text();
        int begin = text.indexOf("| statistic |");
        assertTrue(begin > 0, "the table of statistics");
        String table = text.substring(begin, text.indexOf("\n\n", begin));
        Set<String> named = found(STATISTIC_ROW, table, 1);
        assertTrue(named.size() > 3, named.toString());
        named.removeAll(GapAssessment.statisticNames());
        assertEquals(Set.of(), named);
    }

    @Test
    void configurationsLoad() throws IOException {
        List<Markdown.Block> blocks = Markdown.read(README).blocks("yaml");
        assertFalse(blocks.isEmpty());
        for (Markdown.Block block : blocks) {
            MonitorConfig config = MonitorConfig.parse(block.code(), README, Path.of(""));
            assertEquals(Set.of("encoder.layer.2"), config.sites().keySet());
        }
    }

    @Test
    void theHotSwapIsCodeThatCompiles() throws IOException {
        requireQuoted("java", HOT_SWAP, "// ");
    }

    @Test
    void theProducerIsTheProgramThatIsRunInATest() throws IOException {
        requireQuoted("python", PRODUCER, "# ");
    }

    private static void requireQuoted(String language, Path file, String comment) throws IOException {
        List<Markdown.Block> blocks = Markdown.read(README).blocks(language);
        assertEquals(1, blocks.size());
        String source = Files.readString(file);
        String begin = comment + "README begins";
        String region =
                source.substring(source.indexOf(begin) + begin.length(), source.indexOf(comment + "README ends"));
        assertEquals(region.stripIndent().strip(), blocks.get(0).code().strip());
    }

    @ParameterizedTest
    @ValueSource(strings = {README, CONTRIBUTING})
    void linkedFilesAndNamedTestsAreThere(String page) throws IOException {
        Markdown markdown = Markdown.read(page);
        for (String link : found(LINK, markdown.text(), 1)) {
            assertTrue(Files.exists(Markdown.REPOSITORY.resolve(link)), page + " links to " + link);
        }
        Set<String> sources = testSources();
        Set<String> named = markdown.spans().stream()
                .filter(span -> TEST_CLASS.matcher(span).matches())
                .collect(Collectors.toCollection(TreeSet::new));
        assertFalse(named.isEmpty());
        named.removeAll(sources);
        assertEquals(Set.of(), named, page + " names tests that do not exist");
    }

    /** The words of a command that may be cut short: sub-commands first, then options it has. */
    private static void requireKnown(String page, List<String> words) {
        CommandLine command = Plumbline.commandLine();
        int next = 0;
        while (next < words.size() && !command.getSubcommands().isEmpty()) {
            String word = words.get(next);
            if (word.startsWith("-")) {
                break;
            }
            CommandLine child = command.getSubcommands().get(word);
            assertNotNull(child, "%s: plumbline %s has no command %s".formatted(page, String.join(" ", words), word));
            command = child;
            next++;
        }
        requireKnownOptions(page, words.subList(next, words.size()), everyOption(command));
    }

    private static void requireKnownOptions(String page, List<String> words, Set<String> options) {
        for (String word : words) {
            if (word.startsWith("--")) {
                String option = word.replaceFirst("=.*", "");
                assertTrue(options.contains(option), "%s: %s is no option here".formatted(page, option));
            }
        }
    }

    private static Set<String> everyOption(CommandLine command) {
        Set<String> options =
                new TreeSet<>(command.getCommandSpec().optionsMap().keySet());
        command.getSubcommands().values().forEach(child -> options.addAll(everyOption(child)));
        return options;
    }

    private static Set<String> testSources() throws IOException {
        Set<String> names = new TreeSet<>();
        for (String module : List.of("operators", "topology", "deploy/helm")) {
            try (Stream<Path> files = Files.walk(Markdown.REPOSITORY.resolve(module + "/src/test/java"))) {
                files.map(file -> file.getFileName().toString())
                        .filter(name -> name.endsWith(".java"))
                        .forEach(name -> names.add(name.substring(0, name.length() - ".java".length())));
            }
        }
        return names;
    }

    private static Set<String> found(Pattern pattern, String text, int group) {
        return pattern.matcher(text)
                .results()
                .map((MatchResult result) -> result.group(group))
                .collect(Collectors.toCollection(TreeSet::new));
    }
}
