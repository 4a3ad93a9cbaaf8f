package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.broker.Topics;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.windows.WindowListener;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class TenantsTopologyTest {

    private static final long T0 = 1_700_000_000_000L;
    private static final long WINDOW_MS = 10_000;
    private static final long DAY_MS = 86_400_000;
    private static final String OF_ACME = "activations-acme";
    private static final String OF_GLOBEX = "activations-globex";

    @TempDir
    private Path folder;

    private MonitorConfig config;
    private Streaming stream;

    @BeforeEach
    void start() throws IOException {
        config = TenantsFolder.create(folder, "unused:9092");
        stream = new Streaming(
                MonitorTopology.build(
                        config,
                        WatchedFolder.sites(config),
                        new Topics.Prepared(Map.of(OF_ACME, 1, OF_GLOBEX, 1), 1_000_000, 0),
                        site -> null,
                        new MonitorTopology.Listeners(
                                new IngestListener() {}, new WindowListener() {}, new DriftListener() {})),
                StreamsSettings.monitor(config),
                folder.resolve("state"));
    }

    @AfterEach
    void stop() {
        stream.close();
    }

    @Test
    void aTenantsRowsAreOfItsOwnSitesAndOfNoOther() throws IOException {
        window(OF_ACME, TenantsFolder.ACME, T0);
        window(OF_ACME, TenantsFolder.GLOBEX, T0);
        window(OF_GLOBEX, TenantsFolder.GLOBEX, T0);
        stream.send(OF_GLOBEX, "nobody.l1", new byte[8], T0);
        window(OF_ACME, TenantsFolder.ACME, T0 + WINDOW_MS);
        window(OF_GLOBEX, TenantsFolder.GLOBEX, T0 + WINDOW_MS);

        List<JsonNode> reports = reports();
        assertEquals(
                List.of(TenantsFolder.ACME, TenantsFolder.GLOBEX),
                reports.stream()
                        .map(report -> report.path("site").asText())
                        .sorted()
                        .toList());
        for (JsonNode report : reports) {
            assertEquals(
                    WatchedFolder.ROWS * WatchedFolder.RECORDS,
                    report.path("rows").asInt(),
                    report.toString());
        }
        List<TestRecord<byte[], byte[]>> letters = stream.read(config.topics().deadLetters());
        assertEquals(WatchedFolder.RECORDS + 1, letters.size());
        assertEquals("other_tenant", header(letters.get(0), "plumbline.reason"));
        assertEquals(OF_ACME, header(letters.get(0), "plumbline.topic"));
        TestRecord<byte[], byte[]> unknown = letters.get(letters.size() - 1);
        assertEquals("unknown_site", header(unknown, "plumbline.reason"));
        String message = header(unknown, "plumbline.message");
        assertTrue(message.contains(TenantsFolder.GLOBEX) && !message.contains(TenantsFolder.ACME), message);
    }

    @Test
    void theClockOfOneTenantClosesNoWindowOfAnother() throws IOException {
        window(OF_GLOBEX, TenantsFolder.GLOBEX, T0);
        window(OF_ACME, TenantsFolder.ACME, T0 + DAY_MS);
        window(OF_ACME, TenantsFolder.ACME, T0 + DAY_MS + WINDOW_MS);
        assertEquals(List.of(TenantsFolder.ACME), sitesOf(reports()));

        window(OF_GLOBEX, TenantsFolder.GLOBEX, T0 + WINDOW_MS);
        List<JsonNode> late = reports();
        assertEquals(List.of(TenantsFolder.GLOBEX), sitesOf(late));
        assertEquals(
                WatchedFolder.ROWS * WatchedFolder.RECORDS,
                late.get(0).path("rows").asInt(),
                late.toString());
    }

    private void window(String topic, String site, long startMs) {
        for (int i = 0; i < WatchedFolder.RECORDS; i++) {
            long time = startMs + i * WINDOW_MS / WatchedFolder.RECORDS;
            stream.send(topic, site, ActivationRecords.blob(WatchedFolder.quiet(time)), time);
        }
    }

    private List<JsonNode> reports() throws IOException {
        List<JsonNode> reports = new ArrayList<>();
        for (TestRecord<byte[], byte[]> record : stream.read(config.topics().windowReports())) {
            reports.add(new ObjectMapper().readTree(record.value()));
        }
        return reports;
    }

    private static List<String> sitesOf(List<JsonNode> reports) {
        return reports.stream().map(report -> report.path("site").asText()).toList();
    }

    private static String header(TestRecord<byte[], byte[]> letter, String name) {
        return new String(letter.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
    }
}
