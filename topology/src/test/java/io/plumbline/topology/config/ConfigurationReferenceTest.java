package io.plumbline.topology.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.plumbline.topology.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Holds docs/reference/configuration.md to the keys that are read, and to the defaults they have. */
class ConfigurationReferenceTest {

    private static final Path PAGE = Repository.path("docs", "reference", "configuration.md");
    private static final Pattern SECTION = Pattern.compile("(?ms)^## (.+?)$(.*?)(?=^## |\\z)");
    private static final Pattern ROW = Pattern.compile("(?m)^\\| `([a-z_]+)` \\|([^|]*)\\|");
    private static final String MINIMAL = """
            kafka: {bootstrap.servers: 'localhost:9092'}
            metrics: {otlp: {endpoint: 'http://localhost:4318/v1/metrics'}}
            models: {m: {sites: [layer]}}
            sites:
              a: {explainer: e, baseline: b, rank: 2}
              layer: {explainer: e, baseline: b, rank: 2}
              named: {explainer: e, baseline: b, rank: 2, downstream: {head: h}, candidate: {explainer: c}}
              paper:
                explainer: e
                baseline: b
                rank: 2
                hidden_states: {layers: [1], layer: 1}
                sequential: {statistics: [faithfulness_gap]}
                adaptation: {profile: paper, rank: 1, lambda_preservation: 0, lambda_geometric: 0}
            """;

    /** A configuration with an unknown key in each section, by section. */
    private static final Map<String, String> UNKNOWN_KEY = Map.ofEntries(
            Map.entry("The file", "unknown: 1"),
            Map.entry("topics", "topics: {unknown: 1}"),
            Map.entry("window", "window: {unknown: 1}"),
            Map.entry("sample", "sample: {unknown: 1}"),
            Map.entry("state", "state: {unknown: 1}"),
            Map.entry("http", "http: {unknown: 1}"),
            Map.entry("signing", "signing: {unknown: 1}"),
            Map.entry("log", "log: {unknown: 1}"),
            Map.entry("metrics", "metrics: {unknown: 1}"),
            Map.entry("metrics.otlp", "metrics: {otlp: {unknown: 1}}"),
            Map.entry("limits", "limits: {unknown: 1}"),
            Map.entry("A model", "models: {m: {unknown: 1}}"),
            Map.entry("A site", "sites: {a: {unknown: 1}}"),
            Map.entry("A site's mask", "sites: {a: {mask: {unknown: 1}}}"),
            Map.entry("A threshold", "sites: {a: {threshold: {unknown: 1}}}"),
            Map.entry("A site's sequential", "sites: {a: {sequential: {unknown: 1}}}"),
            Map.entry("A site's coverage", "sites: {a: {coverage: {unknown: 1}}}"),
            Map.entry("A site's hidden_states", "sites: {a: {hidden_states: {unknown: 1}}}"),
            Map.entry("A site's downstream", "sites: {a: {downstream: {unknown: 1}}}"),
            Map.entry("A site's candidate", "sites: {a: {candidate: {unknown: 1}}}"),
            Map.entry("A site's watch", "sites: {a: {watch: {unknown: 1}}}"),
            Map.entry("A site's features", "sites: {a: {features: {unknown: 1}}}"),
            Map.entry("A site's adaptation", "sites: {a: {adaptation: {unknown: 1}}}"));

    @TempDir
    private Path folder;

    @Test
    void everyKeyThatIsReadStandsThereAndNoOther() throws IOException {
        Map<String, Map<String, String>> sections = sections();
        assertEquals(new TreeSet<>(UNKNOWN_KEY.keySet()), new TreeSet<>(sections.keySet()));
        sections.forEach((section, rows) ->
                assertEquals(known(Objects.requireNonNull(UNKNOWN_KEY.get(section))), rows.keySet(), section));
    }

    @Test
    void defaultsAreThoseOfAConfigurationThatSaysNothing() throws IOException {
        Path file = Files.writeString(folder.resolve("plumbline.yaml"), MINIMAL);
        JsonNode effective = ReadConfig.of(file).effective();
        JsonNode site = effective.get("sites").get("a");
        int compared = 0;
        for (Map.Entry<String, Map<String, String>> section : sections().entrySet()) {
            JsonNode read =
                    switch (section.getKey()) {
                        case "The file" -> effective;
                        case "A model" -> effective.get("models").get("m");
                        case "metrics.otlp" -> effective.get("metrics").get("otlp");
                        case "A site" -> site;
                        case "A site's features" -> site.get("features");
                        case "A site's watch" -> site.get("watch");
                        case "A site's candidate" ->
                            effective.get("sites").get("named").get("candidate");
                        case "A site's downstream" ->
                            effective.get("sites").get("named").get("downstream");
                        case "A site's coverage" -> site.path("coverage");
                        case "A site's hidden_states" ->
                            effective.get("sites").get("paper").get("hidden_states");
                        case "A site's sequential" ->
                            effective.get("sites").get("paper").get("sequential");
                        case "A site's adaptation" -> adaptation(effective.get("sites"));
                        default -> effective.path(section.getKey());
                    };
            for (Map.Entry<String, String> row : section.getValue().entrySet()) {
                JsonNode value = read.path(row.getKey());
                String where = section.getKey() + ": " + row.getKey();
                if (row.getValue().startsWith("`")) {
                    assertEquals("`" + value.asText() + "`", row.getValue(), where);
                    compared++;
                } else if (row.getValue().equals("-")) {
                    assertTrue(value.isMissingNode(), where + " has a default: " + value);
                }
            }
        }
        assertTrue(compared > 30, "defaults: " + compared);
    }

    /** Returns the defaults of a site that says nothing, and those that there are with {@code profile: paper} alone. */
    private static JsonNode adaptation(JsonNode sites) {
        ObjectNode paper = sites.get("paper").get("adaptation").deepCopy();
        return paper.setAll((ObjectNode) sites.get("a").get("adaptation"));
    }

    private static Map<String, Map<String, String>> sections() throws IOException {
        Map<String, Map<String, String>> sections = new LinkedHashMap<>();
        Matcher section = SECTION.matcher(Files.readString(PAGE));
        while (section.find()) {
            Map<String, String> rows = new LinkedHashMap<>();
            Matcher row = ROW.matcher(section.group(2));
            while (row.find()) {
                rows.put(row.group(1), row.group(2).strip());
            }
            sections.put(section.group(1), rows);
        }
        return sections;
    }

    /** The keys the reader names when it meets one that it does not know. */
    private static Set<String> known(String configuration) {
        String message = String.valueOf(assertThrows(
                        ConfigException.class,
                        () -> MonitorConfig.parse(configuration, "test.yaml", Path.of("")),
                        configuration)
                .getMessage());
        Matcher list = Pattern.compile("unknown is not a known key.*\\(known here: ([^)]*)\\)")
                .matcher(message);
        assertTrue(list.find(), message);
        return Set.of(list.group(1).split(", "));
    }
}
