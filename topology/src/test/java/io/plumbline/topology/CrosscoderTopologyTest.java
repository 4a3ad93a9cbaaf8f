package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A site with the layers of a crosscoder, from records to reports, against what OpenMOSS' own class computed. */
class CrosscoderTopologyTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final Path CASE =
            Repository.path("operators", "src", "test", "resources", "crosslayer", "openmoss_crosscoder_jumprelu");
    private static final List<Integer> LAYERS = List.of(5, 9, 12);
    private static final long T0 = 1_700_000_000_000L;
    private static final int ROWS_OF_REQUEST = 8;

    @TempDir
    private Path folder;

    @Test
    void everyLayerIsReportedOnWithTheRowsThatItReproduces() throws IOException {
        BlockBaselines.write(CASE, folder.resolve("baselines"));
        JsonNode expected = JSON.readTree(CASE.resolve("blocks.json").toFile());
        Map<String, JsonNode> reports = reports();
        assertEquals(LAYERS.size() + 1, reports.size(), reports.keySet().toString());
        for (int layer : LAYERS) {
            double fvu = expected.path("fvu").path(Integer.toString(layer)).asDouble();
            JsonNode report = reports.get("cc/targets." + layer);
            assertEquals(48, report.get("rows").asInt());
            assertEquals(fvu, report.get("reconstruction_fvu_trained").asDouble(), 1e-5 * fvu, report.toString());
            assertTrue(report.get("second_moment_shift_ratio").asDouble() < 1e-6, report.toString());
        }
        assertEquals("aligned", reports.get("cc").get("verdict").asText());
    }

    /** Returns the newest report under each key. */
    private Map<String, JsonNode> reports() throws IOException {
        MonitorConfig config = config();
        Map<String, JsonNode> reports = new HashMap<>();
        try (Safetensors rows = Safetensors.open(CASE.resolve("blocks.safetensors"));
                Streaming stream = stream(config)) {
            String topic = config.topics().activations();
            for (int from = 0; from < 48; from += ROWS_OF_REQUEST) {
                stream.send(topic, "cc", record(rows, from), T0 + from);
            }
            stream.send(topic, "cc", record(rows, 0), T0 + 20_000);
            assertEquals(0, stream.read(config.topics().deadLetters()).size());
            for (TestRecord<byte[], byte[]> report : stream.read(config.topics().windowReports())) {
                reports.put(new String(report.key(), StandardCharsets.UTF_8), JSON.readTree(report.value()));
            }
        }
        return reports;
    }

    private static byte[] record(Safetensors rows, int from) {
        SafetensorsWriter writer = SafetensorsWriter.create();
        for (int layer : LAYERS) {
            Matrix all = rows.tensor("activations." + layer).toMatrix();
            writer.add("activations." + layer, DType.F32, all.rowRange(from, from + ROWS_OF_REQUEST));
        }
        return writer.toBytes();
    }

    private Streaming stream(MonitorConfig config) throws IOException {
        return Streaming.monitor(config, folder.resolve("state"), new DriftListener() {});
    }

    private MonitorConfig config() {
        return MonitorConfig.parse(
                """
                application_id: crosscoder
                kafka: {bootstrap.servers: "unused:9092"}
                window: {size: 10s, advance: 10s, grace: 0s, idle_close: off, minimum_rows: 8}
                sample: {rows: 512}
                state: {store: memory, directory: state}
                sites:
                  cc: {explainer: "%s", targets: [5, 9, 12], baseline: baselines, rank: 4, trigger: [second_moment_shift_ratio], threshold: 0.1, debounce: 1 of 1, adaptation: {mode: observe}}
                """.formatted(CASE.resolve("explainer").toAbsolutePath()), "crosscoder.yaml", folder);
    }
}
