package io.plumbline.topology.metrics;

import com.fasterxml.jackson.databind.JsonNode;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;

/**
 * Puts the chosen values of a dashboard's variables into its texts as Grafana does with a Prometheus data source, whose
 * escaping depends on the format that is named and on whether a variable takes several values.
 */
final class GrafanaVariables {

    private static final Pattern USED = Pattern.compile("\\$\\{(\\w+)(?:\\.([^:}]+))?(?::(\\w+))?}|\\$(\\w+)");
    private static final Map<String, String> BUILT_IN =
            Map.of("__rate_interval", "5s", "__url_time_range", "from=now-6h&to=now");

    private record Variable(List<String> values, String custom, boolean several) {}

    private final Map<String, Variable> variables = new LinkedHashMap<>();
    private final Map<String, String> labels;

    /**
     * Chooses values.
     *
     * @param dashboard its JSON; a variable that is not chosen has all values, or the text that stands in it
     * @param labels of the series whose link is followed
     */
    GrafanaVariables(JsonNode dashboard, Map<String, String> chosen, Map<String, String> labels) {
        this.labels = labels;
        for (JsonNode variable : dashboard.at("/templating/list")) {
            String name = variable.get("name").asText();
            boolean all =
                    !chosen.containsKey(name) && variable.path("includeAll").asBoolean();
            variables.put(
                    name,
                    new Variable(
                            chosen.containsKey(name)
                                    ? List.of(chosen.get(name).split("\\|", -1))
                                    : List.of(variable.at("/current/value").asText()),
                            all ? variable.path("allValue").asText() : "",
                            variable.path("multi").asBoolean()
                                    || variable.path("includeAll").asBoolean()));
        }
    }

    /** Returns the text with values in place of variables. */
    String into(String text) {
        return USED.matcher(text).replaceAll(use -> Matcher.quoteReplacement(value(use.group(), use)));
    }

    private String value(String asWritten, java.util.regex.MatchResult use) {
        String name = use.group(1) == null ? use.group(4) : use.group(1);
        String format = use.group(3) == null ? "" : use.group(3);
        if (name.equals("__field")) {
            String label = labels.get(String.valueOf(use.group(2)).replace("labels.", ""));
            return label == null ? asWritten : format(format, new Variable(List.of(label), "", false), name);
        }
        Variable variable = variables.get(name);
        if (variable == null) {
            return BUILT_IN.getOrDefault(name, asWritten);
        }
        return variable.custom().isEmpty() || format.equals("queryparam")
                ? format(format, variable, name)
                : variable.custom();
    }

    private static String format(String format, Variable variable, String name) {
        List<String> values = variable.values();
        return switch (format) {
            case "raw" -> String.join(",", values);
            case "regex" ->
                group(values.stream()
                        .map(value -> value.replaceAll("[\\\\^$*+?.()|\\[\\]{}/]", "\\\\$0"))
                        .toList());
            case "percentencode" -> encoded(values.get(0));
            case "queryparam" ->
                values.stream()
                        .map(value -> "var-%s=%s"
                                .formatted(name, encoded(variable.custom().isEmpty() ? value : "$__all")))
                        .collect(Collectors.joining("&"));
            case "" ->
                variable.several()
                        ? group(values.stream()
                                .map(value ->
                                        value.replace("\\", "\\\\\\\\").replaceAll("[$^*{}\\[\\]+?.()|]", "\\\\\\\\$0"))
                                .toList())
                        : values.get(0).replace("\\", "\\\\").replace("'", "\\\\'");
            default -> throw new AssertionError("no such format is used: " + format);
        };
    }

    private static String group(List<String> values) {
        return values.size() == 1 ? values.get(0) : "(" + String.join("|", values) + ")";
    }

    private static String encoded(String value) {
        return URLEncoder.encode(value, StandardCharsets.UTF_8).replace("+", "%20");
    }
}
