package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.TargetsFolder;
import io.plumbline.topology.assessment.WindowAssessor;
import io.plumbline.topology.config.MonitorConfig;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a site with several targets through a broker with several partitions of closed panes. */
class TargetsIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path folder;

    @Test
    void oneTargetDriftsTheReportNamesItAndEachTargetIsScraped() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            MonitorConfig config = TargetsFolder.create(folder, broker.bootstrapServers(), "mode: observe");
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic(config.topics().activations(), 1, Map.of("retention.ms", "-1"));
            client.createTopic(config.topics().moments(), 4, Map.of("retention.ms", "-1"));
            List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>(TargetsFolder.window(T0, Set.of(1)));
            records.addAll(TargetsFolder.window(T0 + 10_000, Set.of()));
            client.sendAll(records);
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                JsonNode told = await(client, config);
                assertEquals("targets.1", told.get("worst_block").asText(), told.toString());
                assertEquals("[\"targets.1\"]", told.get("drifted_blocks").toString());
                assertEquals("drifted", told.get("verdict").asText());
                assertEquals(TargetsFolder.LAYERS, told.get("blocks").size());
                String worst = "plumbline_worst_block{block=\"targets.1\",site=\"clt\"} 1.0\n";
                BrokerClient.awaitThat(() -> metrics(runtime).contains(worst), () -> metrics(runtime));
                for (int target = 0; target < TargetsFolder.LAYERS; target++) {
                    String gap = "plumbline_faithfulness_gap{site=\"clt/targets.%d\"} ".formatted(target);
                    String verdict = "plumbline_verdict{site=\"clt/targets.%d\",verdict=\"%s\"} 1.0\n"
                            .formatted(target, target == 1 ? "drifted" : "aligned");
                    assertTrue(metrics(runtime).contains(gap), metrics(runtime));
                    assertTrue(metrics(runtime).contains(verdict), metrics(runtime));
                }
                assertFalse(metrics(runtime).contains("plumbline_faithfulness_gap{site=\"clt\"}"), metrics(runtime));
            }
        }
    }

    /** Returns the first report about all targets. */
    private static JsonNode await(BrokerClient client, MonitorConfig config) throws IOException {
        List<ConsumerRecord<byte[], byte[]>> reports = client.await(
                config.topics().windowReports(), found -> found.stream().anyMatch(TargetsIT::isOfAll));
        return JSON.readTree(reports.stream()
                .filter(TargetsIT::isOfAll)
                .findFirst()
                .orElseThrow()
                .value());
    }

    private static boolean isOfAll(ConsumerRecord<byte[], byte[]> report) {
        return report.headers().lastHeader(WindowAssessor.TARGETS_HEADER) != null;
    }

    private static String metrics(PlumblineRuntime runtime) {
        URI address = URI.create(
                "http://localhost:%d/metrics".formatted(runtime.httpAddress().getPort()));
        try (InputStream body = address.toURL().openStream()) {
            return new String(body.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
