package io.plumbline.topology;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.fixtures.EmbeddedBroker;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.opentest4j.TestAbortedException;

/** A real Prometheus on loopback that scrapes every second and evaluates the deployed rules. */
public final class PrometheusServer implements AutoCloseable {

    private static final Path DEPLOYED = Repository.path("deploy", "prometheus");

    private static final Pattern VERSION = Pattern.compile("version (\\d+)\\.(\\d+)");

    private final LoopbackProgram program;
    private final int port;

    private PrometheusServer(LoopbackProgram program, int port) {
        this.program = program;
        this.port = port;
    }

    /**
     * Starts it and waits until it answers.
     *
     * @param alertmanager where alerts go, or null for nowhere
     * @param targets what is scraped
     */
    public static PrometheusServer start(
            Path folder, @Nullable InetSocketAddress alertmanager, InetSocketAddress... targets) throws Exception {
        return start(folder, alertmanager, List.of(), "", targets);
    }

    /**
     * Starts one that asks for protocol buffers, and keeps native buckets and exemplars, and, where it {@link
     * #keepsBothBuckets}, the classic buckets beside them.
     */
    public static PrometheusServer startWithProtobuf(Path folder, InetSocketAddress... targets) throws Exception {
        List<String> ofScrape = new ArrayList<>();
        if (keepsBothBuckets()) {
            ofScrape.add((version() >= 300 ? "always_scrape" : "scrape") + "_classic_histograms: true");
        }
        boolean isOption = version() >= 308;
        if (isOption) {
            ofScrape.add("scrape_native_histograms: true");
        }
        return start(
                folder,
                null,
                List.of("--enable-feature=exemplar-storage" + (isOption ? "" : ",native-histograms")),
                String.join("\n    ", ofScrape),
                targets);
    }

    /**
     * Returns whether classic buckets can be asked for beside native ones, from version 2.45 on. Newer ones need it for
     * exemplars too: of native buckets alone they read those of a family's first histogram.
     */
    public static boolean keepsBothBuckets() throws IOException {
        return version() >= 245;
    }

    /** Starts one that scrapes nothing and takes pushes by OTLP; leaves the test out where it is built without. */
    public static PrometheusServer startReceiver(Path folder) throws Exception {
        String option = "--web.enable-otlp-receiver";
        if (!said("--help").contains("web.enable-otlp-receiver")) {
            throw new TestAbortedException(
                    "%s has no %s, as Debian builds it: put another on the PATH".formatted(program(), option));
        }
        return start(folder, null, List.of(option, "--enable-feature=exemplar-storage"), "");
    }

    /** Returns 100 times the major version, and the minor one. */
    private static int version() throws IOException {
        String said = said("--version");
        Matcher version = VERSION.matcher(said);
        if (!version.find()) {
            throw new IllegalStateException("no version: " + said);
        }
        return 100 * Integer.parseInt(version.group(1)) + Integer.parseInt(version.group(2));
    }

