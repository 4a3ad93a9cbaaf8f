package io.plumbline.topology.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.PrometheusServer;
import io.plumbline.topology.config.HttpSettings;
import io.plumbline.topology.config.OtlpSettings;
import io.plumbline.topology.config.ProgramVersion;
import io.plumbline.topology.http.MonitorServer;
import io.plumbline.topology.http.WebConfig;
import io.plumbline.topology.http.WebPages;
import java.io.IOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.stream.Collectors;
import org.apache.kafka.shaded.io.opentelemetry.proto.metrics.v1.MetricsData;
import org.apache.kafka.streams.KafkaStreams;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Reads one state in every form in which it is exported, protocol buffers through a real Prometheus. */
class MetricFormsIT {

    private static final String OPEN_METRICS = "application/openmetrics-text;version=1.0.0";
    private static final String PROTOBUF =
            "application/vnd.google.protobuf;proto=io.prometheus.client.MetricFamily;encoding=delimited";

    /** The labels that a scrape adds. */
    private static final Set<String> OF_SCRAPE = Set.of("instance", "job", "cluster", "namespace");

    private static final List<String> NATIVE = List.of("plumbline_stage_seconds", "plumbline_ingestion_stall_seconds");
    private static final SeriesName INGEST = new SeriesName("plumbline_stage_seconds", Map.of("stage", "ingest"));

    @TempDir
    private static Path folder;

    private static final HttpClient client = HttpClient.newHttpClient();
    private static final Metrics metrics = Metrics.create(new Metrics.Settings(Duration.ofMinutes(15), 256));
    private static KafkaStreams streams;
    private static MonitorServer server;

    @BeforeAll
    static void letEverythingHappenOnce() throws Exception {
        ExportedMetrics.exercise(metrics);
        streams = ExportedMetrics.idleStreams("forms");
        metrics.observe(streams);
        server = MonitorServer.start(
                new HttpSettings("127.0.0.1", 0, null, List.of(), null, true, "", null),
                WebConfig.NONE,
                metrics,
                Optional::empty,
                Optional::empty,
                WebPages.NONE);
    }

    @AfterAll
    static void close() {
        server.close();
        streams.close(Duration.ofSeconds(5));
        metrics.close();
    }

    @Test
    void everyFormHasTheNamesLabelsValuesAndExemplarsOfTheText() throws Exception {
        Map<SeriesName, Double> text = text("");
        assertTrue(ours(text).size() > 300, "series: " + ours(text).size());
        assertTrue(names(text).contains("plumbline_stage_seconds_bucket"), names(text)::toString);
        assertSame(text, text(OPEN_METRICS));
        MetricsData pushed = pushed();
        assertSame(text, OtlpReceiver.series(pushed));
        Map<SeriesName, String> exemplars =
                SeriesName.exemplars(get(OPEN_METRICS).body());
        assertEquals(
                "{span_id=%s, trace_id=%s} 0.0015".formatted(ExportedMetrics.SPAN, ExportedMetrics.TRACE),
                exemplars.get(INGEST));
        assertEquals(2, exemplars.size(), exemplars::toString);
        assertEquals(exemplars, OtlpReceiver.exemplars(pushed));
        assertScraped(text, exemplars);
    }

    /** Prometheus' own receiver adds nothing to a name, and calls the resource job and instance. */
    @Test
    void prometheusTakesAPushUnderTheNamesAndLabelsOfAScrape() throws Exception {
        Map<SeriesName, Double> text = text("");
        try (PrometheusServer prometheus = PrometheusServer.startReceiver(folder.resolve("receiver"));
                OtlpPush push = push(prometheus.receiver())) {
            BrokerClient.awaitThat(() -> !received(prometheus).isEmpty(), () -> "nothing was taken: " + push);
            assertSame(text, received(prometheus));
            assertEquals(
                    Set.of("forms"),
                    Set.copyOf(prometheus.labelValues("instance", "{__name__=~\"plumbline_.+\"}")),
                    "service.instance.id");
            Map<String, String> about = prometheus.query("target_info").get(0).labels();
            assertEquals(
                    Map.of(
                            "__name__", "target_info",
                            "instance", "forms",
                            "job", "plumbline",
                            "service_version", ProgramVersion.number()),
                    about);
            assertEquals(
                    SeriesName.exemplars(get(OPEN_METRICS).body()),
                    exemplars(prometheus),
                    "trace and span of a record");
        }
    }

    /** Prometheus keeps the native buckets of a family that has them, and the classic ones if it can be asked to. */
    private static void assertScraped(Map<SeriesName, Double> text, Map<SeriesName, String> exemplars)
            throws Exception {
        HttpResponse<String> answer = get(PROTOBUF);
        assertTrue(
                answer.headers().firstValue("Content-Type").orElse("").startsWith("application/vnd.google.protobuf"));
        Map<SeriesName, Double> expected = new TreeMap<>(text);
        if (!PrometheusServer.keepsBothBuckets()) {
            expected.keySet().removeIf(name -> NATIVE.stream()
                    .anyMatch(family -> name.metric().equals(family + "_bucket")));
            assertTrue(expected.size() < text.size());
        }
        try (PrometheusServer prometheus =
                PrometheusServer.startWithProtobuf(folder.resolve("scraper"), server.address())) {
            BrokerClient.awaitThat(() -> !series(prometheus).isEmpty(), () -> "nothing was scraped");
            assertSame(expected, series(prometheus));
            List<PrometheusServer.Bucket> buckets = prometheus.buckets("plumbline_stage_seconds{stage=\"ingest\"}");
            assertEquals(1, buckets.size(), buckets::toString);
            PrometheusServer.Bucket one = buckets.get(0);
            assertTrue(one.above() < 0.0015 && 0.0015 <= one.upTo() && one.upTo() / one.above() < 1.1, one::toString);
            assertEquals(1.0, one.count());
            assertEquals(exemplars, exemplars(prometheus));
        }
    }

