package io.plumbline.topology.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.TargetsFolder;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.config.TopicNames;
import io.plumbline.topology.operate.Plumbline;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a site with several targets whose monitor is killed with SIGKILL, against a real broker. */
class KilledTargetsIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final long WINDOW_MS = 10_000;
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path folder;

    private int children;

    /**
     * Kills a monitor between the blocks of one record, and the next one when a pane goes to the change-log. The
     * windows are compared bit by bit with those of a monitor that lived.
     */
    @Test
    void killedMonitorsCountEveryRecordOnceInEveryBlock() throws Exception {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int window = 0; window < 3; window++) {
            for (int i = 0; i < 16; i++) {
                records.add(record(T0 + window * WINDOW_MS + i * 100L));
            }
        }
        Map<String, WindowPrint> expected = windowsOfOneThatLived(records);
        assertEquals(2 * TargetsFolder.LAYERS, expected.size(), expected.toString());
        assertEquals(expected, windowsOfKilled(records));
    }

    private Map<String, WindowPrint> windowsOfOneThatLived(List<ProducerRecord<byte[], byte[]>> records)
            throws Exception {
        try (EmbeddedBroker broker = FaultBroker.start(folder.resolve("broker-of-one"))) {
            BrokerClient client = prepared(broker);
            Path config = config(folder.resolve("one"), broker, "mode: observe");
            client.sendAll(records);
            try (ChildJvm monitor = monitor(config)) {
                return prints(client, monitor);
            }
        }
    }

    private Map<String, WindowPrint> windowsOfKilled(List<ProducerRecord<byte[], byte[]>> records) throws Exception {
        try (EmbeddedBroker broker = FaultBroker.start(folder.resolve("broker-of-killed"))) {
            BrokerClient client = prepared(broker);
            Path config = config(folder.resolve("killed"), broker, "mode: observe");
            client.sendAll(records.subList(0, 20));
            try (ChildJvm first = monitor(config, KillPoint.Fault.KILL.at("accumulated", 20))) {
                first.awaitKilled(); // with the seventh record in two of its three blocks
            }
            try (ChildJvm second = monitor(config, KillPoint.Fault.KILL.at("send-panes-changelog", 1))) {
                second.awaitKilled();
            }
            client.sendAll(records.subList(20, records.size()));
            try (ChildJvm last = monitor(config)) {
                return prints(client, last);
            }
        }
    }

    private static BrokerClient prepared(EmbeddedBroker broker) throws Exception {
        BrokerClient client = new BrokerClient(broker.bootstrapServers());
        client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
        client.createTopic("prints", 1, Map.of());
        return client;
    }

    private Path config(Path site, EmbeddedBroker broker, String adaptation) throws IOException {
        Files.createDirectories(site);
        TargetsFolder.write(site);
        StringBuilder kafka = new StringBuilder("kafka: {bootstrap.servers: ");
        kafka.append('"').append(broker.bootstrapServers()).append('"');
        MonitorSetup.of("memory", "wiped", 1, "classic")
                .properties()
                .forEach((key, value) -> kafka.append(", monitor.%s: \"%s\"".formatted(key, value)));
        String yaml = TargetsFolder.yaml(broker.bootstrapServers(), adaptation)
                .replaceFirst("kafka: \\{.*", kafka.append('}').toString());
        return Files.writeString(site.resolve("targets.yaml"), yaml);
    }

    private ChildJvm monitor(Path config, String... properties) {
        return ChildJvm.start(
                folder.resolve("monitor-%d.log".formatted(children++)),
                FaultedMonitor.class,
                List.of(properties),
                List.of(config.toString(), "prints"));
    }

    /** Returns the windows of all blocks, and requires that every row is accounted for and no window came twice. */
    private static Map<String, WindowPrint> prints(BrokerClient client, ChildJvm monitor) throws Exception {
        client.await("prints", found -> found.size() >= 2 * TargetsFolder.LAYERS);
        monitor.leave();
        Map<String, WindowPrint> windows = new TreeMap<>();
        for (ConsumerRecord<byte[], byte[]> print : client.readAll("prints")) {
            WindowPrint window = WindowPrint.decode(print.value());
            String name = new String(print.key(), StandardCharsets.UTF_8) + "@" + window.startMs();
            assertEquals(null, windows.put(name, window), name);
            assertEquals(0, AccountPrint.decode(print.value()).unaccounted(), name);
        }
        return windows;
    }

    /** Returns a record of integers, so that sums are exact in any order. */
    private static ProducerRecord<byte[], byte[]> record(long timestampMs) {
        SafetensorsWriter writer = SafetensorsWriter.create();
        for (String kind : List.of("activations.", "targets.")) {
            for (int layer = 0; layer < TargetsFolder.LAYERS; layer++) {
                String tensor = kind + layer;
                writer.add(tensor, DType.F32, ActivationRecords.integerRows(timestampMs + tensor.hashCode(), 8, 8));
            }
        }
        byte[] site = TargetsFolder.SITE.getBytes(StandardCharsets.UTF_8);
        return new ProducerRecord<>("activations", 0, timestampMs, site, writer.toBytes());
    }

    @Test
    void theJointDecoderInServiceIsStillTheOneAfterTheServiceWasKilled() throws Exception {
        try (EmbeddedBroker broker = FaultBroker.start(folder.resolve("broker"))) {
            BrokerClient client = prepared(broker);
            Path config = config(folder.resolve("site"), broker, "mode: auto, max_norm_ratio: 10");
            Files.writeString(config, Files.readString(config).replace("cooldown: 0s", "cooldown: 1h"));
            TopicNames topics = MonitorConfig.load(config).topics();
            client.createTopic(topics.moments(), 2, Map.of("retention.ms", "-1"));
            client.createTopic(topics.adaptationRequests(), 3, Map.of("retention.ms", "-1"));
            client.createTopic(topics.windowReports(), 1, Map.of());
            client.sendAll(TargetsFolder.window(T0, Set.of(1)));
            int window = 0;
            long version = 0;
            try (ChildJvm service = service(config)) {
                for (; window < 30 && version == 0; window++) {
                    version = version(client, topics, window);
                }
                assertNotEquals(0, version, "no decoder went into service");
                long again = version(client, topics, window++);
                assertEquals(version, again);
                service.kill();
            }
            try (ChildJvm service = service(config)) {
                assertEquals(version, version(client, topics, window));
                assertTrue(service.isAlive());
            }
            assertEquals(
                    1,
                    client.readAll(topics.adaptationReports()).stream()
                            .filter(report ->
                                    new String(report.value(), StandardCharsets.UTF_8).contains("\"published\""))
                            .filter(report ->
                                    new String(report.key(), StandardCharsets.UTF_8).equals(TargetsFolder.SITE))
                            .count());
        }
    }

    /** Closes a window by the records of the next, and returns the version that all its blocks were measured with. */
    private static long version(BrokerClient client, TopicNames topics, int window) throws Exception {
        client.sendAll(TargetsFolder.window(T0 + (window + 1) * WINDOW_MS, Set.of(1)));
        client.await(
                topics.windowReports(),
                found -> versions(found, window * WINDOW_MS).size() == TargetsFolder.LAYERS);
        Map<String, Long> versions = versions(client.readAll(topics.windowReports()), window * WINDOW_MS);
        // Blocks are measured one after the other: while the decoder goes into service they may differ.
        return versions.values().stream().mapToLong(Long::longValue).min().orElseThrow();
    }

    private ChildJvm service(Path config) {
        return ChildJvm.start(
                folder.resolve("service-%d.log".formatted(children++)),
                Plumbline.class,
                List.of(),
                List.of("run", "--config", config.toString()));
    }

    /** Returns the version of the decoder that each block's window of a start was measured with. */
    private static Map<String, Long> versions(List<ConsumerRecord<byte[], byte[]>> reports, long startMs) {
        Map<String, Long> versions = new TreeMap<>();
        for (ConsumerRecord<byte[], byte[]> report : reports) {
            String site = new String(report.key(), StandardCharsets.UTF_8);
            JsonNode window = json(report.value());
            if (!site.equals(TargetsFolder.SITE)
                    && window.path("window_start_ms").asLong() == T0 + startMs) {
                versions.put(site, window.path("decoder_version").asLong());
            }
        }
        return versions;
    }

    private static JsonNode json(byte[] bytes) {
        try {
            return JSON.readTree(bytes);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
