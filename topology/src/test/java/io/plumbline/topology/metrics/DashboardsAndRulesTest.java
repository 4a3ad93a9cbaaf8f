package io.plumbline.topology.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import io.plumbline.geometry.Statistic;
import io.plumbline.topology.report.WindowMetric;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.junit.jupiter.api.Test;

/**
 * Tests that queries name metrics and labels that there are: a rename in the code must fail here and not in someone's
 * alert that stays silent.
 */
class DashboardsAndRulesTest {
    private static final Pattern SELECTOR =
            Pattern.compile("((?:plumbline|kafka|jvm|process|system)_[a-z0-9_]+)\\{([^}]*)}");
    private static final Pattern RECORDED = Pattern.compile("\\b[a-z]+:plumbline_[a-z0-9_]+:[a-z0-9_]+");
    private static final Set<String> RECORDED_NAMES = recordedNames();
    private static final Set<String> SCRAPE_LABELS = Set.of("cluster", "namespace", "job", "instance");

    /** Matches an aggregation that drops the labels of installations, and a match of series that ignores them. */
    private static final Pattern MIXING =
            Pattern.compile("\\b(?:max|min|sum|count|avg|group)\\b(?= *(?:by )?\\()(?! by \\(cluster, namespace)"
                    + "|\\bon \\((?!cluster, namespace)");

    private static final String CHOSEN = "cluster=~\"$cluster\",namespace=~\"$namespace\",job=~\"$job\"";
    private static final Pattern RUNBOOK_ENTRY = Pattern.compile("(?ms)^## (Plumbline\\w+)$(.*?)(?=^## |\\z)");
    /** Begins a selector or follows a comma: a value may have a {@code =} in it. */
    private static final Pattern LABEL = Pattern.compile("(?:^|,)\\s*([a-z_]+)\\s*(?:=~|!=|!~|=)");

    @Test
    void everyDashboardIsWellFormedAndQueriesOnlyExportedMetricsByTheirLabels() throws IOException {
        List<Dashboard> dashboards = Dashboard.all();
        assertEquals(
                List.of("plumbline-fleet.json", "plumbline-pipeline.json", "plumbline-site.json"),
                dashboards.stream().map(Dashboard::file).toList());
        for (Dashboard dashboard : dashboards) {
            assertEquals(List.of(), problems(dashboard), dashboard.file());
            List<Dashboard.Query> queries = new ArrayList<>(dashboard.panelQueries());
            queries.addAll(dashboard.annotations());
            for (Dashboard.Query query : queries) {
                checkQuery(query.where(), query.expression());
                keepsInstallations(query.where(), query.expression());
                int selectors = ExportedMetrics.namesIn(query.expression()).size();
                assertTrue(
                        query.expression().split(Pattern.quote(CHOSEN), -1).length > selectors,
                        query.where() + " is not of the chosen installation: " + query.expression());
            }
            dashboard.variableQueries().forEach((name, query) -> checkQuery("variable " + name, query));
        }
        for (Dashboard.Query query : dashboards.get(2).panelQueries()) {
            assertTrue(
                    query.expression().contains("site=`${site:raw}`")
                            || query.expression().contains("site=~`${site:regex}/targets[.].+`"),
                    query.where() + " is not of the chosen site: " + query.expression());
        }
    }

    @Test
    void aDashboardOfSchemaV2AsksWhatTheClassicOneAsks() throws IOException {
        for (Dashboard dashboard : Dashboard.all()) {
            JsonNode spec = new ObjectMapper()
                    .readTree(ExportedMetrics.read("grafana/v2/" + dashboard.file()))
                    .get("spec");
            List<String> asked = new ArrayList<>();
            List<String> places = new ArrayList<>();
            for (JsonNode item : spec.at("/layout/spec/items")) {
                JsonNode place = item.get("spec");
                JsonNode panel = spec.at(
                        "/elements/%s/spec".formatted(place.at("/element/name").asText()));
                places.add("%s at %s,%s".formatted(panel.get("title").asText(), place.get("x"), place.get("y")));
                for (JsonNode query : panel.at("/data/spec/queries")) {
                    asked.add(query.at("/spec/query/spec/expr").asText());
                }
            }
            List<String> variables = new ArrayList<>();
            spec.get("variables")
                    .forEach(variable -> variables.add(variable.at("/spec/name").asText()));
            List<String> classic = new ArrayList<>();
            dashboard
                    .json()
                    .at("/templating/list")
                    .forEach(variable -> classic.add(variable.get("name").asText()));
            assertEquals(classic, variables);
            assertEquals(
                    dashboard.panelQueries().stream()
                            .map(Dashboard.Query::expression)
                            .toList(),
                    asked);
            List<String> panels = new ArrayList<>();
            dashboard
                    .json()
                    .get("panels")
                    .forEach(panel -> panels.add("%s at %s,%s"
                            .formatted(panel.get("title").asText(), panel.at("/gridPos/x"), panel.at("/gridPos/y"))));
            assertEquals(panels, places);
            assertEquals(dashboard.annotations().size(), spec.get("annotations").size());
        }
    }

