package io.plumbline.topology.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.dataformat.yaml.YAMLFactory;
import io.plumbline.geometry.Statistic;
import io.plumbline.topology.Repository;
import io.plumbline.topology.report.WindowMetric;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/**
 * Holds the tables of Plumbline's own metrics in docs/operate/metrics.md to a scrape and to the alert rules. With
 * {@code -Dplumbline.write.documents=true} it writes them anew.
 */
class MetricsReferenceTest {

    private static final String PAGE = "docs/operate/metrics.md";
    private static final String RULES = "deploy/prometheus/plumbline-rules.yml";
    private static final String HEAD = "| name | type | labels | meaning |\n|---|---|---|---|\n";
    private static final Pattern SERIES = Pattern.compile("(?m)^([a-z0-9_]+)(?:\\{(.*)})? \\S+$");

    /** Holds the lines of a scrape about one metric. */
    private record Exported(String type, String help, Set<String> labels) {}

    @Test
    void theTablesAreThoseOfAScrape() throws IOException {
        Map<String, Exported> scrape = scrape();
        List<String> ofWindows =
                WindowMetric.all().stream().map(WindowMetric::metricName).toList();
        List<String> ofProcess = scrape.keySet().stream()
                .filter(name -> name.startsWith("plumbline_") && !ofWindows.contains(name))
                .toList();
        String text = ExportedMetrics.read(PAGE);
        String expected = with(with(text, "windows", table(ofWindows, scrape)), "process", table(ofProcess, scrape));
        if (Boolean.getBoolean("plumbline.write.documents")) {
            Files.writeString(Repository.ROOT.resolve(PAGE), expected);
        } else {
            assertEquals(expected, text, "run this test with -Dplumbline.write.documents=true and commit the page");
        }
    }

    private static String with(String page, String name, String table) {
        return Repository.withTable(page, name, MetricsReferenceTest.class, table);
    }

    private static String table(List<String> names, Map<String, Exported> scrape) throws IOException {
        Map<String, Set<String>> alerts = alerts();
        StringBuilder table = new StringBuilder(HEAD);
        for (String name : names) {
            Exported metric = scrape.get(name);
            if (metric == null) {
                throw new AssertionError(name + " is exported by nothing that this test does");
            }
            String labels = metric.labels().stream().map("`%s`"::formatted).collect(Collectors.joining(", "));
            Set<String> using = alerts.getOrDefault(name, Set.of());
            table.append("| `%s` | %s | %s | %s%s%s |%n"
                    .formatted(
                            name,
                            metric.type(),
                            labels.isEmpty() ? "-" : labels,
                            metric.help(),
                            unit(name),
                            using.isEmpty() ? "" : " (%s)".formatted(String.join(", ", using))));
        }
        return table.toString();
    }

    /** Returns the unit where the end of the name does not say it. */
    private static String unit(String name) {
        return Statistic.shown().stream()
                .filter(statistic -> statistic.series().metric().equals(name) && !name.endsWith("_ratio"))
                .map(Statistic::unit)
                .filter(unit -> !unit.isEmpty())
                .findFirst()
                .map(unit -> "; in " + unit)
                .orElse("");
    }

    /**
     * Returns the alerts by the metrics that their expressions use, through recorded rules too. Nearly all use
     * {@code plumbline_build_info}, to know which installations there are: it has none of its own.
     */
    private static Map<String, Set<String>> alerts() throws IOException {
        List<JsonNode> rules = new ArrayList<>();
        new ObjectMapper(new YAMLFactory())
                .readTree(ExportedMetrics.read(RULES))
                .get("groups")
                .forEach(group -> group.get("rules").forEach(rules::add));
        Map<String, Set<String>> recorded = new TreeMap<>();
        Map<String, Set<String>> alerts = new TreeMap<>();
        for (JsonNode rule : rules) {
            String expression = rule.get("expr").asText();
            Set<String> names = ExportedMetrics.namesIn(expression);
            recorded.forEach((record, through) -> {
                if (Pattern.compile("(?<![\\w:])" + record + "(?![\\w:])")
                        .matcher(expression)
                        .find()) {
                    names.addAll(through);
                }
            });
            if (rule.has("record")) {
                recorded.put(rule.get("record").asText(), names);
            } else {
                for (String name : names) {
                    String family = name.replaceFirst("_(bucket|sum|count)$", "");
                    alerts.computeIfAbsent(family, used -> new TreeSet<>())
                            .add(rule.get("alert").asText());
                }
            }
        }
        alerts.remove("plumbline_build_info");
        return alerts;
    }

    private static Map<String, Exported> scrape() throws IOException {
        String text;
        try (Metrics metrics = Metrics.create(new Metrics.Settings(Duration.ofMinutes(15), 256))) {
            ExportedMetrics.exercise(metrics);
            ByteArrayOutputStream bytes = new ByteArrayOutputStream();
            PrometheusTextFormatWriter.create().write(bytes, metrics.scrape());
            text = bytes.toString(StandardCharsets.UTF_8);
        }
        Map<String, Exported> metrics = new TreeMap<>();
        Map<String, String> helps = new TreeMap<>();
        for (String line : text.lines().toList()) {
            String[] words = line.split(" ", 4);
            if (line.startsWith("# HELP ")) {
                helps.put(words[2], words[3]);
            } else if (line.startsWith("# TYPE ")) {
                metrics.put(words[2], new Exported(words[3], helps.getOrDefault(words[2], ""), new TreeSet<>()));
            } else {
                Matcher series = SERIES.matcher(line);
                if (series.find()) {
                    Exported metric = metrics.getOrDefault(
                            series.group(1), metrics.get(series.group(1).replaceFirst("_(bucket|sum|count)$", "")));
                    if (metric != null && series.group(2) != null) {
                        Pattern.compile("([a-z_0-9]+)=\"")
                                .matcher(series.group(2))
                                .results()
                                .map(label -> label.group(1))
                                .filter(label -> !label.equals("le"))
                                .forEach(metric.labels()::add);
                    }
                }
            }
        }
        return metrics;
    }
}