    private static String said(String option) throws IOException {
        Process asked = new ProcessBuilder(program().toString(), option)
                .redirectErrorStream(true)
                .start();
        return new String(asked.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
    }

    private static Path program() {
        return ExternalProgram.require("prometheus", "prometheus");
    }

    private static PrometheusServer start(
            Path folder,
            @Nullable InetSocketAddress alertmanager,
            List<String> options,
            String ofScrape,
            InetSocketAddress... targets)
            throws Exception {
        Path own = Files.createDirectories(folder);
        Files.copy(DEPLOYED.resolve("plumbline-rules.yml"), own.resolve("plumbline-rules.yml"));
        List<String> addresses = new ArrayList<>();
        for (InetSocketAddress target : targets) {
            addresses.add("127.0.0.1:" + target.getPort());
        }
        Files.writeString(own.resolve("prometheus.yml"), """
                global: {scrape_interval: 1s, evaluation_interval: 1s}
                rule_files: [plumbline-rules.yml]
                alerting: {alertmanagers: [{static_configs: [{targets: %s}]}]}
                scrape_configs:
                  - job_name: plumbline
                    static_configs: [{targets: %s, labels: {cluster: one.cluster, namespace: explain}}]
                    %s
                """.formatted(
                        alertmanager == null ? "[]" : "[\"127.0.0.1:%d\"]".formatted(alertmanager.getPort()),
                        new ObjectMapper().writeValueAsString(addresses),
                        ofScrape));
        int port = EmbeddedBroker.freePort();
        List<String> command = new ArrayList<>(List.of(
                program().toString(),
                "--config.file=prometheus.yml",
                "--storage.tsdb.path=data",
                "--web.listen-address=127.0.0.1:" + port,
                "--log.level=warn"));
        command.addAll(options);
        return new PrometheusServer(LoopbackProgram.start(own, port, command.toArray(String[]::new)), port);
    }

    /** Returns where it takes metrics by OTLP. */
    public URI receiver() {
        return URI.create("http://127.0.0.1:%d/api/v1/otlp/v1/metrics".formatted(port));
    }

    /** One series of an answer: its labels, and its newest value. */
    public record Series(Map<String, String> labels, double value) {}

    /** Returns what an instant query gives now. */
    public List<Series> query(String expression) throws IOException, InterruptedException {
        return series(program.get("/api/v1/query", Map.of("query", expression)));
    }

    /** Returns what a range query gives, second by second, as a panel asks it. */
    public List<Series> range(String expression, Instant from, Instant to) throws IOException, InterruptedException {
        Map<String, String> parameters = new LinkedHashMap<>();
        parameters.put("query", expression);
        parameters.put("start", from.toString());
        parameters.put("end", to.toString());
        parameters.put("step", "1");
        return series(program.get("/api/v1/query_range", parameters));
    }

    /** One native bucket, which holds the values in (above, upTo]. */
    public record Bucket(double above, double upTo, double count) {}

    /** Returns the native buckets of the one series that is selected. */
    public List<Bucket> buckets(String selector) throws IOException, InterruptedException {
        List<Bucket> buckets = new ArrayList<>();
        program.get("/api/v1/query", Map.of("query", selector))
                .at("/data/result/0/histogram/1/buckets")
                .forEach(bucket -> buckets.add(new Bucket(
                        bucket.get(1).asDouble(),
                        bucket.get(2).asDouble(),
                        bucket.get(3).asDouble())));
        return buckets;
    }

    /** One exemplar: the labels of its series and its own. */
    public record Exemplar(Map<String, String> series, Map<String, String> labels, double value) {}

    /** Returns the exemplars of the last hour. */
    public List<Exemplar> exemplars(String selector) throws IOException, InterruptedException {
        Instant now = Instant.now();
        List<Exemplar> exemplars = new ArrayList<>();
        JsonNode answer = program.get(
                "/api/v1/query_exemplars",
                Map.of(
                        "query", selector,
                        "start", now.minusSeconds(3600).toString(),
                        "end", now.plusSeconds(60).toString()));
        for (JsonNode series : answer.get("data")) {
            series.get("exemplars")
                    .forEach(each -> exemplars.add(new Exemplar(
                            labels(series.get("seriesLabels")),
                            labels(each.get("labels")),
                            each.get("value").asDouble())));
        }
        return exemplars;
    }

    private static Map<String, String> labels(JsonNode object) {
        Map<String, String> labels = new TreeMap<>();
        object.properties()
                .forEach(label -> labels.put(label.getKey(), label.getValue().asText()));
        return labels;
    }

    /** The values of a label among the series that match. */
    public List<String> labelValues(String label, String selector) throws IOException, InterruptedException {
        List<String> values = new ArrayList<>();
        program.get("/api/v1/label/" + label + "/values", Map.of("match[]", selector))
                .get("data")
                .forEach(value -> values.add(value.asText()));
        return values;
    }

    private static List<Series> series(JsonNode answer) {
        if (!answer.path("status").asText().equals("success")) {
            throw new IllegalArgumentException(answer.toString());
        }
        List<Series> all = new ArrayList<>();
        for (JsonNode one : answer.get("data").get("result")) {
            JsonNode values = one.path("values");
            JsonNode newest = one.has("value") ? one.get("value") : values.get(values.size() - 1);
            all.add(new Series(
                    labels(one.get("metric")),
                    Double.parseDouble(newest.get(1).asText().replace("Inf", "Infinity"))));
        }
        return all;
    }

    @Override
    public void close() {
        program.close();
    }
}
