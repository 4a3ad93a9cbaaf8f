package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.report.TargetsReport;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A site with several targets, from records to reports, against what circuit-tracer's own class computed. */
class TargetsTopologyTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path CASE =
            Repository.path("operators", "src", "test", "resources", "crosslayer", "circuit_tracer_clt");
    private static final long T0 = 1_700_000_000_000L;
    private static final int LAYERS = 3;
    private static final int ROWS_OF_REQUEST = 8;

    @TempDir
    private Path folder;

    private final List<TargetsReport> told = new ArrayList<>();
    private Matrix[] activations = new Matrix[0];
    private Matrix[] targets = new Matrix[0];

    @BeforeEach
    void makeBaselines() throws IOException {
        BlockBaselines.write(CASE, folder.resolve("baselines"));
        activations = new Matrix[LAYERS];
        targets = new Matrix[LAYERS];
        try (Safetensors rows = Safetensors.open(CASE.resolve("blocks.safetensors"))) {
            for (int layer = 0; layer < LAYERS; layer++) {
                activations[layer] = rows.tensor("activations." + layer).toMatrix();
                targets[layer] = rows.tensor("targets." + layer).toMatrix();
            }
        }
    }

    @Test
    void everyTargetHasAReportOfItsOwnAndTheSiteNamesTheWorst() throws IOException {
        JsonNode expected = JSON.readTree(CASE.resolve("blocks.json").toFile());
        Map<String, JsonNode> reports = reports();
        assertEquals(LAYERS + 1, reports.size(), reports.keySet().toString());
        for (int target = 0; target < LAYERS; target++) {
            double fvu = expected.path("fvu").path(Integer.toString(target)).asDouble();
            JsonNode report = reports.get("clt/targets." + target);
            assertEquals(64, report.get("rows").asInt());
            assertEquals(fvu, report.get("reconstruction_fvu_trained").asDouble(), 1e-5 * fvu, report.toString());
            assertTrue(report.get("second_moment_shift_ratio").asDouble() < 1e-6, report.toString());
        }
        JsonNode all = reports.get("clt");
        assertEquals(LAYERS, all.get("blocks").size());
        assertEquals("aligned", all.get("verdict").asText());
        assertEquals(1, told.size());
    }

    @Test
    void aShiftOfOneLayerIsADriftOfThatTargetAlone() throws IOException {
        for (int i = 0; i < targets[1].rows(); i++) {
            for (int j = 0; j < 4; j++) {
                targets[1].set(i, 40 + j, targets[1].get(i, 40 + j) + 40.0 * Math.sin(i * (j + 1.0)));
            }
        }
        Map<String, JsonNode> reports = reports();
        assertEquals("targets.1", reports.get("clt").get("worst_block").asText());
        assertEquals("drifted", reports.get("clt").get("verdict").asText());
        assertEquals("[\"targets.1\"]", reports.get("clt").get("drifted_blocks").toString());
        assertEquals("aligned", reports.get("clt/targets.0").get("verdict").asText());
        assertEquals("aligned", reports.get("clt/targets.2").get("verdict").asText());
    }

    @Test
    void aRecordWithoutOneLayerIsADeadLetterAndNoBlockTakesItsRows() throws IOException {
        try (Streaming stream = stream()) {
            String topic = config().topics().activations();
            stream.send(topic, "clt", record(0, 1), T0);
            List<TestRecord<byte[], byte[]>> letters =
                    stream.read(config().topics().deadLetters());
            assertEquals(1, letters.size());
            String message = message(letters.get(0));
            assertTrue(message.contains("site clt/targets.1: tensor \"targets.1\" is missing"), message);
            stream.send(topic, "clt", record(0, -1), T0);
            stream.send(topic, "clt", record(0, -1), T0 + 20_000);
            stream.read(config().topics().windowReports()).stream()
                    .filter(report -> report.headers().lastHeader(TargetsReport.HEADER) == null)
                    .forEach(report -> assertTrue(
                            new String(report.value(), StandardCharsets.UTF_8).contains("\"rows\":8"),
                            "rows of the refused record"));
        }
    }

    @Test
    void rowsOfAnotherNumberOrWidthAreADeadLetterThatNamesTheTensorAndWhatWasExpected() throws IOException {
        try (Streaming stream = stream()) {
            String topic = config().topics().activations();
            Matrix narrow = targets[2].rowRange(0, ROWS_OF_REQUEST).leadingColumns(47);
            stream.send(topic, "clt", withTargets(2, narrow), T0);
            stream.send(topic, "clt", withTargets(1, targets[1].rowRange(0, ROWS_OF_REQUEST - 1)), T0);
            stream.send(topic, "clt", withTargets(1, targets[1].rowRange(0, ROWS_OF_REQUEST)), T0);
            List<TestRecord<byte[], byte[]>> letters =
                    stream.read(config().topics().deadLetters());
            assertEquals(2, letters.size());
            assertTrue(message(letters.get(0)).contains("site clt/targets.2: "), message(letters.get(0)));
            assertTrue(message(letters.get(0)).contains("47"), message(letters.get(0)));
            assertTrue(message(letters.get(0)).contains("48"), message(letters.get(0)));
            assertTrue(
                    message(letters.get(1))
                            .contains("site clt/targets.1: tensor \"targets.1\": shape [7, 48], expected [8, d_out]"),
                    message(letters.get(1)));
        }
    }

    @Test
    void everyTargetIsASiteOfItsOwn() throws IOException {
        Map<String, WatchedSite> sites = WatchedSite.readAll(config().sites().values());
        assertEquals(List.of("clt/targets.0", "clt/targets.1", "clt/targets.2"), List.copyOf(sites.keySet()));
        String both = refusal("adaptation: {mode: observe}, explainer_options: {target: 1}");
        assertTrue(both.contains("expected no explainer_options: {target: L} beside it"), both);
        String twice = refused(config("adaptation: {mode: observe}", "targets: [0, 1, 1]"));
        assertTrue(twice.contains("expected every layer once"), twice);
        String none = refused(config("adaptation: {mode: observe}", "targets: []"));
        assertTrue(none.contains("expected at least one layer"), none);
        String words = refused(config("adaptation: {mode: observe}", "targets: [last]"));
        assertTrue(words.contains("expected numbers of target layers"), words);
        String given = refused(config("adaptation: {mode: observe}", "targets: [0, 1, 2]")
                .replaceFirst("explainer: \"[^\"]*\"", "explainer: none"));
        assertTrue(given.contains("not beside explainer: none"), given);
        String unknown = refusal("adaptation: {mode: observe}, hidden_states: {layers: [1], layer: 1}");
        assertTrue(unknown.contains("expected only at a site with one target"), unknown);
    }

    private String refusal(String more) {
        return refused(config(more, "targets: [0, 1, 2]"));
    }

    private String refused(String yaml) {
        return String.valueOf(
                assertThrows(IllegalArgumentException.class, () -> MonitorConfig.parse(yaml, "targets.yaml", folder))
                        .getMessage());
    }

    private static String message(TestRecord<byte[], byte[]> letter) {
        return new String(letter.headers().lastHeader("plumbline.message").value(), StandardCharsets.UTF_8);
    }

    /** Returns the first record with other targets of one layer. */
    private byte[] withTargets(int of, Matrix rows) {
        SafetensorsWriter writer = SafetensorsWriter.create();
        for (int layer = 0; layer < LAYERS; layer++) {
            writer.add("activations." + layer, DType.F32, activations[layer].rowRange(0, ROWS_OF_REQUEST));
            writer.add("targets." + layer, DType.F32, layer == of ? rows : targets[layer].rowRange(0, ROWS_OF_REQUEST));
        }
        return writer.toBytes();
    }

    /** Returns the newest report under each key. */
    private Map<String, JsonNode> reports() throws IOException {
        Map<String, JsonNode> reports = new HashMap<>();
        try (Streaming stream = stream()) {
            String topic = config().topics().activations();
            for (int from = 0; from < activations[0].rows(); from += ROWS_OF_REQUEST) {
                stream.send(topic, "clt", record(from, -1), T0 + from);
            }
            stream.send(topic, "clt", record(0, -1), T0 + 20_000);
            assertEquals(0, stream.read(config().topics().deadLetters()).size());
            for (TestRecord<byte[], byte[]> report :
                    stream.read(config().topics().windowReports())) {
                reports.put(new String(report.key(), StandardCharsets.UTF_8), JSON.readTree(report.value()));
            }
        }
        return reports;
    }

    private Streaming stream() throws IOException {
        MonitorConfig config = config();
        return Streaming.monitor(config, folder.resolve("state"), new DriftListener() {
            @Override
            public void onTargets(TargetsReport report) {
                told.add(report);
            }
        });
    }

    private MonitorConfig config() {
        return MonitorConfig.parse(config("adaptation: {mode: observe}", "targets: [0, 1, 2]"), "targets.yaml", folder);
    }

    private static String config(String adaptation, String targets) {
        return """
                application_id: targets
                kafka: {bootstrap.servers: "unused:9092"}
                window: {size: 10s, advance: 10s, grace: 0s, idle_close: off, minimum_rows: 8}
                sample: {rows: 512}
                state: {store: memory, directory: state}
                sites:
                  clt: {explainer: "%s", %s, baseline: baselines, rank: 4, trigger: [second_moment_shift_ratio], threshold: 0.1, debounce: 1 of 1, %s}
                """.formatted(CASE.resolve("explainer").toAbsolutePath(), targets, adaptation);
    }

    /** @param without the targets of this layer */
    private byte[] record(int from, int without) {
        SafetensorsWriter writer = SafetensorsWriter.create();
        for (int layer = 0; layer < LAYERS; layer++) {
            writer.add("activations." + layer, DType.F32, activations[layer].rowRange(from, from + ROWS_OF_REQUEST));
            if (layer != without) {
                writer.add("targets." + layer, DType.F32, targets[layer].rowRange(from, from + ROWS_OF_REQUEST));
            }
        }
        return writer.toBytes();
    }
}
