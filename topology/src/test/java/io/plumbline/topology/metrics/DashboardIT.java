package io.plumbline.topology.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.PrometheusServer;
import io.plumbline.topology.PrometheusServer.Series;
import io.plumbline.topology.TargetsFolder;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.function.LongFunction;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.header.internals.RecordHeader;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Asks every query of every dashboard of a real Prometheus that scrapes the application while a site drifts and is
 * swapped.
 */
class DashboardIT {

    private static final byte[] ACME = "tenant=acme".getBytes(StandardCharsets.UTF_8);
    private static final byte[] GLOBEX = "tenant=globex".getBytes(StandardCharsets.UTF_8);
    private static final long T0 = 1_700_000_000_000L;
    private static final String PROBES = "plumbline.downstream";
    /** Names with all that means something to PromQL, to a regular expression or to Grafana. */
    private static final String SITE = "models/llama-3.1 \"layer.7\": it's (a)";

    private static final String TARGETS = "models/clt.7 \"it's\"";

    /** The sites that may be chosen: what only one with several targets has is asked of that. */
    private static final List<String> CHOICES = List.of(SITE, TARGETS);

    /** Names that no site has here: a query of them has no answer, and is none with a mistake in it. */
    private static final List<String> ANY_NAME = List.of("blocks.7", "a/b", "back\\slash", "${job}", "[x", "a|b.c");

    /** A site of a model, which has no other. */
    private static final String MODELLED = "modelled";

    private static final Pattern LABEL_VALUES = Pattern.compile("label_values\\((.+), (\\w+)\\)");

    @TempDir
    private static Path folder;

    private static final Deque<AutoCloseable> started = new ArrayDeque<>();
    private static PrometheusServer prometheus;
    private static Instant begin;

    /**
     * The answers to what was asked before: the mutations change one name of a dashboard, and all its other queries
     * stay.
     */
    private static final Map<String, List<Series>> answers = new HashMap<>();

    @BeforeAll
    static void runTheApplicationUntilADecoderIsSwapped() throws Exception {
        EmbeddedBroker broker = own(EmbeddedBroker.start(folder.resolve("broker")));
        BrokerClient client = new BrokerClient(broker.bootstrapServers());
        client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
        WatchedFolder.createAdapting(folder.resolve("site"), broker.bootstrapServers(), "mode: auto");
        TargetsFolder.create(folder.resolve("targets"), broker.bootstrapServers(), "mode: observe");
        WatchedFolder.createModel(folder.resolve("model"), broker.bootstrapServers(), "", "", MODELLED);
        MonitorConfig config = warning(folder.resolve("site").resolve(WatchedFolder.FILE));
        System.setProperty(PROBES, ConstantProbes.jar(folder).toString());
        PlumblineRuntime runtime = own(PlumblineRuntime.start(config, Role.ALL));
        begin = Instant.now();
        prometheus = own(PrometheusServer.start(folder.resolve("prometheus"), null, runtime.httpAddress()));
        awaitAnswer("plumbline_dead_letters_total");
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        records.add(record("no safetensors".getBytes(StandardCharsets.UTF_8), T0));
        List<LongFunction<Matrix>> traffic =
                List.of(WatchedFolder::quiet, WatchedFolder::quiet, WatchedFolder::drifted, WatchedFolder::drifted);
        for (int window = 0; window < traffic.size(); window++) {
            for (int i = 0; i < WatchedFolder.RECORDS; i++) {
                long time = T0 + window * 10_000L + i * 100L;
                records.add(record(ActivationRecords.blob(traffic.get(window).apply(time)), time));
            }
        }
        for (int record = 0; record < 2 * WatchedFolder.RECORDS; record++) {
            long time = T0 + record / WatchedFolder.RECORDS * 10_000L + record % WatchedFolder.RECORDS * 100L;
            records.add(new ProducerRecord<>(
                    "activations",
                    0,
                    time,
                    MODELLED.getBytes(StandardCharsets.UTF_8),
                    ActivationRecords.blob(WatchedFolder.quiet(time))));
        }
        records.addAll(renamed(TargetsFolder.window(T0, Set.of(1))));
        records.addAll(renamed(TargetsFolder.window(T0 + 10_000, Set.of())));
        client.sendAll(records);
        awaitAnswer("plumbline_worst_block{block=\"targets.1\"} == 1");
        awaitAnswer("plumbline_model_sites{standing=\"all\"} == 1");
        awaitAnswer("plumbline_subscriber_decoder_version == 1");
        awaitAnswer("count(plumbline_stage_seconds_count > 0) == %d".formatted(Stage.values().length));
        awaitAnswer("plumbline_state_bytes{store=\"panes\"} > 0");
        awaitAnswer("plumbline_decoder_swaps_total{site=`%s`} == 1".formatted(SITE));
    }

