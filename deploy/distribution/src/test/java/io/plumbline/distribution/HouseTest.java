package io.plumbline.distribution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.tngtech.archunit.core.domain.Dependency;
import com.tngtech.archunit.core.domain.JavaClass;
import com.tngtech.archunit.core.domain.JavaClasses;
import com.tngtech.archunit.core.importer.ClassFileImporter;
import com.tngtech.archunit.core.importer.ImportOption;
import io.plumbline.topology.Repository;
import io.plumbline.topology.cli.Markdown;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Tests which package may use which, and which module holds it. */
class HouseTest {

    private static final String OURS = "io.plumbline";
    private static final int COLUMNS = 120;
    private static final int MOST_FILES = 40;

    /** A row of the map of packages; the root has no name. */
    private static final Pattern MAP_ROW = Pattern.compile("\\| (?:`([a-z.]+)`|\\(root\\)) \\|");

    /** Begins and ends a text block. */
    private static final String QUOTES = "\"".repeat(3);

    /** A javadoc whose first word leans on something that the reader of an index does not see. */
    private static final Pattern LEANING = Pattern.compile("/\\*\\*\\s+(\\*\\s+)?(The same|"
            + "As|At|By|For|From|In|Of|On|To|With|Without|Until|Unless|Since|Because|If|When|Where|What|Which|Who|Why|"
            + "Their|Its|It|They|Those|These|Such|Null|Also|Else|So)\\b[^\\n]*");

    /** Words that say nothing, and what follows them; divided here, so that this line is not among them. */
    private static final Pattern EMPTY_WORDS = Pattern.compile(
            "\\b(of " + "which|(is|are) " + "told|like" + "wise|by the " + "hand of|such as " + "come)\\b.{0,50}",
            Pattern.CASE_INSENSITIVE);

    /** The end of a line and the mark of a comment at the beginning of the next. */
    private static final Pattern CONTINUED = Pattern.compile("\\R\\s*(//|\\*(?!/))? *");

    /**
     * The packages in the order of their imports: a package uses those before it. The service's own are below
     * {@code topology}; its root holds the two topologies.
     */
    private static final List<String> ORDER = List.of(
            "parallel",
            "linalg.kernel",
            "linalg",
            "linalg.eigenspace",
            "linalg.library",
            "wire",
            "records",
            "moments",
            "requests",
            "explainer",
            "explainer.formats",
            "geometry",
            "refit",
            "adaptation",
            "judgement",
            "features",
            "probes",
            "groups",
            "baseline",
            "comparison",
            "causal",
            "causal.heads",
            "toy",
            "fixtures",
            "topology.kafka",
            "topology.ingest",
            "topology.progress",
            "topology.panes",
            "topology.windows",
            "topology.report",
            "topology.assessment",
            "topology.models",
            "topology.adaptation",
            "topology.emission",
            "topology.config",
            "topology.broker",
            "topology.erasure",
            "topology",
            "topology.reload",
            "topology.evidence",
            "topology.baselines",
            "topology.metrics",
            "topology.http",
            "topology.console",
            "topology.runtime",
            "topology.cli",
            "topology.operate",
            "demo",
            "benchmarks.operators",
            "benchmarks",
            "benchmarks.study",
            "causal.commands");

    private static final List<String> MODULES = List.of(
            "operators",
            "operators/downstream",
            "operators/native",
            "operators/benchmarks",
            "topology/fixtures",
            "topology",
            "topology/demo",
            "topology/benchmarks",
            "topology/causal");

    private static JavaClasses house;

    @BeforeAll
    static void read() {
        house = new ClassFileImporter()
                .withImportOption(ImportOption.Predefined.DO_NOT_INCLUDE_TESTS)
                .withImportOption(location -> !location.contains("-tests.jar") && !location.contains("jmh_generated"))
                .importPackages(OURS);
    }

    @Test
    void everyPackageUsesOnlyThoseBeforeIt() {
        Set<String> back = new TreeSet<>();
        int uses = 0;
        for (JavaClass one : house) {
            int from = ORDER.indexOf(room(one));
            assertTrue(from >= 0, "the order does not name the package of " + one.getName());
            for (Dependency use : one.getDirectDependenciesFromSelf()) {
                JavaClass other = use.getTargetClass().getBaseComponentType();
                if (other.getPackageName().startsWith(OURS)) {
                    uses++;
                    if (ORDER.indexOf(room(other)) > from) {
                        back.add(one.getName() + " uses " + other.getName());
                    }
                }
            }
        }
        assertTrue(uses > 10_000, "uses: " + uses);
        assertEquals(Set.of(), back);
    }

