package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.broker.Topics;
import io.plumbline.topology.config.ConfigCheck;
import io.plumbline.topology.config.ConfigException;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.metrics.Metrics;
import io.plumbline.topology.metrics.PipelineMeters;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests features that fall silent and wake up, from records to reports. */
class FeatureActivityTopologyTest {

    private static final long T0 = 1_700_000_000_000L;
    private static final long WINDOW_MS = 10_000;

    @TempDir
    private Path folder;

    @Test
    void aReportNamesTheFeaturesThatFellSilentAndThoseThatWokeUp() throws IOException {
        List<JsonNode> reports = reports("{false_discovery_rate: 0.05}");
        JsonNode quiet = reports.get(0).get("feature_activity");
        assertTrue(quiet.get("undefined").isNull(), quiet.toString());
        assertEquals(
                WatchedFolder.ROWS * WatchedFolder.RECORDS, quiet.get("rows").asInt());
        assertEquals(WatchedFolder.RECORDS, quiet.get("requests").asInt());
        assertEquals(8, quiet.get("tested").asInt());
        assertEquals(0, quiet.get("features").size(), quiet.toString());
        JsonNode drifted = reports.get(1).get("feature_activity");
        assertEquals(8, drifted.get("less_active").asInt(), drifted.toString());
        assertEquals(8, drifted.get("more_active").asInt(), drifted.toString());
        assertEquals(16, drifted.get("features").size());
        for (JsonNode feature : drifted.get("features")) {
            boolean wokeUp = feature.get("feature").asInt() % 8 >= 4;
            assertEquals(
                    wokeUp ? "more_active" : "less_active",
                    feature.get("direction").asText());
            assertEquals(
                    0.0,
                    feature.get(wokeUp ? "frequency_baseline" : "frequency").asDouble());
        }
    }

    @Test
    void aReportNamesTheFeaturesItListsByTheLabelsAndTheLinkOfTheSite() throws IOException {
        Files.writeString(folder.resolve("labels.json"), "{\"4\": \"woke\", \"15\": \"too\"}");
        List<JsonNode> reports = reports("{labels: labels.json, link: 'https://example.org/{feature}'}");
        assertEquals(0, reports.get(0).get("feature_names").size());
        JsonNode names = reports.get(1).get("feature_names");
        assertEquals(16, names.size(), names.toString());
        assertEquals("woke", names.get("4").get("label").asText());
        assertEquals("https://example.org/4", names.get("4").get("link").asText());
        assertTrue(names.get("5").get("label").isNull());
    }

    @Test
    void labelsOfOtherFeaturesStopTheProgramBeforeItStarts() throws IOException {
        Files.writeString(folder.resolve("labels.json"), "{\"16\": \"one too many\"}");
        MonitorConfig config = FiringFolder.create(folder, "unused:9092", "{labels: labels.json}");
        String refused = String.valueOf(assertThrows(IllegalArgumentException.class, () -> WatchedFolder.sites(config))
                .getMessage());
        assertTrue(refused.startsWith("site layer.a: features.labels: "), refused);
        assertTrue(refused.contains("feature \"16\": expected an index from 0 to 15"), refused);
        List<String> problems = ConfigCheck.sites(config).get(0).problems();
        assertTrue(problems.stream().anyMatch(problem -> problem.startsWith("features.labels: ")), problems::toString);
        assertThrows(
                ConfigException.class,
                () -> FiringFolder.create(folder, "unused:9092", "{link: 'javascript:{feature}'}"));
    }

    @Test
    void theRateIsTheSitesAndATenthWhereItSaysNothing() throws IOException {
        MonitorConfig strict = FiringFolder.create(folder, "unused:9092", "{false_discovery_rate: 0.001}");
        assertEquals(0.001, strict.sites().get(WatchedFolder.SITE).features().falseDiscoveryRate());
        MonitorConfig usual = FiringFolder.create(folder, "unused:9092", "{}");
        assertEquals(0.1, usual.sites().get(WatchedFolder.SITE).features().falseDiscoveryRate());
        for (String rate : List.of("0", "0.6", "often")) {
            assertThrows(
                    ConfigException.class,
                    () -> FiringFolder.create(folder, "unused:9092", "{false_discovery_rate: " + rate + "}"));
        }
    }