    @Test
    void whatIsWrongWithADashboardIsSaid() throws IOException {
        String text = ExportedMetrics.read("grafana/plumbline-fleet.json");
        Map<String, String> mutations = new LinkedHashMap<>();
        mutations.put("\"id\": 2,|\"id\": 1,", "its id is taken");
        mutations.put("\"x\": 4,|\"x\": 3,", "overlaps \"Sites that are drifted\"");
        mutations.put("\"x\": 20,|\"x\": 21,", "outside of the grid");
        mutations.put("\\$\\{site:|\\${sites:", "unknown variable $sites");
        mutations.put("\"\\$\\{datasource}\"|\"P1809F7CD0C75ACF3\"", "a data source that is not the variable");
        mutations.put("How many sites are drifted now.|", "no description");
        mutations.put("#plumblinenowindows|#plumblinenowindow", "neither an alert of the runbook");
        mutations.put("/d/plumbline-site|/d/plumbline-sites", "nor a dashboard");
        mutations.put("\"unit\": \"s\",|", "no unit");
        mutations.put("\"editable\": false|\"editable\": true", "it is editable");
        mutations.put("\"allValue\": \".[+]\"|\"allValue\": \".*\"", "variable job does not take");
        mutations.put("\"refresh\": 2|\"refresh\": 1", "is not read anew");
        mutations.forEach((mutation, sentence) -> {
            int cut = mutation.indexOf('|');
            String mutated = text.replaceFirst(mutation.substring(0, cut), mutation.substring(cut + 1));
            assertNotEquals(text, mutated, mutation);
            List<String> problems = problemsOf(mutated);
            assertTrue(
                    problems.stream().anyMatch(problem -> problem.contains(sentence)),
                    () -> mutation + ": " + problems);
        });
    }

