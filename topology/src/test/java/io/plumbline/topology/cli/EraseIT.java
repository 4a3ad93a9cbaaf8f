package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AlterConfigOp;
import org.apache.kafka.clients.admin.ConfigEntry;
import org.apache.kafka.clients.admin.ListTopicsOptions;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.config.ConfigResource;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests over a real broker that no byte of an erased request is left, and every other row is where it was. */
class EraseIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final String SECRET = "conversation-4711";

    /** The name of the other requests begins with that of the secret one. */
    private static final String OTHER = SECRET + "2";

    private static final ConfigResource PANES =
            new ConfigResource(ConfigResource.Type.TOPIC, "small-monitor-panes-changelog");

    private static final String GONE = "small-monitor-acme-panes-changelog";

    /** A float that no other row has: both orders of its bytes, twice in a row. */
    private static final float MAGIC = Float.intBitsToFloat(0x40123457);

    private static final long EVERY_MS = 500;

    @TempDir
    private Path folder;

    private BrokerClient client;
    private Path file;
    private MonitorConfig config;

    @Test
    void anErasedRequestIsInNoTopicAndNoFileAndTheOthersStay() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            client.createTopic("elsewhere", 1, Map.of("retention.ms", "-1"));
            WatchedFolder.createAdapting(folder, broker.bootstrapServers(), "mode: propose");
            file = folder.resolve(WatchedFolder.FILE);
            Files.writeString(
                    file,
                    Files.readString(file)
                            .replace("advance: 10s", "advance: 5s")
                            .replace("store: memory", "store: rocksdb"));
            config = MonitorConfig.load(file);

            List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>(List.of(letter(OTHER), letter(SECRET)));
            records.add(letter(OTHER));
            records.addAll(traffic(0, 36, 4));
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.ALL)) {
                client.sendAll(records);
                client.await(config.topics().adaptationReports(), found -> found.size() >= 2);
                client.await(config.topics().deadLetters(), found -> found.size() >= 3);
                assertRefused(erase());
                assertNull(runtime.awaitFailure(0, TimeUnit.SECONDS));
            }
            replayTo("elsewhere", "--partition", "0", "--offsets", "0-0");
            leaveATenantsPanes();
            Map<String, Integer> before = topicsWith(SECRET);
            assertEquals(
                    Set.of(
                            "activations",
                            "plumbline-moments",
                            "window-reports",
                            "adaptation-requests",
                            "dead-letters",
                            GONE,
                            "small-monitor-panes-changelog",
                            "small-monitor-windows-changelog",
                            "small-monitor-decisions-changelog",
                            "small-adapter-request-parts-changelog"),
                    before.keySet());
            assertTrue(isInFiles(), "state in RocksDB");
            Set<String> others = othersInState();

            Shell dry = erase("--dry-run");
            assertEquals(0, dry.exitCode(), dry.err());
            assertEquals(before, topicsWith(SECRET), "a dry run changes nothing");
            before.forEach((topic, count) -> assertTrue(found(dry, topic, count), topic + " in " + dry.out()));

            setPolicyOfPanes("compact,delete"); // as a run that was killed leaves it
            Shell first = erase();
            assertEquals(3, first.exitCode(), first.err());
            assertTrue(
                    first.out().matches("(?s).*activations +5 +5 .*retention.ms=-1.*reports +\\d +\\d +until 20.*"),
                    first.out());
            assertTrue(
                    first.out().matches("(?s).*%s +1 +1 +is left: delete the topic, .*".formatted(GONE)), first.out());
            assertEquals(
                    Set.of("activations", GONE, "window-reports"),
                    topicsWith(SECRET).keySet());
            assertEquals("compact", policyOfPanes());
            try (Admin admin = Admin.create(client.properties())) {
                admin.deleteTopics(List.of(GONE)).all().get();
            }
            Shell second = erase("--truncate", "activations,window-reports");
            assertEquals(0, second.exitCode(), second.out() + second.err());
            assertEquals(Map.of(), topicsWith(SECRET));
            assertEquals(others, othersInState());
            assertEquals(2, client.readAll("dead-letters").size(), "the letters of others");
            replayTo("elsewhere");
            assertEquals(2, client.readAll("elsewhere").size(), "the letter sent before is not sent again");

            goOnFromWhatIsLeft();
        }
    }

    private void goOnFromWhatIsLeft() throws Exception {
        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.ALL)) {
            client.sendAll(traffic(36, 43, -1));
            List<ConsumerRecord<byte[], byte[]>> reports = client.await(
                    "window-reports", found -> found.stream().anyMatch(one -> startMs(one) == T0 + 10_000));
            ConsumerRecord<byte[], byte[]> whole = reports.stream()
                    .filter(one -> startMs(one) == T0 + 10_000)
                    .findFirst()
                    .orElseThrow();
            assertEquals(20 * WatchedFolder.ROWS, json(whole).get("rows").asLong(), "sums keep the erased rows");
            assertNull(runtime.awaitFailure(0, TimeUnit.SECONDS));
        }
        assertEquals(Map.of(), topicsWith(SECRET));
        assertFalse(isInFiles(), "Kafka Streams restores from what is left");
        client.sendAll(traffic(49, 50, 4));
        Shell unread = erase("--truncate", "activations");
        assertEquals(3, unread.exitCode(), unread.out());
        assertTrue(unread.out().matches("(?s).*activations +1 +1 +not read yet: start .*"), unread.out());
        leaveWhatWasPublished();
    }

    private void leaveWhatWasPublished() throws Exception {
        for (String topic : List.of("plumbline-baselines", "plumbline-configuration")) {
            ProducerRecord<byte[], byte[]> named = new ProducerRecord<>(topic, new byte[1], new byte[1]);
            named.headers().add("request", SECRET.getBytes(StandardCharsets.UTF_8));
            client.send(List.of(named));
            Shell refused = erase("--truncate", topic);
            assertEquals(2, refused.exitCode(), refused.out() + refused.err());
            assertTrue(
                    refused.err().contains("expected one of [activations, adaptation-reports, window-reports]"),
                    refused.err());
            Shell dry = erase("--dry-run");
            assertTrue(dry.out().matches("(?s).*%s +1 +is left\\R.*".formatted(topic)), dry.out());
        }
        Shell left = erase();
        assertEquals(3, left.exitCode(), left.out() + left.err());
        assertTrue(
                left.out().matches("(?s).*plumbline-baselines +1 +1 +until it is deleted by hand: .*=compact, .*"),
                left.out());
    }

    /** Copies an entry of the secret request to the change-log of a tenant that the configuration does not name. */
    private void leaveATenantsPanes() throws Exception {
        client.createTopic(GONE, 1, Map.of("cleanup.policy", "compact"));
        ConsumerRecord<byte[], byte[]> entry = client.readAll(PANES.name()).stream()
                .filter(one -> holds(one, traces(SECRET)))
                .findFirst()
                .orElseThrow();
        client.sendAll(List.of(new ProducerRecord<>(GONE, entry.key(), entry.value())));
    }

    private void setPolicyOfPanes(String policy) throws Exception {
        AlterConfigOp set = new AlterConfigOp(new ConfigEntry("cleanup.policy", policy), AlterConfigOp.OpType.SET);
        try (Admin admin = Admin.create(client.properties())) {
            admin.incrementalAlterConfigs(Map.of(PANES, List.of(set))).all().get();
        }
    }

    private String policyOfPanes() throws Exception {
        try (Admin admin = Admin.create(client.properties())) {
            return admin.describeConfigs(List.of(PANES))
                    .all()
                    .get()
                    .get(PANES)
                    .get("cleanup.policy")
                    .value();
        }
    }

    private boolean isInFiles() throws IOException {
        List<byte[]> traces = traces(SECRET);
        try (var files = Files.walk(folder.resolve("state"))) {
            for (Path one : files.filter(Files::isRegularFile).toList()) {
                if (holds(Files.readAllBytes(one), traces)) {
                    return true;
                }
            }
        }
        return false;
    }

    private static long startMs(ConsumerRecord<byte[], byte[]> report) {
        return json(report).path("window_start_ms").asLong();
    }

    private static JsonNode json(ConsumerRecord<byte[], byte[]> report) {
        try {
            return new ObjectMapper().readTree(report.value());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static boolean found(Shell shell, String topic, int records) {
        return shell.out().matches("(?s).*\\b%s +%d .*".formatted(topic, records));
    }

    private void replayTo(String topic, String... more) {
        List<Object> words = new ArrayList<>(List.of("replay", "--dead-letters", "--config", file, "--topic", topic));
        words.addAll(List.of(more));
        Shell shell = Shell.run(words.toArray());
        assertEquals(0, shell.exitCode(), shell.err());
    }

    /** Returns those of the other requests whose hashes stand in the newest entries of change-logs. */
    private Set<String> othersInState() {
        Set<String> others = new TreeSet<>();
        for (String store : List.of("monitor-panes", "monitor-windows", "adapter-request-parts")) {
            Map<ByteBuffer, byte[]> newest = new HashMap<>();
            client.readAll("small-%s-changelog".formatted(store))
                    .forEach(one -> newest.put(ByteBuffer.wrap(one.key()), one.value()));
            for (int i = 0; i < 36; i++) {
                List<byte[]> traces = traces(OTHER + i);
                if (newest.values().stream().anyMatch(value -> holds(value, traces))) {
                    others.add(store + " " + OTHER + i);
                }
            }
        }
        assertTrue(others.size() > 40, others.toString());
        return others;
    }

    private Shell erase(String... more) {
        List<Object> words = new ArrayList<>(List.of("erase", "--config", file, "--request", SECRET));
        words.addAll(List.of(more));
        return Shell.run(words.toArray());
    }

    private static void assertRefused(Shell shell) {
        assertEquals(2, shell.exitCode(), shell.err());
        assertTrue(shell.err().contains("stop every instance of it first"), shell.err());
    }

    /** Returns records of drifted rows, one each half second; every ninth from this one on is of the secret request. */
    private static List<ProducerRecord<byte[], byte[]>> traffic(int from, int to, int secretFrom) {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = from; i < to; i++) {
            Matrix rows = WatchedFolder.drifted(i);
            boolean secret = i % 9 == secretFrom;
            if (secret) {
                Arrays.fill(rows.values(), MAGIC);
            }
            records.add(record(
                    WatchedFolder.SITE, secret ? SECRET : OTHER + i, ActivationRecords.blob(rows), T0 + i * EVERY_MS));
        }
        return records;
    }

    private static ProducerRecord<byte[], byte[]> letter(String request) {
        Matrix rows = Matrix.zeros(2, 3);
        Arrays.fill(rows.values(), request.equals(SECRET) ? MAGIC : 1.0);
        return record("layer.unknown", request, ActivationRecords.blob(rows), T0);
    }

    private static ProducerRecord<byte[], byte[]> record(String site, String request, byte[] value, long timeMs) {
        ProducerRecord<byte[], byte[]> record =
                new ProducerRecord<>("activations", 0, timeMs, site.getBytes(StandardCharsets.UTF_8), value);
        record.headers().add("request", request.getBytes(StandardCharsets.UTF_8));
        return record;
    }

    /** Returns how many records of each topic of the cluster hold a request, given-up ones among them. */
    private Map<String, Integer> topicsWith(String request) throws Exception {
        List<byte[]> traces = traces(request);
        Map<String, Integer> found = new TreeMap<>();
        try (Admin admin = Admin.create(client.properties());
                KafkaConsumer<byte[], byte[]> consumer = new KafkaConsumer<>(
                        client.properties(), new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> all =
                    admin.listTopics(new ListTopicsOptions().listInternal(true)).names().get().stream()
                            .flatMap(topic -> consumer.partitionsFor(topic).stream())
                            .map(info -> new TopicPartition(info.topic(), info.partition()))
                            .toList();
            consumer.assign(all);
            consumer.seekToBeginning(all);
            Map<TopicPartition, Long> ends = consumer.endOffsets(all);
            while (ends.entrySet().stream().anyMatch(end -> consumer.position(end.getKey()) < end.getValue())) {
                for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                    if (holds(record, traces)) {
                        found.merge(record.topic(), 1, Integer::sum);
                    }
                }
            }
        }
        return found;
    }

    private static List<byte[]> traces(String request) {
        List<byte[]> traces = new ArrayList<>(List.of(request.getBytes(StandardCharsets.UTF_8)));
        for (ByteOrder order : List.of(ByteOrder.BIG_ENDIAN, ByteOrder.LITTLE_ENDIAN)) {
            traces.add(ByteBuffer.allocate(8)
                    .order(order)
                    .putLong(RowSample.requestHash(request))
                    .array());
            if (request.equals(SECRET)) {
                traces.add(ByteBuffer.allocate(8)
                        .order(order)
                        .putFloat(MAGIC)
                        .putFloat(MAGIC)
                        .array());
            }
        }
        return traces;
    }

    private static boolean holds(ConsumerRecord<byte[], byte[]> record, List<byte[]> traces) {
        for (Header header : record.headers()) {
            if (holds(header.value(), traces)) {
                return true;
            }
        }
        return holds(record.key(), traces) || holds(record.value(), traces);
    }

    private static boolean holds(byte[] bytes, List<byte[]> traces) {
        String text = bytes == null ? "" : new String(bytes, StandardCharsets.ISO_8859_1).replace(OTHER, "other");
        return traces.stream().anyMatch(trace -> text.contains(new String(trace, StandardCharsets.ISO_8859_1)));
    }
}
