package io.plumbline.distribution;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.cli.Markdown;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.MatchResult;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/** Holds every line of the log to a sentence, pairs of key and value, and advice on a line of its own. */
class LogLinesTest {

    private static final String PAGE = "docs/operate/alerts.md";
    private static final String LITERAL = "\"(?:[^\"\\\\]|\\\\.)*\"";

    /** Matches the call of a logger; its groups are the literals of the format, which must follow at once. */
    private static final Pattern CALL = Pattern.compile("\\b(?:LOG|log)\\s*(?:::|\\.\\s*(?:trace|debug|info|warn|error|"
            + "at\\w+)\\()\\s*(" + LITERAL + "(?:\\s*\\+\\s*" + LITERAL + ")*)?");

    private static final Pattern JOINT = Pattern.compile("\"\\s*\\+\\s*\"");
    private static final Pattern PAIR = Pattern.compile("([a-z_]+)=\\{}");

    /** Matches a line with pairs at its end, and no other line with a value but one of advice. */
    private static final Pattern IN_PAIRS = Pattern.compile(".*: (?:.* )?[a-z_]+=\\{}(?: [a-z_]+=\\{})*(?:\\\\n.*)?");

    /** The fields of a line of JSON beside its pairs. */
    private static final Set<String> FIELDS = Set.of("time", "level", "logger", "thread", "message", "advice", "error");

    private record Call(String place, String format) {}

    private static final List<Call> CALLS = new ArrayList<>();

    @BeforeAll
    static void read() throws IOException {
        for (Path file : HouseTest.sources()) {
            String source = file.toString().contains("/src/main/") ? Files.readString(file) : "";
            if (source.contains("import org.slf4j.Logger;")) {
                CALL.matcher(source)
                        .results()
                        .forEach(call -> CALLS.add(new Call(
                                file.getFileName().toString(),
                                call.group(1) == null
                                        ? "{}"
                                        : JOINT.matcher(call.group(1))
                                                .replaceAll("")
                                                .replaceAll("^\"|\"$", ""))));
            }
        }
        assertTrue(CALLS.size() > 60, "calls: " + CALLS.size());
    }

    /** A call whose format is no literal counts as one without a key. */
    @Test
    void everyLineWithAValueEndsInPairs() {
        List<Call> without = CALLS.stream()
                .filter(call -> call.format().contains("{}"))
                .filter(call -> !IN_PAIRS.matcher(call.format()).matches())
                .toList();
        assertEquals(List.of(), without);
    }

    @Test
    void theKeysAreThoseThatThePageLists() throws IOException {
        Set<String> used = CALLS.stream()
                .flatMap(call -> PAIR.matcher(call.format()).results())
                .map(found -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        String page = Markdown.read(PAGE).text();
        int begin = page.indexOf("| key | value |");
        List<String> table =
                page.substring(begin, page.indexOf("\n\n", begin)).lines().toList();
        assertTrue(table.size() <= 15, "lines: " + table.size());
        Set<String> listed = table.stream()
                .map(row -> row.substring(0, row.indexOf('|', 1)))
                .flatMap(cell -> Pattern.compile("`([a-z_]+)`").matcher(cell).results())
                .map((MatchResult found) -> found.group(1))
                .collect(Collectors.toCollection(TreeSet::new));
        assertEquals(used, listed);
        assertTrue(Collections.disjoint(used, FIELDS), "keys that a line of JSON has for something else: " + used);
    }
}
