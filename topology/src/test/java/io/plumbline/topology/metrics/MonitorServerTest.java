package io.plumbline.topology.metrics;

import static org.junit.jupiter.api.Assertions.assertAll;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.config.HttpSettings;
import io.plumbline.topology.http.MonitorServer;
import io.plumbline.topology.http.WebConfig;
import io.plumbline.topology.http.WebPages;
import io.plumbline.topology.progress.LateProbe;
import io.plumbline.topology.progress.Probe;
import io.plumbline.topology.report.WindowMetric;
import java.io.IOException;
import java.net.InetAddress;
import java.net.Socket;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.apache.kafka.streams.KafkaStreams;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

class MonitorServerTest {
    private static final Pattern SERIES = Pattern.compile("^([a-zA-Z0-9_:]+)(?:\\{(.*)})? (\\S+)$");

    private volatile Optional<String> complaint = Optional.empty();
    private final Metrics metrics = Metrics.create(new Metrics.Settings(Duration.ofMinutes(15), 256));
    private final HttpClient client = HttpClient.newHttpClient();
    private MonitorServer server;

    @BeforeEach
    void start() throws IOException {
        server = listening(0, metrics, Optional::empty, () -> complaint);
    }

    @AfterEach
    void stop() {
        server.close();
        metrics.close();
    }

    @Test
    void everyScrapedMetricHasHelpAndStandsInTheTableWithItsTypeAndLabels() throws Exception {
        KafkaStreams streams = ExportedMetrics.idleStreams("monitor");
        try {
            metrics.observe(streams);
            ExportedMetrics.exercise(metrics);
            String scrape = get("/metrics").body();
            Set<String> families = new TreeSet<>();
            var table = ExportedMetrics.table();
            for (String line : scrape.lines().toList()) {
                if (line.startsWith("# TYPE ")) {
                    List<String> words = Arrays.asList(line.split(" ", -1));
                    families.add(words.get(2));
                    assertTrue(
                            table.containsKey(words.get(2)),
                            words.get(2) + " is exported and not in docs/operate/metrics.md");
                    assertEquals(
                            Objects.requireNonNull(table.get(words.get(2))).type(),
                            words.get(3),
                            "type of " + words.get(2));
                    assertTrue(
                            Pattern.compile("(?m)^# HELP " + words.get(2) + " \\S+")
                                    .matcher(scrape)
                                    .find(),
                            "HELP of " + words.get(2));
                }
            }
            table.forEach((name, row) -> assertTrue(
                    !row.always() || families.contains(name),
                    name + " is in docs/operate/metrics.md and not exported"));
            for (String line : scrape.lines().toList()) {
                Matcher series = SERIES.matcher(line);
                if (series.matches()) {
                    String name = series.group(1);
                    String family = families.contains(name) ? name : name.replaceFirst("_(bucket|sum|count)$", "");
                    Set<String> labels = new TreeSet<>(
                            series.group(2) == null
                                    ? List.of()
                                    : Pattern.compile("([a-z_]+)=\"")
                                            .matcher(series.group(2))
                                            .results()
                                            .map(match -> match.group(1))
                                            .filter(label -> !label.equals("le"))
                                            .collect(Collectors.toSet()));
                    assertEquals(
                            Objects.requireNonNull(table.get(family), family).labels(), labels, "labels of " + line);
                }
            }
        } finally {
            streams.close(Duration.ofSeconds(5));
        }
    }

