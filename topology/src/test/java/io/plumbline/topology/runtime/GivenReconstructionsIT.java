package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.GivenRecords;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.cli.Shell;
import io.plumbline.topology.config.MonitorConfig;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a site without an explainer through a broker: baseline and replay from dumps, then the monitor. */
class GivenReconstructionsIT {

    @TempDir
    private Path folder;

    @Test
    void dumpsWithReconstructionsMakeABaselineAreReplayedAndJudged() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            run(
                    "baseline",
                    "--explainer",
                    "none",
                    "--activations",
                    GivenRecords.dump(folder.resolve("quiet.safetensors"), 64, 1),
                    "--rank",
                    4,
                    "--window-rows",
                    64,
                    "--out",
                    folder.resolve("baseline.safetensors"));
            MonitorConfig config = MonitorConfig.parse("""
                    application_id: given
                    kafka: {bootstrap.servers: "%s", monitor.commit.interval.ms: 500}
                    window: {size: 10s, advance: 10s, grace: 0s, idle_close: off, minimum_rows: 8}
                    state: {store: memory, directory: state}
                    http: {port: 0}
                    sites:
                      layer.a: {explainer: none, baseline: baseline.safetensors, rank: 4, threshold: {share: 0.5}, adaptation: {mode: observe}}
                    """.formatted(broker.bootstrapServers()), "given.yaml", folder);
            new BrokerClient(broker.bootstrapServers())
                    .createTopic(config.topics().activations(), 1, Map.of("retention.ms", "-1"));
            run(
                    "replay",
                    "--activations",
                    GivenRecords.dump(folder.resolve("later.safetensors"), 32, 1_000),
                    "--site",
                    WatchedFolder.SITE,
                    "--bootstrap-servers",
                    broker.bootstrapServers(),
                    "--topic",
                    config.topics().activations(),
                    "--start",
                    "2026-01-01T00:00:00Z",
                    "--event-time-step",
                    "500ms");
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                List<ConsumerRecord<byte[], byte[]>> reports = new BrokerClient(broker.bootstrapServers())
                        .await(config.topics().windowReports(), found -> !found.isEmpty());
                JsonNode report = new ObjectMapper().readTree(reports.get(0).value());
                assertEquals("aligned", report.get("verdict").asText(), report.toString());
                assertEquals(20 * WatchedFolder.ROWS, report.get("rows").asInt());
                assertTrue(report.get("reconstruction_fvu_trained").asDouble() < 0.01, report.toString());
                assertTrue(report.get("reconstruction_error").asDouble() > 0.0, report.toString());
                assertTrue(report.get("gap_share").asDouble() < 0.3, report.toString());
                assertTrue(runtime.httpAddress().getPort() > 0);
            }
        }
    }

    private static void run(Object... words) {
        Shell shell = Shell.run(words);
        assertEquals(0, shell.exitCode(), shell.err());
    }
}