    @Test
    void noPackageStandsInTwoModules() throws IOException {
        Map<String, List<String>> modules = new TreeMap<>();
        for (String module : MODULES) {
            Path root = Repository.path(module, "src", "main", "java");
            try (var folders = Files.walk(root)) {
                for (Path folder : folders.filter(HouseTest::hasCode).toList()) {
                    modules.computeIfAbsent(root.relativize(folder).toString(), unused -> new ArrayList<>())
                            .add(module);
                }
            }
        }
        assertTrue(modules.size() > 20, modules.toString());
        modules.values().removeIf(holders -> holders.size() == 1);
        assertEquals(Map.of(), modules);
    }

    @Test
    void noPackageHasMoreThan40Files() throws IOException {
        Map<String, Long> large = new TreeMap<>();
        for (String module : MODULES) {
            try (var folders = Files.walk(Repository.path(module, "src", "main", "java"))) {
                for (Path folder : folders.filter(HouseTest::hasCode).toList()) {
                    try (var files = Files.list(folder)) {
                        long count = files.filter(Files::isRegularFile).count();
                        if (count > MOST_FILES) {
                            large.put(folder.toString(), count);
                        }
                    }
                }
            }
        }
        assertEquals(Map.of(), large);
    }

    @Test
    void theMapOfContributingNamesPackagesInThisOrder() throws IOException {
        List<String> named = new ArrayList<>();
        String prefix = "";
        for (String line : Files.readAllLines(Repository.path("CONTRIBUTING.md"))) {
            prefix = line.startsWith("`topology` is the application") ? "topology." : prefix;
            if (line.startsWith("| beside them")) {
                break;
            }
            Matcher row = MAP_ROW.matcher(line);
            if (row.lookingAt()) {
                named.add(row.group(1) == null ? "topology" : prefix + row.group(1));
            }
        }
        assertTrue(named.size() > 30, named.toString());
        List<String> elsewhere =
                List.of("linalg.library", "causal.heads", "toy", "fixtures", "demo", "causal.commands");
        assertEquals(
                ORDER.stream()
                        .filter(room -> !elsewhere.contains(room) && !room.startsWith("benchmarks"))
                        .toList(),
                named);
    }

    @Test
    void linesHaveAtMost120ColumnsButForTextBlocks() throws IOException {
        List<String> tooLong = new ArrayList<>();
        for (Path file : sources()) {
            boolean inBlock = false;
            for (String line : Files.readAllLines(file)) {
                boolean edge = line.contains(QUOTES);
                if (line.length() > COLUMNS && !inBlock && !edge) {
                    tooLong.add(file.getFileName() + ": " + line.strip());
                }
                inBlock ^= edge && line.indexOf(QUOTES) == line.lastIndexOf(QUOTES);
            }
        }
        assertEquals(List.of(), tooLong);
    }

    @Test
    void firstSentencesCanBeReadAlone() throws IOException {
        List<String> leaning = new ArrayList<>();
        for (Path file : sources()) {
            LEANING.matcher(Files.readString(file))
                    .results()
                    .forEach(found -> leaning.add(file.getFileName() + ": " + found.group()));
        }
        assertEquals(List.of(), leaning, "begin with the subject, or with what is returned");
    }

    @Test
    void wordsThatSayNothingAreNotUsed() throws IOException {
        List<String> found = new ArrayList<>();
        for (Path file : sources()) {
            emptyWords(Files.readString(file)).forEach(words -> found.add(file.getFileName() + ": " + words));
        }
        for (Markdown page : Markdown.all()) {
            emptyWords(page.text()).forEach(words -> found.add(page.name() + ": " + words));
        }
        assertEquals(List.of(), found, "say who does what, or name the thing");
    }

    private static Stream<String> emptyWords(String text) {
        return EMPTY_WORDS
                .matcher(CONTINUED.matcher(text).replaceAll(" "))
                .results()
                .map(MatchResult::group);
    }

    /** Returns every source of the project, tests among them, but for those that a tool wrote. */
    static List<Path> sources() throws IOException {
        try (var files = Files.walk(Repository.ROOT)) {
            return files.filter(one -> one.toString().endsWith(".java"))
                    .filter(one -> !one.toString().contains("generated-sources"))
                    .toList();
        }
    }

    private static boolean hasCode(Path folder) {
        try (var files = Files.newDirectoryStream(folder, "*.java")) {
            return files.iterator().hasNext();
        } catch (IOException e) {
            return false; // a file
        }
    }

    private static String room(JavaClass one) {
        return one.getPackageName().substring(OURS.length() + 1);
    }
}