    @Test
    void countersAddUpAndWindowValuesAreThoseOfTheSnapshot() throws Exception {
        ExportedMetrics.exercise(metrics);
        metrics.pipeline().onAccepted("blocks.7", 100);
        metrics.pipeline().onMoment("blocks.7");
        metrics.pipeline().onRepeated("blocks.7");
        metrics.pipeline().onRepeated("blocks.7");
        String scrape = get("/metrics").body();
        assertAll(
                () -> has(scrape, "plumbline_rows_total{site=\"blocks.7\"} 228.0"),
                () -> has(scrape, "plumbline_records_total{site=\"blocks.7\"} 2.0"),
                () -> has(scrape, "plumbline_moment_records_total{site=\"blocks.7\"} 1.0"),
                () -> has(scrape, "plumbline_repeated_records_total{site=\"blocks.7\"} 2.0"),
                () -> has(scrape, "plumbline_late_rows_total{reason=\"after_grace\",site=\"blocks.7\"} 3.0"),
                () -> has(scrape, "plumbline_dead_letters_total{reason=\"non_finite\"} 1.0"),
                () -> has(scrape, "plumbline_dead_letters_total{reason=\"malformed\"} 0.0"),
                () -> has(scrape, "plumbline_adaptations_total{outcome=\"published\",site=\"blocks.7\"} 1.0"),
                () -> has(scrape, "plumbline_adaptations_total{outcome=\"refused\",site=\"blocks.7\"} 0.0"),
                () -> has(scrape, "plumbline_stage_seconds_bucket{stage=\"assess\",le=\"0.1\"} 1"),
                () -> has(scrape, "plumbline_stage_seconds_bucket{stage=\"assess\",le=\"0.025\"} 0"),
                () -> has(scrape, "plumbline_decoder_swaps_total{site=\"blocks.7\"} 1.0"),
                () -> has(scrape, "plumbline_subscriber_decoder_version{site=\"blocks.7\"} 2.0"),
                () -> has(
                        scrape,
                        "plumbline_decoder_info{kind=\"adapted\",sha256=\"a1b2c3d4e5f6\","
                                + "site=\"blocks.7\",version=\"2\"} 1"),
                () -> has(scrape, "plumbline_build_info{java=\"" + Runtime.version() + "\",version=\"unpackaged\"} 1"),
                () -> has(scrape, "plumbline_faithfulness_gap{site=\"blocks.7\"} 0.5"),
                () -> has(scrape, "plumbline_verdict{site=\"blocks.7\",verdict=\"drifted\"} 1.0"),
                () -> has(scrape, "plumbline_verdict{site=\"blocks.7\",verdict=\"aligned\"} 0.0"));
    }

    @Test
    void kafkasOwnMetricsAreOnlyTheAllowedOnesAndCarryNoRandomIds() throws Exception {
        KafkaStreams streams = ExportedMetrics.idleStreams("monitor");
        try {
            metrics.observe(streams);
            String scrape = get("/metrics").body().replaceAll("kafka_version=\"[0-9.]+\"", "kafka_version=\"\"");
            has(scrape, "kafka_stream_thread_process_rate{kafka_version=\"\",thread_id=\"monitor-StreamThread-1\"} ");
            has(scrape, "kafka_stream_thread_process_rate{kafka_version=\"\",thread_id=\"monitor-StreamThread-2\"} ");
            Set<String> allowed = StreamsMeters.ALLOWED.stream()
                    .map(name -> name.replace('.', '_'))
                    .collect(Collectors.toSet());
            scrape.lines()
                    .filter(line -> line.startsWith("# TYPE kafka"))
                    .map(line -> line.split(" ", -1)[2])
                    .forEach(name -> assertTrue(allowed.contains(name.replaceFirst("_total$", "")), name));
        } finally {
            streams.close(Duration.ofSeconds(5));
        }
    }

    @Test
    void hostileSiteNamesAreEscapedAndForgeNoSeries() throws Exception {
        String hostile = "x\"} 1\nplumbline_forged{a=\"\\";
        metrics.pipeline().onAccepted(hostile, 1);
        metrics.pipeline()
                .show(SiteSnapshot.of(hostile).set(WindowMetric.ROWS, 7).build());
        String scrape = get("/metrics").body();
        has(scrape, "plumbline_window_rows{site=\"x\\\"} 1\\nplumbline_forged{a=\\\"\\\\\"} 7.0");
        assertTrue(scrape.lines().noneMatch(line -> line.startsWith("plumbline_forged")), scrape);
    }

