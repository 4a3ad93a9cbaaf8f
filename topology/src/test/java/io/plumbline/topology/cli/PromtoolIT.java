package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What Prometheus itself says of the rules, and that their tests notice an alert that never or always fires. */
class PromtoolIT {

    private static final Path DEPLOYED = Path.of("..", "deploy", "prometheus");
    private static final String RULES = "plumbline-rules.yml";
    private static final String TESTS = "plumbline-rules-test.yml";

    private static Promtool promtool;

    @TempDir
    private Path folder;

    @BeforeAll
    static void find() {
        promtool = Promtool.ofMachine();
    }

    @Test
    void configurationAndRulesAreFineAndTheirTestsPass() throws Exception {
        for (String file : List.of(RULES, TESTS, "prometheus.yml")) {
            Files.copy(DEPLOYED.resolve(file), folder.resolve(file));
        }
        Promtool.Run config = promtool.run(folder, "", "check", "config", "prometheus.yml");
        assertEquals(0, config.exitCode(), config.output());
        Promtool.Run tests = promtool.run(folder, "", "test", "rules", TESTS);
        assertEquals(0, tests.exitCode(), tests.output());
    }

    @Test
    void everyAlertThatNeverFiresOrAlwaysFiresFailsItsTests() throws Exception {
        YAMLMapper yaml = new YAMLMapper();
        JsonNode rules = yaml.readTree(DEPLOYED.resolve(RULES).toFile());
        List<String> unnoticed = new ArrayList<>();
        int alerts = 0;
        for (JsonNode group : rules.get("groups")) {
            for (JsonNode rule : group.get("rules")) {
                if (!rule.has("alert")) {
                    continue;
                }
                alerts++;
                JsonNode expression = rule.get("expr");
                String alert = rule.get("alert").asText();
                Files.writeString(folder.resolve(TESTS), yaml.writeValueAsString(testsOf(alert, yaml)));
                for (String mutation : List.of("vector(0) > 1", "vector(1)")) {
                    ((ObjectNode) rule).put("expr", mutation);
                    if (passes(yaml, rules)) {
                        unnoticed.add(alert + " as " + mutation);
                    }
                }
                ((ObjectNode) rule).set("expr", expression);
                assertTrue(passes(yaml, rules), () -> alert + " as it was passes");
            }
        }
        assertTrue(alerts > 5, "alerts: " + alerts);
        assertEquals(List.of(), unnoticed);
    }

    /** The groups of tests that speak of the alert: all of them for each would take minutes. */
    private static JsonNode testsOf(String alert, YAMLMapper yaml) throws IOException {
        ObjectNode tests = (ObjectNode) yaml.readTree(DEPLOYED.resolve(TESTS).toFile());
        ArrayNode some = yaml.createArrayNode();
        for (JsonNode test : tests.get("tests")) {
            if (test.findValuesAsText("alertname").contains(alert)) {
                some.add(test);
            }
        }
        tests.set("tests", some);
        return tests;
    }

    private boolean passes(YAMLMapper yaml, JsonNode rules) throws IOException, InterruptedException {
        Files.writeString(folder.resolve(RULES), yaml.writeValueAsString(rules));
        return promtool.run(folder, "", "test", "rules", TESTS).exitCode() == 0;
    }

    @Test
    void aMistakeIsSeen() throws Exception {
        assertNotEquals(
                0, promtool.run(folder, "plumbline_x 1", "check", "metrics").exitCode(), "no help text");
    }
}
