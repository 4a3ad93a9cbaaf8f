package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.ingest.DeadLetter.Place;
import io.plumbline.topology.ingest.KeptLetter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests topics that come to take less than they did when the monitor started. Each first refusal ends a transaction and
 * a thread; what cannot be written is written smaller or left out, and everything else arrives.
 */
class LeftOutOutputsIT {

    private static final long T0 = 1_700_000_000_000L;

    /** A lost thread keeps its tasks until its session is over, and its transaction until that has timed out. */
    private static final String SHORT_TIMES =
            "monitor.main.consumer.session.timeout.ms: 2000, monitor.main.consumer.heartbeat.interval.ms: 500, "
                    + "monitor.producer.transaction.timeout.ms: 5000, ";

    @TempDir
    private Path folder;

    @Test
    void theMonitorGoesOnWhereATopicDoesNotTakeWhatItWrites() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            WatchedFolder.create(folder.resolve("site"), broker.bootstrapServers());
            Path file = folder.resolve("site").resolve(WatchedFolder.FILE);
            Files.writeString(file, Files.readString(file).replace("kafka: {", "kafka: {" + SHORT_TIMES));
            MonitorConfig config = MonitorConfig.load(file);
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                client.sendAll(window(0));
                client.alterTopic("dead-letters", "max.message.bytes", "2000");
                client.send(List.of(bad(0, 50_000)));
                ConsumerRecord<byte[], byte[]> letter =
                        client.await("dead-letters", found -> !found.isEmpty()).get(0);
                KeptLetter kept = KeptLetter.of(letter.headers());
                assertEquals(new Place("activations", 0, WatchedFolder.RECORDS), kept.place());
                assertEquals("unknown_site", kept.reason());
                assertEquals(50_000 + "nobody".length(), kept.omittedBytes());
                assertEquals(0, leftOut(runtime, "dead_letters"));

                client.alterTopic("dead-letters", "max.message.bytes", "100");
                client.send(List.of(bad(1, 60_000)));
                BrokerClient.awaitThat(() -> leftOut(runtime, "dead_letters") == 1, () -> "nothing was left out");

                client.alterTopic("window-reports", "max.message.bytes", "100");
                client.sendAll(window(1));
                client.sendAll(window(2));
                // More where the second is refused after the first was counted: its transaction is read again.
                BrokerClient.awaitThat(() -> leftOut(runtime, "window_reports") >= 2, () -> "no report was left out");
                client.alterTopic("window-reports", "max.message.bytes", "1000000");
                assertNull(runtime.awaitFailure(0, TimeUnit.SECONDS));
            }
            try (PlumblineRuntime restarted = PlumblineRuntime.start(config, Role.MONITOR)) {
                client.sendAll(window(3));
                client.sendAll(window(4));
                client.await("window-reports", reports -> reports.size() >= 2);
                assertEquals(0, leftOut(restarted, "window_reports"));
            }
            assertEquals(1, client.readAll("dead-letters").size());
        }
    }

    /** Tests topics that others made: event times of 2023 are refused, and by the compacted one what has no key. */
    @Test
    void whatATopicRefusesForItsTimeOrItsKeyIsWrittenWithAnother() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            Map<String, String> recent =
                    Map.of("message.timestamp.type", "CreateTime", "message.timestamp.before.max.ms", "3600000");
            client.createTopic("window-reports", 1, recent);
            client.createTopic("dead-letters", 1, Map.of("cleanup.policy", "compact"));
            WatchedFolder.create(folder.resolve("site"), broker.bootstrapServers());
            Path file = folder.resolve("site").resolve(WatchedFolder.FILE);
            Files.writeString(file, Files.readString(file).replace("kafka: {", "kafka: {" + SHORT_TIMES));
            MonitorConfig config = MonitorConfig.load(file);
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                client.sendAll(window(0));
                client.send(List.of(
                        new ProducerRecord<>("activations", 0, T0, null, new byte[9]),
                        bad(0, 9),
                        new ProducerRecord<>("activations", 0, T0, null, new byte[8])));
                client.sendAll(window(1));
                client.sendAll(window(2));
                client.await("window-reports", reports -> reports.size() >= 2);
                List<ConsumerRecord<byte[], byte[]>> letters = client.await("dead-letters", found -> found.size() >= 3);
                assertEquals(
                        List.of(9, 9, 8),
                        letters.stream().map(letter -> letter.value().length).toList());
                assertEquals(0, leftOut(runtime, "dead_letters") + leftOut(runtime, "window_reports"));
                assertNull(runtime.awaitFailure(0, TimeUnit.SECONDS));
            }
            assertEquals(2, client.readAll("window-reports").size());
        }
    }

    private static long leftOut(PlumblineRuntime runtime, String topic) {
        try {
            return PoisonIT.sum(
                    PoisonIT.metrics(runtime)
                            .replace("plumbline_outputs_left_out_total{topic=\"" + topic + "\"}", "of_one{}"),
                    "of_one");
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    private static ProducerRecord<byte[], byte[]> bad(int number, int bytes) {
        return new ProducerRecord<>(
                "activations", 0, T0 + number, "nobody".getBytes(StandardCharsets.UTF_8), new byte[bytes]);
    }

    private static List<ProducerRecord<byte[], byte[]>> window(int number) {
        return WatchedFolder.window(T0 + number * 10_000L, WatchedFolder::quiet);
    }
}
