package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.FaithfulnessGap;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.broker.Topics;
import io.plumbline.topology.cli.Shell;
import io.plumbline.topology.config.ConfigCheck;
import io.plumbline.topology.config.ConfigException;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.metrics.Metrics;
import io.plumbline.topology.metrics.PipelineMeters;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a site without an explainer: a baseline from a dump, then records with reconstructions to reports. */
class GivenReconstructionsTopologyTest {

    private static final long T0 = 1_700_000_000_000L;
    private static final long WINDOW_MS = 10_000;
    private static final int RANK = 4;
    private static final String YAML = """
            application_id: given
            kafka: {bootstrap.servers: "unused:9092"}
            window: {size: 10s, advance: 10s, grace: 0s, idle_close: off, minimum_rows: 8}
            sample: {rows: 512}
            state: {store: memory, directory: state}
            sites:
              layer.a: {explainer: none, baseline: baseline.safetensors, rank: 4, threshold: {share: 0.5}, clear: {share: 0.4}, debounce: 1 of 1, %s}
            """;

    @TempDir
    private Path folder;

    @BeforeEach
    void makeBaseline() throws IOException {
        Path dump = GivenRecords.dump(folder.resolve("quiet.safetensors"), 64, 1);
        Shell made = Shell.run(
                "baseline",
                "--explainer",
                "none",
                "--activations",
                dump,
                "--rank",
                RANK,
                "--window-rows",
                64,
                "--out",
                folder.resolve("baseline.safetensors"),
                "--json");
        assertEquals(0, made.exitCode(), made.err());
        assertTrue(
                new ObjectMapper()
                                .readTree(made.out())
                                .get("reconstruction_fvu")
                                .asDouble()
                        < 0.01,
                made.out());
    }

    @Test
    void theGapIsBetweenTargetsAndReconstructionsAndTheErrorIsOfAllRows() throws IOException {
        List<JsonNode> reports = reports(WatchedFolder::quiet, WatchedFolder::drifted, WatchedFolder::quiet);
        for (int window = 0; window < 2; window++) {
            LongFunction<Matrix> kind = window == 0 ? WatchedFolder::quiet : WatchedFolder::drifted;
            Matrix targets = stacked(kind, window, false);
            Matrix given = stacked(kind, window, true);
            JsonNode report = reports.get(window);
            double gap = FaithfulnessGap.between(
                            ActiveSubspace.topEigenspace(SecondMoment.of(given), RANK)
                                    .subspace(),
                            ActiveSubspace.topEigenspace(SecondMoment.of(targets), RANK)
                                    .subspace())
                    .value();
            assertEquals(gap, report.get("faithfulness_gap").asDouble(), 1e-5, report.toString());
            double error = error(targets, given);
            assertEquals(error, report.get("reconstruction_error").asDouble(), 1e-6 * error, report.toString());
            double fvu = error / spread(targets);
            assertEquals(fvu, report.get("reconstruction_fvu_trained").asDouble(), 1e-6 * fvu, report.toString());
            assertEquals(fvu, report.get("reconstruction_fvu").asDouble(), 1e-6 * fvu, report.toString());
            assertTrue(report.get("request_fvu").isNumber(), report.toString());
            assertTrue(report.get("request_shift").isNumber(), report.toString());
            assertEquals(WatchedFolder.WIDTH, report.get("dimension").asInt());
            assertEquals(
                    "records bring reconstructions and no codes",
                    report.get("feature_activity").get("undefined").asText());
        }
        assertEquals("aligned", reports.get(0).get("verdict").asText());
        assertEquals("drifted", reports.get(1).get("verdict").asText());
        assertTrue(reports.get(0).get("second_moment_shift_ratio").asDouble() < 0.5);
        assertTrue(reports.get(1).get("request_fvu").asDouble()
                > reports.get(0).get("request_fvu").asDouble());
    }

    @Test
    void codesThatComeWithReconstructionsSayWhichFeaturesFellSilentAndWokeUp() throws IOException {
        Files.delete(folder.resolve("baseline.safetensors"));
        Shell made = Shell.run(
                "baseline",
                "--explainer",
                "none",
                "--explainer-option",
                "features=8",
                "--activations",
                folder.resolve("quiet.safetensors"),
                "--rank",
                RANK,
                "--window-rows",
                64,
                "--out",
                folder.resolve("baseline.safetensors"));
        assertEquals(0, made.exitCode(), made.err());
        List<JsonNode> reports = reports(
                config("explainer_options: {features: 8}, adaptation: {mode: observe}"),
                GivenRecords::blobWithCodes,
                List.of("missing_codes", "wrong_width"),
                WatchedFolder::quiet,
                WatchedFolder::drifted,
                WatchedFolder::quiet);
        JsonNode quiet = reports.get(0).get("feature_activity");
        assertTrue(quiet.get("undefined").isNull(), quiet.toString());
        assertEquals(0, quiet.get("features").size(), quiet.toString());
        JsonNode drifted = reports.get(1).get("feature_activity");
        assertEquals(4, drifted.get("less_active").asInt(), drifted.toString());
        assertEquals(4, drifted.get("more_active").asInt(), drifted.toString());
        for (JsonNode feature : drifted.get("features")) {
            assertEquals(
                    feature.get("feature").asInt() < 4 ? "less_active" : "more_active",
                    feature.get("direction").asText());
        }
        double error = error(stacked(WatchedFolder::drifted, 1, false), stacked(WatchedFolder::drifted, 1, true));
        assertEquals(error, reports.get(1).get("reconstruction_error").asDouble(), 1e-6 * error);
    }

