package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.FiringFolder;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests features that fall silent and wake up, through a broker to the report, the metrics and the page's JSON. */
class FeatureActivityIT {

    private static final long T0 = 1_700_000_000_000L;

    @TempDir
    private Path folder;

    @Test
    void reportMetricsAndPageSayWhichFeaturesFellSilentAndWokeUp() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            MonitorConfig config = FiringFolder.create(
                    folder.resolve("site"), broker.bootstrapServers(), "{false_discovery_rate: 0.05}");
            List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
            add(records, T0, WatchedFolder::quiet);
            add(records, T0 + 10_000, WatchedFolder::drifted);
            add(records, T0 + 20_000, WatchedFolder::quiet);
            client.send(records);
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                List<ConsumerRecord<byte[], byte[]>> reports =
                        client.await(config.topics().windowReports(), found -> found.size() >= 2);
                JsonNode changes =
                        new ObjectMapper().readTree(reports.get(1).value()).get("feature_activity");
                assertEquals(8, changes.get("less_active").asInt(), changes.toString());
                assertEquals(8, changes.get("more_active").asInt(), changes.toString());
                String silent = "plumbline_changed_features{direction=\"less_active\",site=\"layer.a\"} 8.0\n";
                BrokerClient.awaitThat(() -> get(runtime, "/metrics").contains(silent), () -> get(runtime, "/metrics"));
                assertTrue(get(runtime, "/metrics").contains("plumbline_compared_features{site=\"layer.a\"} 8.0\n"));
                String page = "/api/sites/layer.a/reports";
                BrokerClient.awaitThat(
                        () -> get(runtime, page)
                                .contains("\"newest\":{\"site\":\"layer.a\",\"window_start_ms\":" + (T0 + 10_000)),
                        () -> get(runtime, page));
                JsonNode shown = new ObjectMapper().readTree(get(runtime, page)).at("/newest/feature_activity");
                assertEquals(changes, shown);
            }
        }
    }

    private static void add(List<ProducerRecord<byte[], byte[]>> records, long startMs, LongFunction<Matrix> rows) {
        for (int i = 0; i < WatchedFolder.RECORDS; i++) {
            long time = startMs + i * 100L;
            records.add(new ProducerRecord<>(
                    "activations",
                    0,
                    time,
                    WatchedFolder.SITE.getBytes(StandardCharsets.UTF_8),
                    ActivationRecords.blob(rows.apply(time))));
        }
    }

    private static String get(PlumblineRuntime runtime, String path) {
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
