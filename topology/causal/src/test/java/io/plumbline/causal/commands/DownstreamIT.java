package io.plumbline.causal.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.causal.heads.LivePart;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the service with the rest of a model, through a broker. */
class DownstreamIT {

    @TempDir
    private Path folder;

    @Test
    void reportMetricsAndPageSayWhatTheModelDoesWithTheExplainersAccount() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            MonitorConfig config = LiveFolder.create(
                    folder,
                    broker.bootstrapServers(),
                    "head: '" + LivePart.head() + "', budget: 1m, timeout: 1m, share: 1");
            List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
            for (int window = 0; window < 2; window++) {
                for (byte[] request : LiveFolder.records()) {
                    records.add(new ProducerRecord<>(
                            "activations",
                            0,
                            LiveFolder.T0 + window * LiveFolder.WINDOW_MS,
                            LiveFolder.SITE.getBytes(StandardCharsets.UTF_8),
                            request));
                }
            }
            client.send(records);
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                List<ConsumerRecord<byte[], byte[]>> reports =
                        client.await(config.topics().windowReports(), found -> !found.isEmpty());
                JsonNode report = new JsonMapper().readTree(reports.get(0).value());
                assertEquals(2, report.path("downstream").path("requests").asInt(), report.toString());
                assertEquals(LiveFolder.oracle("kl"), report.path("kl").asDouble(), 1e-4);
                String kl = "plumbline_kl{decoder=\"trained\",site=\"blocks.3\"} ";
                BrokerClient.awaitThat(() -> get(runtime, "/metrics").contains(kl), () -> get(runtime, "/metrics"));
                String windows = "/api/sites/blocks.3/windows";
                BrokerClient.awaitThat(
                        () -> get(runtime, windows).contains("\"kl\":" + report.path("kl")),
                        () -> get(runtime, windows));
            }
        }
    }

    @Test
    void aHeadThatCannotBeLoadedStopsTheProgramBeforeItReadsARecord() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of());
            Files.writeString(folder.resolve("head.onnx"), "no model at all");
            MonitorConfig config = LiveFolder.create(folder, broker.bootstrapServers(), "head: head.onnx");
            String said = String.valueOf(
                    assertThrows(IllegalArgumentException.class, () -> PlumblineRuntime.start(config, Role.MONITOR))
                            .getMessage());
            assertTrue(said.startsWith("site blocks.3: downstream.head: "), said);
            assertTrue(said.contains("no ONNX model"), said);
        }
    }

    static String get(PlumblineRuntime runtime, String path) {
        URI address = URI.create("http://127.0.0.1:" + runtime.httpAddress().getPort() + path);
        try {
            return HttpClient.newHttpClient()
                    .send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofString())
                    .body();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