    @Test
    void theClientChoosesTheFormat() throws Exception {
        HttpResponse<String> open = client.send(
                request("/metrics")
                        .header("Accept", "application/openmetrics-text; version=1.0.0")
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertTrue(open.headers().firstValue("Content-Type").orElse("").startsWith("application/openmetrics-text"));
        assertTrue(open.body().endsWith("# EOF\n"));
        HttpResponse<String> plain = get("/metrics");
        assertTrue(plain.headers().firstValue("Content-Type").orElse("").startsWith("text/plain"));
        assertFalse(plain.body().contains("# EOF"));
    }

    @Test
    void readinessFollowsItsProbeAndSaysWhy() throws Exception {
        assertEquals(200, get("/readyz").statusCode());
        complaint = Optional.of("monitor: no task is assigned to this instance");
        HttpResponse<String> refused = get("/readyz");
        assertEquals(503, refused.statusCode());
        assertEquals("monitor: no task is assigned to this instance\n", refused.body());
        assertEquals(200, get("/healthz").statusCode(), "not ready is not dead");
    }

    @Test
    void aServerThatListensBeforeAnythingRunsSaysSoUntilItDoes() throws Exception {
        LateProbe ready = new LateProbe(() -> Optional.of("starting"));
        try (MonitorServer early = listening(0, metrics, Optional::empty, ready)) {
            HttpResponse<String> before = get(early, "/readyz");
            assertEquals(503, before.statusCode());
            assertEquals("starting\n", before.body());
            ready.become(Optional::empty);
            assertEquals(200, get(early, "/readyz").statusCode());
        }
    }

    @Test
    void aFailingProbeIsAnswered500AndCounted() throws Exception {
        try (MonitorServer broken = listening(
                0,
                metrics,
                () -> {
                    throw new IllegalStateException("no state");
                },
                Optional::empty)) {
            HttpResponse<String> answer = get(broken, "/healthz");
            assertEquals(500, answer.statusCode());
            assertEquals("/healthz failed: no state\n", answer.body());
        }
        has(get("/metrics").body(), "plumbline_metrics_failures_total 1.0");
    }

    @Test
    void otherPathsAndMethodsAreRefusedWithASentence() throws Exception {
        assertEquals(404, get("/metrics/../etc").statusCode());
        assertEquals(404, get("/metricsx").statusCode());
        HttpResponse<String> post = client.send(
                request("/metrics")
                        .POST(HttpRequest.BodyPublishers.ofString("x"))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertEquals(405, post.statusCode());
        assertEquals("GET, HEAD", post.headers().firstValue("Allow").orElse(""));
        HttpResponse<String> head = client.send(
                request("/healthz")
                        .method("HEAD", HttpRequest.BodyPublishers.noBody())
                        .build(),
                HttpResponse.BodyHandlers.ofString());
        assertEquals(200, head.statusCode());
    }

    /** Tests more such clients than the server has threads, and renewed, as a scanner or a broken proxy does. */
    @Test
    void clientsThatNeverFinishTheirRequestDoNotKeepTheProbesFromAnswering() throws Exception {
        List<Socket> stuck = new ArrayList<>();
        try {
            for (int round = 0; round < 3; round++) {
                for (int i = 0; i < 60; i++) {
                    stuck.add(halfARequest(server.address().getPort()));
                }
                HttpResponse<String> answer = client.send(
                        request("/healthz").timeout(Duration.ofSeconds(5)).build(),
                        HttpResponse.BodyHandlers.ofString());
                assertEquals(200, answer.statusCode());
            }
        } finally {
            for (Socket socket : stuck) {
                socket.close();
            }
        }
    }

    @Test
    void probesOnAPortOfTheirOwnAnswerWhileTheOtherIsFull() throws Exception {
        HttpSettings settings = new HttpSettings("127.0.0.1", 0, 0, List.of(), null, true, "", null);
        List<Socket> stuck = new ArrayList<>();
        try (MonitorServer two = MonitorServer.start(
                settings, WebConfig.NONE, metrics, Optional::empty, () -> complaint, WebPages.NONE)) {
            for (int i = 0; i < 300; i++) {
                stuck.add(halfARequest(two.address().getPort()));
            }
            String own = "http://127.0.0.1:" + two.probeAddress().getPort();
            assertEquals(200, get(own + "/healthz", 5).statusCode());
            assertEquals(200, get(own + "/readyz", 5).statusCode());
            assertEquals(404, get(own + "/metrics", 5).statusCode());
        } finally {
            for (Socket socket : stuck) {
                socket.close();
            }
        }
    }

    /** A page whose name was made to point to this machine must not read sites and verdicts (DNS rebinding). */
    @Test
    void aRequestUnderAForeignNameIsRefusedExceptByTheProbes() throws Exception {
        for (String path : List.of("/metrics", "/", "/api/sites")) {
            String refused = asked(path, "evil.example");
            assertTrue(refused.startsWith("HTTP/1.1 421 "), refused);
            assertTrue(refused.contains("name it under http.hosts"), refused);
            assertTrue(asked(path, "127.0.0.1.evil.example:80").startsWith("HTTP/1.1 421 "));
        }
        assertTrue(asked("/healthz", "10.0.0.7:9464").startsWith("HTTP/1.1 200 "));
        for (String own : List.of("localhost", "LOCALHOST:9464", "127.0.0.1", "[::1]:9464", "10.0.0.7:9464")) {
            assertTrue(asked("/metrics", own).startsWith("HTTP/1.1 200 "), own);
        }
        HttpSettings proxied =
                new HttpSettings("127.0.0.1", 0, null, List.of("Plumbline.example"), null, true, "", null);
        try (MonitorServer behind = MonitorServer.start(
                proxied, WebConfig.NONE, metrics, Optional::empty, Optional::empty, WebPages.NONE)) {
            int port = behind.address().getPort();
            assertTrue(asked(port, "/metrics", "plumbline.example").startsWith("HTTP/1.1 200 "));
            assertTrue(asked(port, "/metrics", "evil.example").startsWith("HTTP/1.1 421 "));
            assertTrue(asked(port, "/metrics", "10.1.2.3:9464").startsWith("HTTP/1.1 200 "), "a scrape of a pod");
        }
    }

    @Test
    void listensOnLoopbackAndAPortInUseIsNamed() {
        assertTrue(server.address().getAddress().isLoopbackAddress());
        int port = server.address().getPort();
        IOException refused =
                assertThrows(IOException.class, () -> listening(port, metrics, Optional::empty, Optional::empty));
        assertTrue(refused.toString().contains(":" + port + ": "), refused::toString);
        assertTrue(refused.toString().contains("set http.port to another"), refused::toString);
        IOException probes = assertThrows(
                IOException.class,
                () -> MonitorServer.start(
                        new HttpSettings("127.0.0.1", 0, port, List.of(), null, true, "", null),
                        WebConfig.NONE,
                        metrics,
                        Optional::empty,
                        Optional::empty,
                        WebPages.NONE));
        assertTrue(probes.toString().contains("set http.probe_port to another"), probes::toString);
    }

    @Test
    void closingFreesThePortAndEndsTheThreads() throws Exception {
        get("/healthz");
        int port = server.address().getPort();
        server.close();
        listening(port, metrics, Optional::empty, Optional::empty).close();
        for (Thread thread : Thread.getAllStackTraces().keySet()) {
            if (thread.getName().startsWith("http-port-")) {
                thread.join(10_000);
                assertFalse(thread.isAlive(), thread.getName());
            }
        }
    }

    private static MonitorServer listening(int port, Metrics metrics, Probe alive, Probe ready) throws IOException {
        return MonitorServer.start(
                new HttpSettings("127.0.0.1", port, null, List.of(), null, true, "", null),
                WebConfig.NONE,
                metrics,
                alive,
                ready,
                WebPages.NONE);
    }

    private static Socket halfARequest(int port) throws IOException {
        Socket socket = new Socket(InetAddress.getLoopbackAddress(), port);
        socket.getOutputStream().write("GET /healthz HT".getBytes(StandardCharsets.US_ASCII));
        socket.getOutputStream().flush();
        return socket;
    }

    private String asked(String path, String host) throws IOException {
        return asked(server.address().getPort(), path, host);
    }

    /** Asks by hand: the JDK's client writes a Host header of its own. */
    private static String asked(int port, String path, String host) throws IOException {
        try (Socket socket = new Socket(InetAddress.getLoopbackAddress(), port)) {
            socket.getOutputStream()
                    .write("GET %s HTTP/1.1\r\nHost: %s\r\nConnection: close\r\n\r\n"
                            .formatted(path, host)
                            .getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().flush();
            return new String(socket.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        }
    }

    private HttpResponse<String> get(String address, int seconds) throws Exception {
        return client.send(
                HttpRequest.newBuilder(URI.create(address))
                        .timeout(Duration.ofSeconds(seconds))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private HttpRequest.Builder request(String path) {
        return HttpRequest.newBuilder(
                URI.create("http://127.0.0.1:" + server.address().getPort() + path));
    }

    private HttpResponse<String> get(String path) throws Exception {
        return get(server, path);
    }

    private HttpResponse<String> get(MonitorServer from, String path) throws Exception {
        return client.send(
                HttpRequest.newBuilder(
                                URI.create("http://127.0.0.1:" + from.address().getPort() + path))
                        .build(),
                HttpResponse.BodyHandlers.ofString());
    }

    private static void has(String scrape, String series) {
        assertTrue(
                scrape.lines().anyMatch(line -> line.startsWith(series)),
                () -> "expected \"" + series + "\" in\n" + scrape);
    }
}