    /**
     * Returns a configuration that warns: a statistic of requests has a threshold too, which its panel shows. A site
     * with several targets and a model are watched beside it.
     */
    private static MonitorConfig warning(Path file) throws IOException {
        String yaml = Files.readString(file)
                .replace("sample: {rows: 512}", "sample: {rows: 2048}")
                .replace(WatchedFolder.SITE + ":", yaml(SITE) + ":")
                .replaceAll("( +)debounce: .*", """
                        $0
                        $1warn: [request_fvu]
                        $1warn_threshold: 9
                        $1breakdown_by: tenant
                        $1watch: {features: [0, 3]}
                        $1downstream: {head: h.onnx}""")
                .concat("""
                          %s:
                            explainer: ../targets/explainer
                            targets: [0, 1, 2]
                            baseline: ../targets/baselines
                            rank: 4
                            threshold: {share: 0.6}
                            debounce: 1 of 1
                          %2$s:
                            explainer: ../model/explainer
                            baseline: ../model/%2$s.safetensors
                            rank: 4
                            trigger: [faithfulness_gap]
                            adaptation: {mode: observe}
                        """.formatted(yaml(TARGETS), MODELLED).indent(2))
                .concat("models: {m: {sites: [%s]}}\n".formatted(MODELLED));
        return MonitorConfig.parse(yaml, WatchedFolder.FILE, file.getParent());
    }

    private static String yaml(String name) {
        return "'" + name.replace("'", "''") + "'";
    }

    private static List<ProducerRecord<byte[], byte[]>> renamed(List<ProducerRecord<byte[], byte[]>> records) {
        return records.stream()
                .map(record -> new ProducerRecord<>(
                        record.topic(),
                        record.partition(),
                        record.timestamp(),
                        TARGETS.getBytes(StandardCharsets.UTF_8),
                        record.value(),
                        record.headers()))
                .toList();
    }

    @AfterAll
    static void stop() throws Exception {
        System.clearProperty(PROBES);
        while (!started.isEmpty()) {
            started.pop().close();
        }
    }

    @Test
    void everyQueryHasAnAnswerAndEveryLabelOfALegendExistsAndARenamedMetricIsNoticed() throws Exception {
        for (Dashboard dashboard : Dashboard.all()) {
            BrokerClient.awaitThat(
                    () -> failures(dashboard, true).isEmpty(), () -> String.join("\n", failures(dashboard, true)));
            assertEquals(List.of(), failures(dashboard, false), "the answers that are kept");
            String text = dashboard.json().toString();
            // Of names that stand for each other one may be missing: an export of past windows has no more.
            Set<String> names = ExportedMetrics.namesIn(text.replaceAll("__name__=~.\"[a-z_|]+.\"", ""));
            assertTrue(names.size() > 10, names::toString);
            for (String name : names) {
                Dashboard renamed = Dashboard.parse("renamed", text.replaceAll(name + "\\b", name + "_renamed"));
                assertTrue(
                        !failures(renamed, false).isEmpty(),
                        () -> dashboard.file() + " is as good with " + name + " renamed");
            }
        }
    }

    @Test
    void everyQueryIsOneWhateverSitesJobsAndInstancesAreCalled() throws Exception {
        for (Dashboard dashboard : Dashboard.all()) {
            List<String> texts =
                    new ArrayList<>(List.copyOf(dashboard.variableQueries().values()).stream()
                            .map(query -> query.replaceAll(LABEL_VALUES.pattern(), "$1"))
                            .toList());
            Stream.concat(dashboard.panelQueries().stream(), dashboard.annotations().stream())
                    .map(Dashboard.Query::expression)
                    .forEach(texts::add);
            for (String name : ANY_NAME) {
                Map<String, String> all =
                        Map.of("site", name, "job", "a/b.c", "instance", "10.0.0.7:9464|h-1.x:1", "namespace", "n.s");
                GrafanaVariables variables = new GrafanaVariables(dashboard.json(), all, Map.of());
                for (String text : texts) {
                    prometheus.query(variables.into(text)); // a mistake in it is thrown
                }
            }
        }
    }

