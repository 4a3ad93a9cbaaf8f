package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** Compares the page of whoever upgrades with the layouts of the program. */
class UpgradingTest {

    private static final Pattern ROW = Pattern.compile("(?m)^\\| [^|]* \\| [^|]* \\| `(\\w+)` \\| (\\d+) \\|");
    private static final Pattern CONSTANT = Pattern.compile(
            "(?m)^\\s*(?:private |static |final )*(?:byte|int|String) (?:VERSION|SCHEMA) = \"?(\\d+)\"?;");

    @Test
    void everyLayoutWithAVersionIsInTheTableWithIt() throws IOException {
        Map<String, String> documented = new TreeMap<>();
        Matcher rows = ROW.matcher(Markdown.read("docs/operate/upgrades.md").text());
        while (rows.find()) {
            documented.put(rows.group(1), rows.group(2));
        }
        Map<String, String> written = new TreeMap<>();
        for (String module : List.of("operators", "topology")) {
            try (Stream<Path> files = Files.walk(Repository.ROOT.resolve(module + "/src/main/java"))) {
                for (Path file : files.filter(found -> found.toString().endsWith(".java"))
                        .toList()) {
                    Matcher constant = CONSTANT.matcher(Files.readString(file));
                    if (constant.find()) {
                        written.put(file.getFileName().toString().replace(".java", ""), constant.group(1));
                    }
                }
            }
        }
        assertTrue(written.size() > 10, written.toString());
        assertEquals(written, documented);
    }
}
