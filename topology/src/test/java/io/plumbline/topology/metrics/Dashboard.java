package io.plumbline.topology.metrics;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.topology.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;

/** Reads a dashboard as the files of {@code grafana/} describe it. */
record Dashboard(String file, JsonNode json) {

    private static final int GRID = 24;
    private static final Pattern VARIABLE = Pattern.compile("\\$\\{?([a-zA-Z_]+)");
    private static final Pattern CONSOLE =
            Pattern.compile("\\$\\{console}(#/site/\\$\\{(site|__field\\.labels\\.site):percentencode})?");
    private static final Pattern LEGEND_LABEL = Pattern.compile("\\{\\{\\s*([a-z_]+)\\s*}}");

    /** The variables of Grafana itself that are used. */
    private static final Set<String> BUILT_IN = Set.of("__all", "__rate_interval", "__field", "__url_time_range");

    /** A query with what is written beside its line; {@code legend} may name labels in double braces. */
    record Query(String where, String expression, String legend) {
        Set<String> labels() {
            Set<String> labels = new TreeSet<>();
            Matcher label = LEGEND_LABEL.matcher(legend);
            while (label.find()) {
                labels.add(label.group(1));
            }
            return labels;
        }
    }

    static List<Dashboard> all() throws IOException {
        List<Dashboard> all = new ArrayList<>();
        try (Stream<Path> files = Files.list(Repository.ROOT.resolve("grafana"))) {
            for (Path file : files.filter(path -> path.toString().endsWith(".json"))
                    .sorted()
                    .toList()) {
                all.add(parse(String.valueOf(file.getFileName()), Files.readString(file)));
            }
        }
        return all;
    }

    static Dashboard parse(String file, String text) throws IOException {
        return new Dashboard(file, new ObjectMapper().readTree(text));
    }

    /** Returns the queries of every panel. */
    List<Query> panelQueries() {
        List<Query> queries = new ArrayList<>();
        for (JsonNode panel : json.get("panels")) {
            for (JsonNode target : panel.get("targets")) {
                queries.add(new Query(
                        "%s, panel \"%s\", %s"
                                .formatted(
                                        file,
                                        panel.get("title").asText(),
                                        target.get("refId").asText()),
                        target.get("expr").asText(),
                        target.get("legendFormat").asText()));
            }
        }
        return queries;
    }

    List<Query> annotations() {
        List<Query> queries = new ArrayList<>();
        for (JsonNode note : json.get("annotations").get("list")) {
            queries.add(new Query(
                    "%s, annotation \"%s\"".formatted(file, note.get("name").asText()),
                    note.get("expr").asText(),
                    "%s {{%s}}"
                            .formatted(
                                    note.get("titleFormat").asText(),
                                    note.get("tagKeys").asText())));
        }
        return queries;
    }

    /** Returns the queries of its variables, by name: {@code label_values(selector, label)}. */
    TreeMap<String, String> variableQueries() {
        TreeMap<String, String> queries = new TreeMap<>();
        for (JsonNode variable : json.get("templating").get("list")) {
            if (variable.get("type").asText().equals("query")) {
                queries.put(
                        variable.get("name").asText(),
                        variable.get("query").get("query").asText());
            }
        }
        return queries;
    }

    /** Everything that is wrong with it before any query is asked, as sentences. */
    List<String> problems(Set<String> alerts, Set<String> dashboards) {
        List<String> problems = new ArrayList<>();
        Set<Integer> ids = new HashSet<>();
        List<JsonNode> seen = new ArrayList<>();
        for (JsonNode panel : json.get("panels")) {
            String title = "panel \"%s\"".formatted(panel.path("title").asText());
            if (!ids.add(panel.path("id").asInt())) {
                problems.add(title + ": its id is taken");
            }
            if (panel.path("description").asText().isBlank()) {
                problems.add(title + ": no description");
            }
            if (panel.path("targets").isEmpty()) {
                problems.add(title + ": no query");
            }
            if (panel.at("/fieldConfig/defaults/unit").asText().isEmpty()) {
                problems.add(title + ": no unit");
            }
            JsonNode place = panel.get("gridPos");
            if (place.get("x").asInt() < 0
                    || place.get("x").asInt() + place.get("w").asInt() > GRID) {
                problems.add(title + ": outside of the grid");
            }
            for (JsonNode other : seen) {
                if (overlap(place, other.get("gridPos"))) {
                    problems.add(title + ": overlaps \"" + other.path("title").asText() + "\"");
                }
            }
            seen.add(panel);
        }
        if (ids.size() < 10) {
            problems.add("only %d panels".formatted(ids.size()));
        }
        for (JsonNode source : json.findValues("datasource")) {
            if (!source.path("uid").asText().equals("${datasource}")) {
                problems.add("a data source that is not the variable: " + source);
            }
        }
        if (json.path("editable").asBoolean(true)) {
            problems.add("it is editable, and a change would be lost with the next start");
        }
        for (JsonNode variable : json.at("/templating/list")) {
            String name = variable.get("name").asText();
            if (variable.path("type").asText().equals("query")
                    && variable.path("refresh").asInt() != 2) {
                problems.add("variable " + name + " is not read anew when the time range changes");
            }
            if (List.of("job", "instance").contains(name)
                    && !(variable.path("multi").asBoolean()
                            && variable.path("allValue").asText().equals(".+"))) {
                problems.add("variable " + name + " does not take several values, or all of them by .+");
            }
        }
        Set<String> variables = new TreeSet<>(BUILT_IN);
        json.at("/templating/list")
                .forEach(variable -> variables.add(variable.get("name").asText()));
        Matcher used = VARIABLE.matcher(json.toString());
        while (used.find()) {
            if (!variables.contains(used.group(1))) {
                problems.add("unknown variable $" + used.group(1));
            }
        }
        checkLinks(alerts, dashboards, problems);
        return problems;
    }

    private void checkLinks(Set<String> alerts, Set<String> dashboards, List<String> problems) {
        Set<String> kinds = new TreeSet<>();
        json.get("links").forEach(link -> kinds.add(link.get("type").asText()));
        if (!kinds.equals(Set.of("dashboards", "link"))) {
            problems.add("it links to %s, expected the other dashboards, the runbook and the console".formatted(kinds));
        }
        for (JsonNode url : json.findValues("url")) {
            String text = url.asText();
            Matcher anchor = Pattern.compile("\\$\\{runbook}#(\\w+)").matcher(text);
            Matcher dashboard = Pattern.compile("/d/([a-z-]+).*").matcher(text);
            boolean known = text.equals("${runbook}")
                    || CONSOLE.matcher(text).matches()
                    || (anchor.matches() && alerts.contains(anchor.group(1)))
                    || (dashboard.matches() && dashboards.contains(dashboard.group(1)));
            if (!known) {
                problems.add("a link to " + text
                        + ", which is neither an alert of the runbook nor a dashboard nor the console");
            }
        }
    }

    private static boolean overlap(JsonNode one, JsonNode other) {
        return spans(one, "x", "w", other) && spans(one, "y", "h", other);
    }

    private static boolean spans(JsonNode one, String start, String length, JsonNode other) {
        return one.get(start).asInt()
                        < other.get(start).asInt() + other.get(length).asInt()
                && other.get(start).asInt()
                        < one.get(start).asInt() + one.get(length).asInt();
    }
}