    @Test
    void aDumpIsJudgedAsItsWindowIs() throws IOException {
        Path dump = GivenRecords.dump(folder.resolve("later.safetensors"), 16, 1_000);
        Shell judged = Shell.run(
                "assess",
                "--explainer",
                "none",
                "--baseline",
                folder.resolve("baseline.safetensors"),
                "--activations",
                dump,
                "--rank",
                RANK,
                "--threshold-share",
                0.5,
                "--json");
        assertEquals(0, judged.exitCode(), judged.err());
        JsonNode answer = new ObjectMapper().readTree(judged.out());
        assertEquals("aligned", answer.get("verdict").asText());
        assertEquals(
                answer.get("reconstruction_fvu").asDouble(),
                answer.get("reconstruction_fvu_trained").asDouble(),
                1e-12);
        Shell none = Shell.run(
                "baseline",
                "--explainer",
                "none",
                "--activations",
                plainDump(),
                "--out",
                folder.resolve("no.safetensors"));
        assertEquals(2, none.exitCode());
        assertTrue(none.err().contains("expected a tensor \"reconstructions\" of 8 columns"), none.err());
    }

    private Path plainDump() throws IOException {
        Path file = folder.resolve("plain.safetensors");
        io.plumbline.wire.SafetensorsWriter.create()
                .add("activations", io.plumbline.wire.DType.F32, WatchedFolder.quiet(1))
                .writeTo(file);
        return file;
    }

    @Test
    void aSiteWithoutAnExplainerIsOnlyWatched() {
        String refused = String.valueOf(assertThrows(
                        ConfigException.class,
                        () -> MonitorConfig.parse(YAML.formatted("adaptation: {mode: propose}"), "given.yaml", folder))
                .getMessage());
        assertTrue(refused.contains("expected adaptation: {mode: observe} beside it"), refused);
        MonitorConfig config = config();
        assertEquals(List.of(), ConfigCheck.sites(config).get(0).problems());
    }

    private MonitorConfig config() {
        return config("adaptation: {mode: observe}");
    }

    private MonitorConfig config(String more) {
        return MonitorConfig.parse(YAML.formatted(more), "given.yaml", folder);
    }

    /** Makes a record's value of rows. */
    private interface Blob {
        byte[] of(Matrix rows, long seed);
    }

    /**
     * Returns the reports of all windows but the last; two records without right reconstructions are dead letters on
     * the way.
     */
    @SafeVarargs
    private List<JsonNode> reports(LongFunction<Matrix>... windows) throws IOException {
        return reports(config(), GivenRecords::blob, List.of("missing_reconstructions", "wrong_width"), windows);
    }

    @SafeVarargs
    private List<JsonNode> reports(
            MonitorConfig config, Blob blob, List<String> refused, LongFunction<Matrix>... windows) throws IOException {
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
                    folder.resolve("state"))) {
                String topic = config.topics().activations();
                byte[] lacking = refused.get(0).equals("missing_codes")
                        ? GivenRecords.blob(WatchedFolder.quiet(1), 1)
                        : ActivationRecords.blob(WatchedFolder.quiet(1));
                stream.send(topic, WatchedFolder.SITE, lacking, T0);
                stream.send(topic, WatchedFolder.SITE, GivenRecords.blob(Matrix.zeros(2, 6), 1), T0);
                for (int window = 0; window < windows.length; window++) {
                    for (int i = 0; i < WatchedFolder.RECORDS; i++) {
                        long time = time(window, i);
                        stream.send(topic, WatchedFolder.SITE, blob.of(windows[window].apply(time), time), time);
                    }
                }
                List<String> reasons = stream.read(config.topics().deadLetters()).stream()
                        .map(letter -> new String(
                                letter.headers().lastHeader("plumbline.reason").value(), StandardCharsets.UTF_8))
                        .toList();
                assertEquals(refused, reasons);
                for (TestRecord<byte[], byte[]> record :
                        stream.read(config.topics().windowReports())) {
                    reports.add(new ObjectMapper().readTree(record.value()));
                }
            }
        }
        return reports;
    }

    private static long time(int window, int record) {
        return T0 + window * WINDOW_MS + record * WINDOW_MS / WatchedFolder.RECORDS;
    }

    private static Matrix stacked(LongFunction<Matrix> kind, int window, boolean given) {
        Matrix all = Matrix.zeros(WatchedFolder.RECORDS * WatchedFolder.ROWS, WatchedFolder.WIDTH);
        for (int i = 0; i < WatchedFolder.RECORDS; i++) {
            long time = time(window, i);
            Matrix rows = kind.apply(time);
            Matrix part = given ? GivenRecords.reconstructions(rows, time) : rows;
            System.arraycopy(part.values(), 0, all.values(), i * part.values().length, part.values().length);
        }
        return all;
    }

    private static double error(Matrix targets, Matrix given) {
        double sum = 0.0;
        for (int i = 0; i < targets.values().length; i++) {
            sum += Math.pow(targets.values()[i] - given.values()[i], 2);
        }
        return sum / targets.rows();
    }

    private static double spread(Matrix rows) {
        double[] mean = SecondMoment.of(rows).mean();
        double sum = 0.0;
        for (int i = 0; i < rows.values().length; i++) {
            sum += Math.pow(rows.values()[i] - mean[i % mean.length], 2);
        }
        return sum / rows.rows();
    }
}
