package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that one record is passed by, whoever keeps the group, and everything before and after it is counted. */
class OffsetsIT {

    private static final long T0 = 1_700_000_000_000L;

    /** Records of two windows and the one that closes them. */
    private static final int LAST = 2 * WatchedFolder.RECORDS + 1;

    @TempDir
    private Path folder;

    private String file;

    @ParameterizedTest
    @ValueSource(strings = {"classic", "streams"})
    void aPassedRecordIsInNoWindowAndAllOthersAre(String protocol) throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            client.sendAll(records(0, LAST));
            WatchedFolder.create(
                    folder.resolve("site"), broker.bootstrapServers(), WatchedFolder.WINDOW, "", WatchedFolder.SITE);
            Path written = folder.resolve("site").resolve(WatchedFolder.FILE);
            Files.writeString(
                    written,
                    Files.readString(written)
                            .replace("kafka: {", "kafka: {monitor.group.protocol: %s, ".formatted(protocol)));
            MonitorConfig config = MonitorConfig.load(written);
            file = written.toString();

            assertTrue(shown().matches("(?s).*activations +0 +0 +33 +33\\s*"), shown());
            Shell first = pass(0);
            assertEquals(0, first.exitCode(), first.err());
            assertTrue(first.out().contains("next at 1; it was 0. Skipped unread: offset 0"), first.out());

            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                List<ConsumerRecord<byte[], byte[]>> reports =
                        client.await(config.topics().windowReports(), found -> found.size() >= 2);
                assertEquals((WatchedFolder.RECORDS - 1) * WatchedFolder.ROWS, rows(reports.get(0)));
                assertEquals(WatchedFolder.RECORDS * WatchedFolder.ROWS, rows(reports.get(1)));
                assertRefused(pass(LAST - 1), "stop every instance of it first");
                assertNull(runtime.awaitFailure(0, TimeUnit.SECONDS));
            }
            String group = config.monitorApplicationId();
            OffsetAndMetadata left = committed(client, group);
            assertEquals(LAST, left.offset());
            assertFalse(left.metadata().isEmpty(), "Kafka Streams keeps the event time there");

            client.sendAll(records(LAST, LAST + 3));
            assertRefused(pass(LAST - 1), "expected an offset from 33 to 35");
            assertRefused(pass(LAST + 1), "1 offsets before it would be skipped unread too");
            assertEquals(left, committed(client, group));

            Shell both = pass(LAST + 1, "--with-earlier");
            assertEquals(0, both.exitCode(), both.err());
            assertTrue(both.out().contains("Skipped unread: offsets 33 to 34"), both.out());
            assertEquals(LAST + 2, committed(client, group).offset());
            assertEquals(left.metadata(), committed(client, group).metadata());
            assertTrue(shown().matches("(?s).*activations +0 +35 +36 +1\\s*"), shown());
        }
    }

    private String shown() {
        return Shell.run("offsets", "--config", file, "--topic", "activations").out();
    }

    private Shell pass(int offset, String... more) {
        List<Object> words = new ArrayList<>(List.of("offsets", "--config", file, "--partition", 0, "--pass", offset));
        words.addAll(List.of(more));
        return Shell.run(words.toArray());
    }

    private static void assertRefused(Shell shell, String because) {
        assertEquals(2, shell.exitCode(), shell.out());
        assertTrue(shell.err().contains(because), shell.err());
    }

    private static List<ProducerRecord<byte[], byte[]>> records(int from, int to) {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = from; i < to; i++) {
            records.add(new ProducerRecord<>(
                    "activations",
                    0,
                    T0 + i * 10_000L / WatchedFolder.RECORDS,
                    WatchedFolder.SITE.getBytes(StandardCharsets.UTF_8),
                    ActivationRecords.blob(WatchedFolder.quiet(i))));
        }
        return records;
    }

    private static OffsetAndMetadata committed(BrokerClient client, String group) throws Exception {
        try (Admin admin = Admin.create(client.properties())) {
            return admin.listConsumerGroupOffsets(group)
                    .partitionsToOffsetAndMetadata()
                    .get()
                    .get(new TopicPartition("activations", 0));
        }
    }

    private static long rows(ConsumerRecord<byte[], byte[]> report) throws Exception {
        return new ObjectMapper().readTree(report.value()).get("rows").asLong();
    }
}
