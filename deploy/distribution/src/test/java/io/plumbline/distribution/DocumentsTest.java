package io.plumbline.distribution;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.Repository;
import io.plumbline.topology.cli.Markdown;
import io.plumbline.topology.operate.Plumbline;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import picocli.CommandLine;

/** Holds every page of the repository to the program it describes, and to the other pages. */
class DocumentsTest {

    private static final int COLUMNS = 120;
    private static final String INDEX = "docs/README.md";
    /** Matches names of our metrics, but not the name of the Python package. */
    private static final Pattern METRIC = Pattern.compile("(?<![\\w:])plumbline_(?!sae\\b)[a-z0-9_]+");

    private static final Pattern SERIES_SUFFIX = Pattern.compile("_(bucket|count|sum)$");
    private static final Pattern TEST_CLASS = Pattern.compile("[A-Z]\\w+(?:Test|IT|Soak)");

    /** Options of Java, Kafka, Prometheus and Docker that pages name. */
    private static final Set<String> OPTIONS_OF_OTHERS =
            Set.of("--add-modules", "--input-topics", "--plumbline-site", "--storage.tsdb.retention.time", "--volumes");

    /** Options of the Python package's worker. */
    private static final Set<String> OPTIONS_OF_THE_WORKER =
            Set.of("--max-megabytes", "--onnx", "--provider", "--run-timeout", "--targets");

    /** Matches one of our classes with its package, as a command names it. */
    private static final Pattern CLASS = Pattern.compile("\\bio\\.plumbline(?:\\.[a-z]+)*\\.[A-Z]\\w*");

    @Test
    void everyClassThatAPageNamesWithItsPackageIsThere() throws IOException {
        Set<String> ours = new TreeSet<>();
        try (var files = Files.walk(Repository.ROOT)) {
            for (Path file :
                    files.filter(one -> one.toString().endsWith(".java")).toList()) {
                String path = file.toString().replace('/', '.');
                int begin = path.indexOf(".java.io.plumbline.");
                if (begin >= 0) {
                    ours.add(path.substring(begin + ".java.".length(), path.length() - ".java".length()));
                }
            }
        }
        Set<String> named = new TreeSet<>();
        for (Markdown page : Markdown.all()) {
            CLASS.matcher(page.text()).results().map(MatchResult::group).forEach(named::add);
        }
        assertTrue(named.size() >= 2, named.toString());
        named.removeAll(ours);
        assertEquals(Set.of(), named);
    }

    @Test
    void everyRelativeLinkLeadsToAFileAndToAHeadingOfIt() throws IOException {
        List<String> broken = new ArrayList<>();
        int links = 0;
        for (Markdown page : Markdown.all()) {
            Path folder = Repository.ROOT.resolve(page.name()).getParent();
            for (String link : page.relativeLinks()) {
                links++;
                int hash = link.indexOf('#');
                String file = hash < 0 ? link : link.substring(0, hash);
                Path target = file.isEmpty()
                        ? Repository.ROOT.resolve(page.name())
                        : folder.resolve(file).normalize();
                boolean there = Files.exists(target);
                if (there && hash >= 0) {
                    String name = Repository.ROOT.relativize(target).toString();
                    there = Markdown.read(name).anchors().contains(link.substring(hash + 1));
                }
                if (!there) {
                    broken.add(page.name() + " -> " + link);
                }
            }
        }
        assertTrue(links > 100, "links: " + links);
        assertEquals(List.of(), broken);
    }

    @Test
    void linesOfProseHaveAtMost120Columns() throws IOException {
        List<String> tooLong = new ArrayList<>();
        for (Markdown page : Markdown.all()) {
            List<String> lines = page.prose().stream()
                    .filter(line -> line.codePointCount(0, line.length()) > COLUMNS)
                    .toList();
            lines.forEach(line -> tooLong.add(page.name() + ": " + line));
        }
        assertEquals(List.of(), tooLong);
    }

    @Test
    void theIndexNamesEveryPage() throws IOException {
        Set<String> named = Set.copyOf(Markdown.read(INDEX).relativeLinks());
        Set<String> missing = new TreeSet<>();
        for (Markdown page : Markdown.all()) {
            if (page.name().startsWith("docs/") && !page.name().equals(INDEX)) {
                missing.add(page.name().substring("docs/".length()));
            }
        }
        assertTrue(missing.size() > 20, missing.toString());
        missing.removeAll(named);
        assertEquals(Set.of(), missing, "pages that " + INDEX + " does not name");
    }

    @Test
    void commandsInBlocksAreAccepted() throws IOException {
        int commands = 0;
        for (Markdown page : Markdown.all()) {
            for (List<String> arguments : page.blockCommands()) {
                commands++;
                String said = page.name() + ": plumbline " + String.join(" ", arguments);
                assertDoesNotThrow(() -> Plumbline.commandLine().parseArgs(arguments.toArray(new String[0])), said);
            }
        }
        assertTrue(commands > 40, "commands: " + commands);
    }

    @Test
    void commandsAndOptionsInSentencesExist() throws IOException {
        for (Markdown page : Markdown.all()) {
            assertAll(page.spanCommands().stream().map(words -> () -> requireKnown(page.name(), words)));
        }
    }

    @Test
    void optionsInSentencesExist() throws IOException {
        Set<String> options = everyOption(Plumbline.commandLine());
        options.addAll(OPTIONS_OF_OTHERS);
        options.addAll(OPTIONS_OF_THE_WORKER);
        Set<String> unknown = new TreeSet<>();
        for (Markdown page : Markdown.all()) {
            page.spans().stream()
                    .filter(span -> span.startsWith("--"))
                    .map(span -> span.replaceFirst("[=\\s].*", ""))
                    .filter(option -> !options.contains(option))
                    .forEach(option -> unknown.add(page.name() + ": " + option));
        }
        assertEquals(Set.of(), unknown);
    }

    @Test
    void metricsAreExported() throws IOException {
        String exported = Markdown.read("docs/operate/metrics.md").text();
        Set<String> unknown = new TreeSet<>();
        for (Markdown page : Markdown.all()) {
            METRIC.matcher(page.text())
                    .results()
                    .map(MatchResult::group)
                    .map(name -> SERIES_SUFFIX.matcher(name).replaceFirst(""))
                    .filter(name -> !exported.contains("| `" + name + "` |"))
                    .forEach(name -> unknown.add(page.name() + ": " + name));
        }
        assertEquals(Set.of(), unknown, "metrics that docs/operate/metrics.md does not name");
    }

    @Test
    void namedTestsAreThere() throws IOException {
        Set<String> sources = testSources();
        Set<String> unknown = new TreeSet<>();
        for (Markdown page : Markdown.all()) {
            page.spans().stream()
                    .filter(span -> TEST_CLASS.matcher(span).matches() && !sources.contains(span))
                    .forEach(span -> unknown.add(page.name() + ": " + span));
        }
        assertEquals(Set.of(), unknown, "tests that do not exist");
    }

    /**
     * Requires that the words of a command, which may be cut short, are known: sub-commands first, then options it has.
     */
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
        Set<String> options = everyOption(command);
        for (String word : words.subList(next, words.size())) {
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
        try (Stream<Path> files = Files.walk(Repository.ROOT)) {
            return files.map(file -> file.getFileName().toString())
                    .filter(name -> name.endsWith(".java"))
                    .map(name -> name.substring(0, name.length() - ".java".length()))
                    .collect(Collectors.toSet());
        }
    }
}
