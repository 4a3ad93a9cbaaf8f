package io.plumbline.topology.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import java.io.IOException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/** Queries name metrics and labels; a rename in the code must fail here and not in someone's alert that stays silent. */
class DashboardsAndRulesTest {
    private static final Pattern SELECTOR =
            Pattern.compile("((?:plumbline|kafka|jvm|process|system)_[a-z0-9_]+)\\{([^}]*)}");
    private static final Pattern LABEL = Pattern.compile("([a-z_]+)\\s*(?:=~|!=|!~|=)");

    @Test
    void everyPanelQueriesOnlyExportedMetricsByTheirLabelsAndHasATitleADescriptionAndAnIdOfItsOwn() throws IOException {
        JsonNode dashboard = new ObjectMapper().readTree(ExportedMetrics.read("grafana/plumbline-site.json"));
        Set<Integer> ids = new HashSet<>();
        for (JsonNode panel : dashboard.get("panels")) {
            String title = panel.get("title").asText();
            assertTrue(ids.add(panel.get("id").asInt()), "the id of panel \"" + title + "\" is taken");
            assertFalse(panel.get("description").asText().isBlank(), title + " has no description");
            assertFalse(panel.get("targets").isEmpty(), title + " has no query");
            for (JsonNode target : panel.get("targets")) {
                String query = target.get("expr").asText();
                assertTrue(query.contains("site=\"$site\""), title + " is not of the chosen site: " + query);
                checkQuery(title, query);
            }
        }
        assertTrue(ids.size() >= 10, "panels: " + ids.size());
        dashboard
                .get("annotations")
                .get("list")
                .forEach(note -> checkQuery("annotation", note.get("expr").asText()));
        Set<String> variables = new TreeSet<>(Set.of("__rate_interval"));
        for (JsonNode variable : dashboard.get("templating").get("list")) {
            variables.add(variable.get("name").asText());
            if (variable.get("type").asText().equals("query")) {
                checkQuery("variable", variable.get("definition").asText());
            }
        }
        Matcher used = Pattern.compile("\\$\\{?([a-zA-Z_]+)").matcher(dashboard.toString());
        while (used.find()) {
            assertTrue(variables.contains(used.group(1)), "unknown variable $" + used.group(1));
        }
    }

    @Test
    void everyRuleQueriesOnlyExportedMetricsByTheirLabels() throws IOException {
        for (JsonNode rule : rules()) {
            checkQuery(rule.get("alert").asText(), rule.get("expr").asText());
            rule.get("annotations").forEach(annotation -> checkQuery("annotation", annotation.asText()));
        }
    }

    @Test
    void everyAlertHasAParagraphInTheRunbookAndBothKindsOfTests() throws IOException {
        String runbook = ExportedMetrics.read("deploy/RUNBOOK.md");
        JsonNode tests = yaml("deploy/prometheus/plumbline-rules-test.yml");
        Set<String> alerts = new TreeSet<>();
        for (JsonNode rule : rules()) {
            String alert = rule.get("alert").asText();
            alerts.add(alert);
            assertTrue(runbook.contains("\n## " + alert + "\n"), alert + " has no paragraph in deploy/RUNBOOK.md");
            assertEquals(
                    "RUNBOOK.md#" + alert.toLowerCase(Locale.ROOT),
                    rule.get("annotations").get("runbook_url").asText());
            List<Boolean> silent = new ArrayList<>();
            for (JsonNode test : tests.get("tests")) {
                for (JsonNode claim : test.get("alert_rule_test")) {
                    if (claim.get("alertname").asText().equals(alert)) {
                        silent.add(claim.get("exp_alerts").isEmpty());
                    }
                }
            }
            assertTrue(
                    silent.contains(true) && silent.contains(false),
                    alert + " is not tested for firing and for silence");
        }
        Matcher heading = Pattern.compile("(?m)^## (Plumbline\\w+)$").matcher(runbook);
        while (heading.find()) {
            assertTrue(
                    alerts.contains(heading.group(1)),
                    "the runbook speaks of " + heading.group(1) + ", which is no alert");
        }
    }

    @Test
    void theInputsOfTheRuleTestsAreExportedMetrics() throws IOException {
        for (JsonNode test : yaml("deploy/prometheus/plumbline-rules-test.yml").get("tests")) {
            test.get("input_series")
                    .forEach(series -> checkQuery(
                            test.get("name").asText(), series.get("series").asText()));
        }
    }

    @Test
    void theDashboardShowsWhatASiteIsJudgedBy() {
        Set<String> shown = ExportedMetrics.namesIn(ExportedMetrics.read("grafana/plumbline-site.json"));
        for (WindowMetric essential : List.of(
                WindowMetric.FAITHFULNESS_GAP,
                WindowMetric.THRESHOLD,
                WindowMetric.GAP_BOUND,
                WindowMetric.GAP_SHARE,
                WindowMetric.VERDICT,
                WindowMetric.FVU,
                WindowMetric.SECOND_MOMENT_RELATIVE_SHIFT,
                WindowMetric.ROWS,
                WindowMetric.DECODER_VERSION)) {
            assertTrue(shown.contains(essential.metricName()), essential.metricName());
        }
    }

    private static void checkQuery(String where, String query) {
        Set<String> exported = ExportedMetrics.queryable();
        for (String name : ExportedMetrics.namesIn(query)) {
            assertTrue(exported.contains(name), where + ": " + name + " is not in deploy/METRICS.md");
        }
        Map<String, ExportedMetrics.Documented> table = ExportedMetrics.table();
        Matcher selector = SELECTOR.matcher(query);
        while (selector.find()) {
            String family = table.containsKey(selector.group(1))
                    ? selector.group(1)
                    : selector.group(1).replaceFirst("_(bucket|sum|count)$", "");
            Matcher label = LABEL.matcher(selector.group(2));
            while (label.find()) {
                assertTrue(
                        label.group(1).equals("instance") // of the scrape, not of the metric
                                || Objects.requireNonNull(table.get(family), family)
                                        .labels()
                                        .contains(label.group(1)),
                        where + ": " + family + " has no label " + label.group(1));
            }
        }
    }

    private static List<JsonNode> rules() throws IOException {
        List<JsonNode> rules = new ArrayList<>();
        for (JsonNode group : yaml("deploy/prometheus/plumbline-rules.yml").get("groups")) {
            group.get("rules").forEach(rules::add);
        }
        assertFalse(rules.isEmpty());
        return rules;
    }

    private static JsonNode yaml(String file) throws IOException {
        return new ObjectMapper(new YAMLFactory()).readTree(ExportedMetrics.read(file));
    }
}