    @Test
    void aReportSaysWhetherAWatchedFeatureIsHurt() throws IOException {
        Files.writeString(folder.resolve("labels.json"), "{\"0\": \"relied on\"}");
        List<JsonNode> reports = reports("{labels: labels.json}\n      watch: {features: [0, 4, 13]}");
        JsonNode quiet = reports.get(0).get("watched");
        assertEquals("none", quiet.get("harm").asText(), quiet.toString());
        assertEquals(WatchedFolder.RECORDS, quiet.get("requests").asInt());
        assertEquals(4 * WatchedFolder.RECORDS, quiet.get("requests_baseline").asInt());
        assertEquals(
                "relied on",
                reports.get(0).get("feature_names").get("0").get("label").asText());
        JsonNode drifted = reports.get(1).get("watched");
        assertEquals("watched", drifted.get("harm").asText(), drifted.toString());
        for (JsonNode feature : drifted.get("features")) {
            boolean wokeUp = feature.get("feature").asInt() % 8 >= 4;
            assertEquals(0.0, feature.get(wokeUp ? "rate_baseline" : "rate").asDouble(), feature.toString());
            assertTrue(feature.get("hurt").asBoolean(), feature.toString());
        }
        JsonNode first = drifted.get("hurt").get(0);
        assertTrue(first.get("q_value").asDouble() <= 0.001, first.toString());
        assertEquals("unknown", reports("{}").get(0).get("watched").get("harm").asText());
    }

    @Test
    void aReportSaysWhatAProbeReadsAndWhetherItIsHurt() throws IOException {
        Files.writeString(
                folder.resolve("loud.json"), "{\"coef_\": [[1, 0, 0, 0, 0, 0, 0, 0]], \"intercept_\": [0.5]}");
        Files.writeString(
                folder.resolve("v.json"), "{\"w\": [0, 1, 0, 0, 0, 0, 0, 0], \"query\": [0, 9, 0, 0, 0, 0, 0, 0]}");
        List<JsonNode> reports =
                reports("{}\n      watch: {probes: [loud.json, {file: v.json, name: pooled, threshold: 1.5}]}");
        JsonNode quiet = reports.get(0).get("watched");
        assertEquals("none", quiet.get("harm").asText(), quiet.toString());
        assertEquals("loud", quiet.get("probes").get(0).get("name").asText());
        assertEquals("pooled", quiet.get("probes").get(1).get("name").asText());
        assertEquals(1.5, quiet.get("probes").get(1).get("threshold").asDouble());
        assertTrue(quiet.get("probes").get(1).get("rate").asDouble() > 0.7, quiet.toString());
        JsonNode drifted = reports.get(1).get("watched");
        assertEquals("watched", drifted.get("harm").asText(), drifted.toString());
        for (JsonNode probe : drifted.get("probes")) {
            assertTrue(probe.get("hurt").asBoolean(), probe.toString());
            assertTrue(probe.get("outside").asDouble() > 0.99, probe.toString());
            assertTrue(probe.get("outside_baseline").asDouble() < 0.01, probe.toString());
        }
        Files.writeString(folder.resolve("loud.json"), "{\"coef_\": [1]}");
        MonitorConfig config = FiringFolder.create(folder, "unused:9092", "{}\n      watch: {probes: loud.json}");
        List<String> problems = ConfigCheck.sites(config).get(0).problems();
        assertTrue(problems.get(0).startsWith("watch.probes: "), problems::toString);
        assertTrue(problems.get(0).contains("\"coef_\": shape"), problems::toString);
        assertThrows(IllegalArgumentException.class, () -> WatchedFolder.sites(config));
    }