    private static List<String> problemsOf(String text) {
        try {
            return problems(Dashboard.parse("mutated", text));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<String> problems(Dashboard dashboard) throws IOException {
        Set<String> alerts = new TreeSet<>();
        for (JsonNode alert : alerts()) {
            alerts.add(alert.get("alert").asText().toLowerCase(Locale.ROOT));
        }
        Set<String> uids = new TreeSet<>();
        for (Dashboard one : Dashboard.all()) {
            uids.add(one.json().get("uid").asText());
        }
        return dashboard.problems(alerts, uids);
    }

    @Test
    void everyRuleQueriesOnlyExportedMetricsByTheirLabels() throws IOException {
        for (JsonNode rule : rules()) {
            checkQuery(nameOf(rule), rule.get("expr").asText());
            keepsInstallations(nameOf(rule), rule.get("expr").asText());
            rule.path("annotations").forEach(annotation -> checkQuery("annotation", annotation.asText()));
        }
    }

    /** Pyrra reads the first document of a file, and puts its own label {@code slo} beside those of the metric. */
    @Test
    void everyObjectiveIsAnInputOfPyrraAndOfSloth() throws IOException {
        Set<String> objectives = new TreeSet<>();
        for (JsonNode rule : rules()) {
            JsonNode labels = rule.path("labels");
            assertFalse(labels.has("slo"), nameOf(rule));
            if (labels.has("objective")) {
                objectives.add(labels.get("objective").asText());
            }
        }
        assertEquals(3, objectives.size(), objectives.toString());
        Set<String> sloth = new TreeSet<>();
        yaml("deploy/prometheus/slo/sloth.yml")
                .get("slos")
                .forEach(one -> sloth.add(one.get("name").asText()));
        assertEquals(objectives, sloth);
        for (String objective : objectives) {
            String file = "deploy/prometheus/slo/pyrra/%s.yml".formatted(objective.replace('_', '-'));
            assertFalse(ExportedMetrics.read(file).contains("\n---"), file);
            assertEquals(
                    "slo:plumbline_good:bool{objective=\"%s\"}".formatted(objective),
                    yaml(file).at("/spec/indicator/bool_gauge/metric").asText());
        }
    }

    @Test
    void everyAlertHasAnEntryInTheRunbookAndBothKindsOfTests() throws IOException {
        String runbook = ExportedMetrics.read("docs/operate/runbook.md");
        JsonNode tests = yaml("deploy/prometheus/plumbline-rules-test.yml");
        Set<String> alerts = new TreeSet<>();
        for (JsonNode rule : alerts()) {
            String alert = rule.get("alert").asText();
            alerts.add(alert);
            assertTrue(runbook.contains("\n## " + alert + "\n"), alert + " has no entry in docs/operate/runbook.md");
            assertEquals(
                    "docs/operate/runbook.md#" + alert.toLowerCase(Locale.ROOT),
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
    void theRunbookHasFourPointsAnAlertInAtMost15Lines() {
        Matcher entry = RUNBOOK_ENTRY.matcher(ExportedMetrics.read("docs/operate/runbook.md"));
        int entries = 0;
        while (entry.find()) {
            entries++;
            String text = entry.group(2).strip();
            assertTrue(
                    text.lines().count() <= 15,
                    entry.group(1) + " takes " + text.lines().count() + " lines");
            List<String> points = Pattern.compile("(?m)^\\* \\*\\*(.*?):\\*\\*")
                    .matcher(text)
                    .results()
                    .map(point -> point.group(1))
                    .toList();
            assertEquals(List.of("Means", "Look first", "Do", "Ignore"), points, entry.group(1));
            assertTrue(text.contains("```"), entry.group(1) + " has no query and no command to paste");
        }
        assertTrue(entries > 20, "entries: " + entries);
    }

    @Test
    void theRunbookQueriesOnlyExportedMetricsByTheirLabels() {
        Matcher block = Pattern.compile("(?ms)^ *```promql$(.*?)^ *```$")
                .matcher(ExportedMetrics.read("docs/operate/runbook.md"));
        int blocks = 0;
        while (block.find()) {
            blocks++;
            checkQuery("the runbook", block.group(1));
            keepsInstallations("the runbook", block.group(1));
        }
        assertTrue(blocks > 10, "blocks: " + blocks);
    }

    @Test
    void alertmanagerNamesOnlyAlertsThatExist() throws IOException {
        Set<String> alerts = new TreeSet<>();
        for (JsonNode alert : alerts()) {
            alerts.add(alert.get("alert").asText());
        }
        JsonNode rules = yaml("deploy/prometheus/alertmanager.yml").get("inhibit_rules");
        assertTrue(rules.size() >= 5, "inhibitions: " + rules.size());
        Matcher name = Pattern.compile("Plumbline\\w+").matcher(rules.toString());
        while (name.find()) {
            assertTrue(alerts.contains(name.group()), name.group() + " is no alert");
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
                WindowMetric.of(Statistic.FAITHFULNESS_GAP),
                WindowMetric.THRESHOLD,
                WindowMetric.GAP_BOUND,
                WindowMetric.of(Statistic.GAP_SHARE),
                WindowMetric.VERDICT,
                WindowMetric.FVU,
                WindowMetric.of(Statistic.SECOND_MOMENT_SHIFT_RATIO),
                WindowMetric.ROWS,
                WindowMetric.DECODER_VERSION)) {
            assertTrue(shown.contains(essential.metricName()), essential.metricName());
        }
    }

    private static void keepsInstallations(String where, String query) {
        Matcher mixing = MIXING.matcher(query);
        assertFalse(mixing.find(), () -> where + " mixes installations: " + query);
    }

    @Test
    void aLinkLeadsToTheSiteThatWasClickedWhateverItIsCalled() throws IOException {
        String site = "a/b.c&d #7 \"it's\" 100%";
        JsonNode fleet = Dashboard.all().get(0).json();
        int links = 0;
        for (JsonNode url : fleet.findValues("url")) {
            if (url.asText().startsWith("/d/")) {
                links++;
                GrafanaVariables variables =
                        new GrafanaVariables(fleet, Map.of(), Map.of("site", site, "job", "j.1/x"));
                String query = URI.create(variables.into(url.asText())).getQuery();
                assertTrue(query.contains("&var-site=" + site + "&"), query);
                assertTrue(query.contains("&var-cluster=$__all&var-namespace=$__all&var-job=j.1/x&"), query);
            }
        }
        assertTrue(links > 5, "links: " + links);
    }

    private static void checkQuery(String where, String query) {
        Set<String> exported = ExportedMetrics.queryable();
        for (String name : ExportedMetrics.namesIn(query)) {
            assertTrue(exported.contains(name), where + ": " + name + " is not in docs/operate/metrics.md");
        }
        Matcher recorded = RECORDED.matcher(query);
        while (recorded.find()) {
            assertTrue(RECORDED_NAMES.contains(recorded.group()), where + ": no rule records " + recorded.group());
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
                        SCRAPE_LABELS.contains(label.group(1))
                                || (label.group(1).equals("le") && !family.equals(selector.group(1)))
                                || Objects.requireNonNull(table.get(family), family)
                                        .labels()
                                        .contains(label.group(1)),
                        where + ": " + family + " has no label " + label.group(1));
            }
        }
    }

    private static String nameOf(JsonNode rule) {
        return rule.path("alert").asText(rule.path("record").asText());
    }

    private static Set<String> recordedNames() {
        try {
            Set<String> names = new TreeSet<>();
            for (JsonNode rule : rules()) {
                if (rule.has("record")) {
                    names.add(rule.get("record").asText());
                }
            }
            return names;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static List<JsonNode> alerts() throws IOException {
        return rules().stream().filter(rule -> rule.has("alert")).toList();
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
