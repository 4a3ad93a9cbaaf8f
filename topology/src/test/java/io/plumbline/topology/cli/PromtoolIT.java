package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.node.ArrayNode;
import com.fasterxml.jackson.databind.node.ObjectNode;
import com.fasterxml.jackson.dataformat.yaml.YAMLMapper;
import io.plumbline.topology.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests what Prometheus itself says of the rules and of queries on pages, and that the rules' tests notice an alert
 * that never or always fires.
 */
class PromtoolIT {

    private static final Path DEPLOYED = Repository.path("deploy", "prometheus");
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
    void everyRuleThatNeverFiresOrAlwaysFiresOrRecordsSomethingElseFailsItsTests() throws Exception {
        YAMLMapper yaml = new YAMLMapper();
        JsonNode rules = yaml.readTree(DEPLOYED.resolve(RULES).toFile());
        List<String> unnoticed = new ArrayList<>();
        int count = 0;
        for (JsonNode group : rules.get("groups")) {
            for (JsonNode rule : group.get("rules")) {
                count++;
                boolean alerts = rule.has("alert");
                String name = rule.get(alerts ? "alert" : "record").asText();
                JsonNode tests = testsOf(name, yaml);
                // They pass with the rule as it is: the tests of all rules do.
                assertFalse(tests.get("tests").isEmpty(), () -> "no test of " + name);
                Files.writeString(folder.resolve(TESTS), yaml.writeValueAsString(tests));
                for (String mutation : List.of("vector(0) > 1", "vector(1)")) {
                    if (passes(yaml, only(name, mutation, yaml))) {
                        unnoticed.add(name + " as " + mutation);
                    }
                }
            }
        }
        assertTrue(count > 20, "rules: " + count);
        assertEquals(List.of(), unnoticed);
    }

    /**
     * Returns the tests that speak of the rule, and of them what they say of it: all of them for each would take
     * minutes.
     */
    private static JsonNode testsOf(String name, YAMLMapper yaml) throws IOException {
        ObjectNode tests = (ObjectNode) yaml.readTree(DEPLOYED.resolve(TESTS).toFile());
        ArrayNode some = yaml.createArrayNode();
        for (JsonNode test : tests.get("tests")) {
            keep((ObjectNode) test, "alert_rule_test", "alertname", name);
            keep((ObjectNode) test, "promql_expr_test", "expr", name);
            if (!test.path("alert_rule_test").isEmpty()
                    || !test.path("promql_expr_test").isEmpty()) {
                some.add(test);
            }
        }
        tests.set("tests", some);
        return tests;
    }

    private static void keep(ObjectNode test, String list, String field, String value) {
        if (test.has(list)) {
            ArrayNode kept = test.arrayNode();
            test.get(list).forEach(claim -> {
                if (claim.get(field).asText().equals(value)) {
                    kept.add(claim);
                }
            });
            test.set(list, kept);
        }
    }

    /** The rule with another expression, and what is recorded for it. */
    private static JsonNode only(String name, String expression, YAMLMapper yaml) throws IOException {
        JsonNode rules = yaml.readTree(DEPLOYED.resolve(RULES).toFile());
        for (JsonNode group : rules.get("groups")) {
            ArrayNode kept = yaml.createArrayNode();
            for (JsonNode rule : group.get("rules")) {
                boolean isIt =
                        rule.path("alert").asText(rule.path("record").asText()).equals(name);
                if (isIt) {
                    kept.add(((ObjectNode) rule).put("expr", expression));
                } else if (rule.has("record")) {
                    kept.add(rule);
                }
            }
            ((ObjectNode) group).set("rules", kept);
        }
        return rules;
    }

    private boolean passes(YAMLMapper yaml, JsonNode rules) throws IOException, InterruptedException {
        Files.writeString(folder.resolve(RULES), yaml.writeValueAsString(rules));
        return promtool.run(folder, "", "test", "rules", TESTS).exitCode() == 0;
    }

    @Test
    void everyQueryOnAPageParses() throws Exception {
        List<String> wrong = new ArrayList<>();
        int count = 0;
        for (Markdown page : Markdown.all()) {
            for (Markdown.Block block : page.blocks("promql")) {
                for (String query : block.code().lines().toList()) {
                    count++;
                    if (!parses(query.strip())) {
                        wrong.add(page.name() + ": " + query);
                    }
                }
            }
        }
        assertTrue(count > 20, "queries: " + count);
        assertEquals(List.of(), wrong);
    }

    private boolean parses(String query) throws IOException, InterruptedException {
        YAMLMapper yaml = new YAMLMapper();
        ObjectNode rules = yaml.createObjectNode();
        ObjectNode group = rules.putArray("groups").addObject().put("name", "page");
        group.putArray("rules").addObject().put("record", "page:query").put("expr", query);
        Files.writeString(folder.resolve(RULES), yaml.writeValueAsString(rules));
        return promtool.run(folder, "", "check", "rules", RULES).exitCode() == 0;
    }

    @Test
    void aMistakeIsSeen() throws Exception {
        assertFalse(parses("sum by (site) plumbline_rows_total["), "no query");
        assertNotEquals(
                0, promtool.run(folder, "plumbline_x 1", "check", "metrics").exitCode(), "no help text");
    }
}