    @Test
    void whatCannotBeWatchedStopsTheProgramBeforeItStarts() throws IOException {
        MonitorConfig config = FiringFolder.create(folder, "unused:9092", "{}\n      watch: {features: 16}");
        String refused = String.valueOf(assertThrows(IllegalArgumentException.class, () -> WatchedFolder.sites(config))
                .getMessage());
        assertEquals("site layer.a: watch.features = 16: expected an index from 0 to 15", refused);
        assertEquals(
                List.of("watch.features = 16: expected an index from 0 to 15"),
                ConfigCheck.sites(config).get(0).problems());
        for (String watch : List.of(
                "{features: [1, 1]}",
                "{features: [-1]}",
                "{features: dogs}",
                "{false_discovery_rate: 0}",
                "{fatures: 1}",
                "{probes: [a.pt, b/a.npz]}",
                "{probes: {name: dogs}}",
                "{probes: {file: a.pt, name: feature 1}}",
                "{probes: {file: a.pt, threshold: high}}",
                "{probes: {file: a.pt, treshold: 1}}")) {
            assertThrows(
                    ConfigException.class,
                    () -> FiringFolder.create(folder, "unused:9092", "{}\n      watch: " + watch),
                    watch);
        }
    }

    @Test
    void aRateThatNoTestCanReachIsRefusedWithTheLowestThatOneCan() throws IOException {
        String watch = "{}\n      watch: {features: [0, 4], false_discovery_rate: %s}";
        FiringFolder.create(folder, "unused:9092", watch.formatted("0.0001"));
        String probes = IntStream.range(0, 50).mapToObj(i -> i + ".pt").collect(Collectors.joining(", "));
        String many = "{}\n      watch: {probes: [%s], false_discovery_rate: %s}";
        FiringFolder.create(folder, "unused:9092", many.formatted(probes, "0.0005"));
        ConfigException refused = assertThrows(
                ConfigException.class,
                () -> FiringFolder.create(folder, "unused:9092", many.formatted(probes, "0.0004")));
        assertTrue(
                refused.getMessage()
                        .contains("watch.false_discovery_rate = 4.0E-4: expected at least 5.0E-4, since 100 tests "
                                + "share it and none finds a chance below 1/200000"),
                refused.getMessage());
    }

    private List<JsonNode> reports(String features) throws IOException {
        MonitorConfig config = FiringFolder.create(folder, "unused:9092", features);
        List<JsonNode> reports = new ArrayList<>();
        try (Metrics metrics = Metrics.create(Metrics.Settings.of(config.window(), 1))) {
            metrics.expect(List.of(WatchedFolder.SITE));
            PipelineMeters pipeline = metrics.pipeline();
            try (Streaming stream = new Streaming(
                    MonitorTopology.build(
                            config,
                            WatchedFolder.sites(config),
                            Topics.Prepared.of(config.topics().activations(), 1, 1_000_000),
                            site -> null,
                            new MonitorTopology.Listeners(pipeline, pipeline, pipeline)),
                    StreamsSettings.monitor(config),
                    folder.resolve("state" + features.hashCode()))) {
                List<LongFunction<Matrix>> windows =
                        List.of(WatchedFolder::quiet, WatchedFolder::drifted, WatchedFolder::quiet);
                for (int window = 0; window < windows.size(); window++) {
                    for (int i = 0; i < WatchedFolder.RECORDS; i++) {
                        long time = T0 + window * WINDOW_MS + i * WINDOW_MS / WatchedFolder.RECORDS;
                        stream.send(
                                config.topics().activations(),
                                WatchedFolder.SITE,
                                ActivationRecords.blob(windows.get(window).apply(time)),
                                time);
                    }
                }
                for (TestRecord<byte[], byte[]> record :
                        stream.read(config.topics().windowReports())) {
                    reports.add(new ObjectMapper().readTree(record.value()));
                }
            }
        }
        return reports;
    }
}
