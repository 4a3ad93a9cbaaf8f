package io.plumbline.topology.operate;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.cli.Shell;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a site that was forgotten in the configuration: its records come into their windows after all. */
class DeadLetterReplayIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final String FORGOTTEN = "layer.b";
    private static final int LARGE = 300_000;

    @TempDir
    private static Path folder;

    private static EmbeddedBroker broker;
    private static BrokerClient client;

    @BeforeAll
    static void start() {
        broker = EmbeddedBroker.start(folder.resolve("broker"));
        client = new BrokerClient(broker.bootstrapServers());
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    @Test
    void afterTheFixTheWindowsHoldEveryRefusedRowOnce() throws Exception {
        client.createTopic("activations", 2, Map.of("retention.ms", "-1"));
        List<ProducerRecord<byte[], byte[]>> forgotten = new ArrayList<>();
        for (int i = 0; i < WatchedFolder.RECORDS; i++) {
            forgotten.add(record(FORGOTTEN, i % 2, T0 + i * 100L, ActivationRecords.blob(WatchedFolder.quiet(i))));
        }
        List<ProducerRecord<byte[], byte[]>> all = new ArrayList<>(forgotten);
        // In the middle, so that a replay that stumbles over it has sent some and not others.
        all.add(10, record("layer.never", 1, T0, new byte[LARGE]));
        all.add(record(WatchedFolder.SITE, 0, T0, new byte[] {1, 2, 3}));
        client.send(all);
        MonitorConfig before = config(WatchedFolder.SITE);
        try (PlumblineRuntime runtime = PlumblineRuntime.start(before, Role.MONITOR)) {
            client.await(before.topics().deadLetters(), letters -> letters.size() == all.size());
            assertNull(runtime.awaitFailure(0, TimeUnit.SECONDS));
        }

        Shell look = replay("--dry-run", "--reason", "unknown_site");
        assertEquals(0, look.exitCode(), look.err());
        assertTrue(look.out().contains("would send 17 letters"), look.out());
        assertTrue(look.out().lines().anyMatch(line -> line.matches("malformed +0 +0 +1 .*")), look.out());
        assertTrue(
                look.out().lines().anyMatch(line -> line.matches("unknown_site +does a replay help\\? yes, once .*")),
                look.out());
        assertTrue(
                look.out().lines().anyMatch(line -> line.matches("malformed +does a replay help\\? no")), look.out());

        MonitorConfig after = config(WatchedFolder.SITE, FORGOTTEN);
        try (PlumblineRuntime runtime = PlumblineRuntime.start(after, Role.MONITOR)) {
            Shell stumbled = replay(
                    "--reason",
                    "unknown_site",
                    "--kafka-property",
                    "max.request.size=100000",
                    "--kafka-property",
                    "max.poll.records=2");
            assertEquals(3, stumbled.exitCode(), stumbled.out());
            assertTrue(stumbled.err().contains("not sent"), stumbled.err());
            Shell rest = replay("--reason", "unknown_site", "--site", FORGOTTEN);
            assertEquals(0, rest.exitCode(), rest.err());
            Shell again = Shell.run(
                    "replay",
                    "--dead-letters",
                    "--config",
                    folder.resolve("site").resolve(WatchedFolder.FILE),
                    "--reason",
                    "unknown_site",
                    "--site",
                    FORGOTTEN);
            assertTrue(again.out().contains("sent 0 letters"), again.out());
            Shell everythingElse = replay();
            assertTrue(everythingElse.out().contains("sent 2 letters"), everythingElse.out());

            client.send(List.of(closing(0), closing(1)));
            List<ConsumerRecord<byte[], byte[]>> reports =
                    client.await(after.topics().windowReports(), found -> !found.isEmpty());
            String report = new String(reports.get(0).value(), StandardCharsets.UTF_8);
            assertTrue(report.contains("\"site\":\"" + FORGOTTEN + "\""), report);
            assertTrue(report.contains("\"rows\":" + WatchedFolder.ROWS * WatchedFolder.RECORDS + ","), report);
            assertTrue(report.contains("\"requests\":" + WatchedFolder.RECORDS + ","), report);

            // Refused again, those two made new letters, which that run did not read.
            List<ConsumerRecord<byte[], byte[]>> letters =
                    client.await(after.topics().deadLetters(), found -> found.size() >= all.size() + 2);
            assertEquals(all.size() + 2, letters.size());
            assertNull(runtime.awaitFailure(0, TimeUnit.SECONDS));
        }
        assertReplayedAsTheyWere(forgotten);
    }

    @Test
    void aRecordThatIsNoLetterIsAProblemOnlyWhereItIsMeant() throws Exception {
        client.createTopic("with-strangers", 1, Map.of());
        client.createTopic("sent-again", 1, Map.of());
        ProducerRecord<byte[], byte[]> letter = new ProducerRecord<>("with-strangers", 0, T0, null, new byte[] {1});
        for (String header : List.of("reason unknown_site", "topic activations", "partition 0", "offset 7")) {
            String[] words = header.split(" ", -1);
            letter.headers().add("plumbline." + words[0], words[1].getBytes(StandardCharsets.UTF_8));
        }
        client.sendAll(List.of(new ProducerRecord<>("with-strangers", 0, T0, null, new byte[] {2}), letter));
        Object[] all = {"with-strangers", "--topic", "sent-again", "--group", "strangers"};
        Shell second = replay(more(all, "--partition", 0, "--offsets", "1-1"));
        assertEquals(0, second.exitCode(), second.err());
        assertTrue(second.out().contains("sent 1 letter"), second.out());
        for (int run = 0; run < 2; run++) {
            Shell rest = replay(all);
            assertEquals(run == 0, rest.exitCode() != 0, rest.err());
            assertEquals(run == 0, rest.err().contains("not sent: with-strangers-0@0: no header plumbline.reason"));
        }
    }

    private static Object[] more(Object[] all, Object... rest) {
        List<Object> together = new ArrayList<>(List.of(all));
        together.addAll(List.of(rest));
        return together.toArray();
    }

    /** Requires that the second copy of each is equal in everything. */
    private static void assertReplayedAsTheyWere(List<ProducerRecord<byte[], byte[]>> sent) {
        List<ConsumerRecord<byte[], byte[]>> records =
                client.await("activations", found -> found.size() >= 2 * sent.size() + 6);
        for (ProducerRecord<byte[], byte[]> original : sent) {
            List<ConsumerRecord<byte[], byte[]>> copies = records.stream()
                    .filter(record -> java.util.Arrays.equals(record.key(), original.key()))
                    .toList();
            assertEquals(2, copies.size());
            for (ConsumerRecord<byte[], byte[]> copy : copies) {
                assertArrayEquals(original.value(), copy.value());
                assertArrayEquals(original.headers().toArray(), copy.headers().toArray());
                assertEquals(original.partition(), copy.partition());
                assertEquals(original.timestamp(), copy.timestamp());
            }
        }
    }

    private static ProducerRecord<byte[], byte[]> closing(int partition) {
        return record(FORGOTTEN, partition, T0 + 10_000, ActivationRecords.blob(WatchedFolder.quiet(99)));
    }

    private static ProducerRecord<byte[], byte[]> record(String site, int partition, long timestampMs, byte[] value) {
        byte[] key = "%s %d".formatted(site, timestampMs).getBytes(StandardCharsets.UTF_8);
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>("activations", partition, timestampMs, key, value);
        record.headers().add("site", site.getBytes(StandardCharsets.UTF_8));
        record.headers().add("plumbline.reason", "a producer's own".getBytes(StandardCharsets.UTF_8));
        return record;
    }

    private static MonitorConfig config(String... sites) throws Exception {
        return WatchedFolder.create(folder.resolve("site"), broker.bootstrapServers(), WatchedFolder.WINDOW, "", sites);
    }

    private static Shell replay(Object... rest) {
        Object[] command = {"replay", "--bootstrap-servers", broker.bootstrapServers(), "--dead-letters"};
        return Shell.run(more(command, rest));
    }
}
