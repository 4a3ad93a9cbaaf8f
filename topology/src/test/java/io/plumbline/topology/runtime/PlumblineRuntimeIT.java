package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.broker.StartException;
import io.plumbline.topology.broker.Topics;
import io.plumbline.topology.cli.Shell;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.config.ConfigResource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the whole process against a broker that takes records of up to 4 MB. */
class PlumblineRuntimeIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final Map<String, String> ACTIVATIONS = Map.of("retention.ms", "-1", "max.message.bytes", "4000000");

    @TempDir
    private static Path folder;

    private static EmbeddedBroker broker;
    private static BrokerClient client;

    private final HttpClient http = HttpClient.newHttpClient();

    @BeforeAll
    static void start() {
        broker = EmbeddedBroker.start(
                folder.resolve("broker"), EmbeddedBroker.freePort(), Map.of("message.max.bytes", "4000000"));
        client = new BrokerClient(broker.bootstrapServers());
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    @Test
    void poisonedRecordsBecomeDeadLettersAndTheStreamGoesOn() throws Exception {
        client.createTopic("activations", 1, ACTIVATIONS);
        MonitorConfig config = WatchedFolder.create(folder.resolve("site"), broker.bootstrapServers());
        Map<String, ProducerRecord<byte[], byte[]>> poison = poison();
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>(window(T0));
        records.addAll(3, poison.values());
        records.addAll(window(T0 + 10_000));
        client.send(records);
        client.createTopic(config.topics().moments(), 1, Map.of());
        client.send(List.of(new ProducerRecord<>(
                config.topics().moments(), bytes(WatchedFolder.SITE), bytes("not a pane message"))));

        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.ALL)) {
            BrokerClient.awaitThat(() -> status(runtime, "/readyz") == 200, () -> body(runtime, "/readyz"));
            assertEquals(200, status(runtime, "/healthz"));
            List<ConsumerRecord<byte[], byte[]>> letters =
                    client.await(config.topics().deadLetters(), found -> found.size() >= poison.size());
            int index = 0;
            for (Map.Entry<String, ProducerRecord<byte[], byte[]>> sent : poison.entrySet()) {
                ConsumerRecord<byte[], byte[]> letter = letters.get(index);
                String reason = sent.getKey().replaceAll(",? .*", "");
                assertEquals(reason, header(letter, "plumbline.reason"), sent.getKey());
                assertEquals("activations", header(letter, "plumbline.topic"));
                assertEquals("0", header(letter, "plumbline.partition"));
                assertEquals(Integer.toString(3 + index), header(letter, "plumbline.offset"));
                assertArrayEquals(sent.getValue().value(), letter.value(), sent.getKey());
                index++;
            }
            assertEquals(poison.size(), letters.size());
            List<ConsumerRecord<byte[], byte[]>> reports =
                    client.await(config.topics().windowReports(), found -> !found.isEmpty());
            String report = new String(reports.get(0).value(), StandardCharsets.UTF_8);
            assertTrue(report.contains("\"rows\":" + WatchedFolder.ROWS * WatchedFolder.RECORDS + ","), report);
            assertTrue(report.contains("\"verdict\":\"aligned\""), report);

            String metrics = body(runtime, "/metrics");
            assertMetric(metrics, "plumbline_dead_letters_total{reason=\"malformed\"} 3.0");
            for (String reason : List.of("non_finite", "unknown_site", "null_value", "wrong_width", "empty_batch")) {
                assertMetric(metrics, "plumbline_dead_letters_total{reason=\"%s\"} 1.0".formatted(reason));
            }
            assertMetric(metrics, "plumbline_foreign_records_total{topic=\"moments\"} 1.0");
            assertMetric(
                    metrics,
                    "plumbline_records_total{site=\"%s\"} %d.0"
                            .formatted(WatchedFolder.SITE, 2 * WatchedFolder.RECORDS));
            assertNull(runtime.awaitFailure(0, TimeUnit.SECONDS));
        }
    }

    @Test
    void aDeadLetterTopicThatWasThereSaysHowMuchItTakes() throws Exception {
        client.createTopic("other-activations", 3, Map.of());
        client.createTopic("small-letters", 1, Map.of("max.message.bytes", "500000"));
        String yaml = """
                kafka: {bootstrap.servers: "%s"}
                topics: {activations: other-activations, dead_letters: small-letters}
                sites:
                  blocks.7: {explainer: sae, baseline: baseline.safetensors, rank: 2, threshold: 1.0}
                """.formatted(broker.bootstrapServers());
        MonitorConfig config = MonitorConfig.parse(yaml, "test", folder);
        assertEquals(Topics.Prepared.of(config.topics().activations(), 3, 500_000), Topics.prepare(config));
    }

    /** The settings given to the broker of this class are its own. */
    @Test
    void theBrokerRunsWithTheSettingsItWasGiven() throws Exception {
        ConfigResource one = new ConfigResource(ConfigResource.Type.BROKER, "1");
        try (Admin admin = Admin.create(Map.of("bootstrap.servers", broker.bootstrapServers()))) {
            assertEquals(
                    "4000000",
                    admin.describeConfigs(List.of(one))
                            .all()
                            .get()
                            .get(one)
                            .get("message.max.bytes")
                            .value());
        }
    }

    /** Returns records that are refused, by reason, with a word of what is wrong. */
    private static Map<String, ProducerRecord<byte[], byte[]>> poison() {
        Matrix notANumber = WatchedFolder.quiet(1);
        notANumber.set(1, 2, Double.NaN);
        byte[] good = ActivationRecords.blob(WatchedFolder.quiet(1));
        ProducerRecord<byte[], byte[]> headers = record(WatchedFolder.SITE, new byte[700_000], T0);
        headers.headers().add("trace", new byte[700_000]);
        Map<String, ProducerRecord<byte[], byte[]>> poison = new LinkedHashMap<>();
        poison.put("malformed", record(WatchedFolder.SITE, bytes("no safetensors"), T0));
        poison.put("non_finite", record(WatchedFolder.SITE, ActivationRecords.blob(notANumber), T0));
        poison.put("unknown_site", record("another", good, T0));
        poison.put("null_value", record(WatchedFolder.SITE, null, T0));
        poison.put("wrong_width", record(WatchedFolder.SITE, ActivationRecords.blob(Matrix.zeros(2, 9)), T0));
        poison.put("empty_batch", record(WatchedFolder.SITE, emptyBatch(), T0));
        poison.put("malformed, larger than a default request", record(WatchedFolder.SITE, new byte[3_000_000], T0));
        poison.put("malformed, larger than a default request with its headers", headers);
        return poison;
    }

    private static byte[] emptyBatch() {
        return SafetensorsWriter.create()
                .addRaw("activations", DType.F32, new long[] {0, WatchedFolder.WIDTH}, ByteBuffer.allocate(0))
                .toBytes();
    }

    /**
     * Tests exit code 3 and not 2: nothing that was typed is wrong, and whoever restarts processes should try again.
     */
    @Test
    void aBrokerThatDoesNotAnswerIsASentenceAndAFailureBeforeAnythingStarts() throws Exception {
        Path site = folder.resolve("unreachable");
        MonitorConfig config = WatchedFolder.create(site, "127.0.0.1:" + EmbeddedBroker.freePort());
        long begin = System.nanoTime();
        Shell refused = Shell.run("run", "--config", site.resolve(WatchedFolder.FILE));
        assertEquals(3, refused.exitCode(), refused.err());
        assertTrue(refused.err().contains(config.bootstrapServers()), refused.err());
        long seconds = TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin);
        assertTrue(seconds < 30, "the sentence came after %d s".formatted(seconds));
    }

    @Test
    void aBrokerWithoutAnAddressIsASentenceToo() throws Exception {
        MonitorConfig config = WatchedFolder.create(folder.resolve("nowhere"), "no-such-host.invalid:9092");
        StartException refused = assertThrows(StartException.class, () -> PlumblineRuntime.start(config, Role.ALL));
        assertTrue(refused.getMessage().contains("no-such-host.invalid:9092"), refused.getMessage());
    }

    @Test
    void aMissingActivationsTopicIsASentenceAndNoOtherTopicIsMade() throws Exception {
        Path own = folder.resolve("empty-broker");
        try (EmbeddedBroker empty = EmbeddedBroker.start(own)) {
            MonitorConfig config = WatchedFolder.create(folder.resolve("no-topic"), empty.bootstrapServers());
            StartException refused =
                    assertThrows(StartException.class, () -> PlumblineRuntime.start(config, Role.MONITOR));
            assertTrue(refused.getMessage().contains("topic \"activations\" does not exist"), refused.getMessage());
            assertFalse(refused.mayPass(), "somebody has to make it");
            BrokerClient there = new BrokerClient(empty.bootstrapServers());
            // Fails where the topic is there already.
            there.createTopic(config.topics().deadLetters(), 1, Map.of());
        }
    }

    private static List<ProducerRecord<byte[], byte[]>> window(long startMs) {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < WatchedFolder.RECORDS; i++) {
            long time = startMs + i * 100L;
            records.add(record(WatchedFolder.SITE, ActivationRecords.blob(WatchedFolder.quiet(time)), time));
        }
        return records;
    }

    private static ProducerRecord<byte[], byte[]> record(String site, byte[] value, long timestampMs) {
        return new ProducerRecord<>("activations", 0, timestampMs, bytes(site), value);
    }

    private static byte[] bytes(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }

    private static String header(ConsumerRecord<byte[], byte[]> record, String name) {
        return new String(record.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
    }

    private static void assertMetric(String metrics, String line) {
        assertTrue(
                metrics.contains(line + "\n"),
                () -> line + " in:\n"
                        + metrics.lines()
                                .filter(found -> found.startsWith("plumbline_"))
                                .toList());
    }

    private int status(PlumblineRuntime runtime, String path) {
        return get(runtime, path).statusCode();
    }

    private String body(PlumblineRuntime runtime, String path) {
        return get(runtime, path).body();
    }

    private HttpResponse<String> get(PlumblineRuntime runtime, String path) {
        URI address = URI.create("http://127.0.0.1:" + runtime.httpAddress().getPort() + path);
        try {
            return http.send(HttpRequest.newBuilder(address).build(), HttpResponse.BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