    /** Returns them as {@link SeriesName#exemplars} does. */
    private static Map<SeriesName, String> exemplars(PrometheusServer prometheus) throws Exception {
        Map<SeriesName, String> kept = new TreeMap<>();
        for (PrometheusServer.Exemplar each : prometheus.exemplars("{job=\"plumbline\"}")) {
            Map<String, String> series = new TreeMap<>(each.series());
            series.remove("le");
            SeriesName name = name(series);
            kept.put(
                    new SeriesName(name.metric().replaceFirst("_bucket$", ""), name.labels()),
                    each.labels() + " " + each.value());
        }
        return kept;
    }

    /** Values of the process itself, such as its memory, are others at each reading. */
    private static void assertSame(Map<SeriesName, Double> expected, Map<SeriesName, Double> read) {
        assertEquals(names(expected), names(read));
        assertEquals(lines(ours(expected)), lines(ours(read)));
    }

    private static String lines(Map<SeriesName, Double> series) {
        return series.entrySet().stream().map(String::valueOf).collect(Collectors.joining("\n"));
    }

    private static Map<SeriesName, Double> ours(Map<SeriesName, Double> series) {
        Map<SeriesName, Double> ours = new TreeMap<>(series);
        ours.keySet().removeIf(name -> !name.metric().startsWith("plumbline_"));
        return ours;
    }

    /** Returns all names but those of collections of the heap, which are there when one has happened. */
    private static Set<String> names(Map<SeriesName, Double> series) {
        return series.keySet().stream()
                .map(SeriesName::metric)
                .filter(name -> !name.startsWith("jvm_gc_"))
                .collect(Collectors.toCollection(TreeSet::new));
    }

    private static Map<SeriesName, Double> text(String accept) throws Exception {
        HttpResponse<String> answer = get(accept);
        assertTrue(answer.headers().firstValue("Content-Type").orElse("").startsWith(accept.split(";", -1)[0]));
        return SeriesName.read(answer.body());
    }

    private static HttpResponse<String> get(String accept) throws Exception {
        URI uri = URI.create(
                "http://127.0.0.1:%d/metrics".formatted(server.address().getPort()));
        HttpRequest.Builder request = HttpRequest.newBuilder(uri);
        if (!accept.isEmpty()) {
            request.setHeader("Accept", accept);
        }
        return client.send(request.build(), HttpResponse.BodyHandlers.ofString());
    }

    private static MetricsData pushed() throws Exception {
        try (OtlpReceiver receiver = OtlpReceiver.start();
                OtlpPush push = push(receiver.endpoint())) {
            BrokerClient.awaitThat(() -> !receiver.pushes().isEmpty(), () -> "no push: " + push);
            return receiver.pushes().get(0).data();
        }
    }

    private static OtlpPush push(URI endpoint) {
        return OtlpPush.start(
                new OtlpSettings(endpoint, null, Duration.ofMillis(100), Map.of()),
                OtlpPush.resource("plumbline", "forms"),
                metrics);
    }

    private static Map<SeriesName, Double> received(PrometheusServer prometheus) {
        Map<SeriesName, Double> series = new TreeMap<>();
        try {
            for (PrometheusServer.Series one :
                    prometheus.query("{job=\"plumbline\",__name__=~\"(plumbline|kafka|jvm|process|system)_.+\"}")) {
                series.put(name(one.labels()), one.value());
            }
            return series;
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Map<SeriesName, Double> series(PrometheusServer prometheus) {
        Map<SeriesName, Double> series = new TreeMap<>();
        try {
            String all = "{job=\"plumbline\",__name__=~\"(plumbline|kafka|jvm|process|system)_.+\",__name__!~\"%s\"}"
                    .formatted(String.join("|", NATIVE));
            for (PrometheusServer.Series one : prometheus.query(all)) {
                series.put(name(one.labels()), one.value());
            }
            for (String family : NATIVE) {
                for (String part : List.of("count", "sum")) {
                    for (PrometheusServer.Series one : prometheus.query("histogram_%s(%s)".formatted(part, family))) {
                        Map<String, String> labels = new TreeMap<>(one.labels());
                        labels.put("__name__", family + "_" + part);
                        series.put(name(labels), one.value());
                    }
                }
            }
            return series;
        } catch (IOException | InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }

    private static SeriesName name(Map<String, String> scraped) {
        Map<String, String> labels = new TreeMap<>(scraped);
        labels.keySet().removeAll(OF_SCRAPE);
        SeriesName name = new SeriesName(String.valueOf(labels.remove("__name__")), Map.of());
        for (Map.Entry<String, String> label : labels.entrySet()) {
            name = name.with(label.getKey(), label.getValue());
        }
        return name;
    }
}