    @Test
    void aLegendThatNamesAMissingLabelIsNoticed() throws Exception {
        String text = ExportedMetrics.read("grafana/plumbline-fleet.json");
        Dashboard mutated =
                Dashboard.parse("mutated", text.replace("\"{{site}} ({{job}})\"", "\"{{sites}} ({{job}})\""));
        assertTrue(
                failures(mutated, true).stream().anyMatch(failure -> failure.contains("no label [sites]")),
                () -> failures(mutated, false).toString());
    }

    private static List<String> failures(Dashboard dashboard, boolean anew) {
        try {
            if (anew) {
                answers.clear();
            }
            List<String> failures = new ArrayList<>();
            List<Dashboard.Query> queries = new ArrayList<>(dashboard.panelQueries());
            queries.addAll(dashboard.annotations());
            for (Dashboard.Query query : queries) {
                String missing = missing(dashboard, query);
                if (!missing.isEmpty()) {
                    failures.add(query.where() + ": " + missing + ": " + query.expression());
                }
            }
            for (Map.Entry<String, String> variable :
                    dashboard.variableQueries().entrySet()) {
                Matcher call = LABEL_VALUES.matcher(chosen(dashboard, SITE).into(variable.getValue()));
                assertTrue(call.matches(), variable::getValue);
                if (prometheus.labelValues(call.group(2), call.group(1)).isEmpty()) {
                    failures.add("variable %s has no value: %s".formatted(variable.getKey(), variable.getValue()));
                }
            }
            return failures;
        } catch (IOException e) {
            throw new IllegalStateException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    /**
     * Returns what is wrong with a query's answer, or nothing. A metric that is not there may hide behind
     * {@code or vector(0)}.
     */
    private static String missing(Dashboard dashboard, Dashboard.Query query) throws IOException, InterruptedException {
        String expression = query.expression();
        List<Series> answer = List.of();
        for (String site : CHOICES) {
            if (answer.isEmpty()) {
                expression = chosen(dashboard, site).into(query.expression());
                answer = ask(expression);
            }
        }
        if (answer.isEmpty()) {
            return "no data";
        }
        for (String name : ExportedMetrics.namesIn(expression)) {
            if (ask("count(" + name + ")").isEmpty()) {
                return name + " does not exist";
            }
        }
        for (Series series : answer) {
            Set<String> labels = new TreeSet<>(query.labels());
            labels.removeAll(series.labels().keySet());
            if (!labels.isEmpty()) {
                return "no label " + labels + " in " + series.labels();
            }
        }
        return "";
    }

    /** Chooses one site, the one job, and all of what else can be chosen. */
    private static GrafanaVariables chosen(Dashboard dashboard, String site) {
        return new GrafanaVariables(dashboard.json(), Map.of("site", site, "job", "plumbline"), Map.of());
    }

    private static List<Series> ask(String expression) throws IOException, InterruptedException {
        List<Series> known = answers.get(expression);
        if (known == null) {
            known = prometheus.range(expression, begin, Instant.now());
            answers.put(expression, known);
        }
        return known;
    }

    private static void awaitAnswer(String expression) throws InterruptedException {
        BrokerClient.awaitThat(
                () -> {
                    try {
                        return !prometheus.query(expression).isEmpty();
                    } catch (IOException e) {
                        throw new IllegalStateException(e);
                    } catch (InterruptedException e) {
                        Thread.currentThread().interrupt();
                        throw new IllegalStateException(e);
                    }
                },
                () -> "no answer to " + expression);
    }

    private static ProducerRecord<byte[], byte[]> record(byte[] value, long timestampMs) {
        return new ProducerRecord<>(
                "activations",
                0,
                timestampMs,
                SITE.getBytes(StandardCharsets.UTF_8),
                value,
                List.of(
                        new RecordHeader("tokens_served", "1000".getBytes(StandardCharsets.UTF_8)),
                        new RecordHeader("engine_version", version(timestampMs)),
                        new RecordHeader("tags", timestampMs / 100 % 2 == 0 ? ACME : GLOBEX)));
    }

    /** Returns the version of a model server; a new one comes with the drift. */
    private static byte[] version(long timestampMs) {
        return (timestampMs < T0 + 20_000 ? "0.19" : "0.20").getBytes(StandardCharsets.UTF_8);
    }

    private static <T extends AutoCloseable> T own(T closeable) {
        started.push(closeable);
        return closeable;
    }
}
