package io.plumbline.topology.outages;

import static org.junit.jupiter.api.Assertions.assertEquals;
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
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Future;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a monitor whose group is moved between two runs, with a window open. */
class ResetOffsetsIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final int BEFORE = 61;
    private static final int AFTER = 30;
    private static final String GROUP = "reset-monitor";
    private static final String READ = "plumbline_rows_total{site=\"%s\"}".formatted(WatchedFolder.SITE);
    private static final String LOST = "plumbline_lost_offsets_total{partition=\"0\",topic=\"%s\"}";
    private static final String SKIPPED = "plumbline_skipped_records_total{topic=\"%s\"}";

    @TempDir
    private Path folder;

    private EmbeddedBroker broker;
    private BrokerClient client;
    private MonitorConfig config;

    @BeforeEach
    void start() throws Exception {
        broker = EmbeddedBroker.start(folder.resolve("broker"));
        client = new BrokerClient(broker.bootstrapServers());
        client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
        Path site = folder.resolve("site");
        WatchedFolder.create(site, broker.bootstrapServers());
        config = MonitorConfig.parse("""
                application_id: reset
                kafka: {bootstrap.servers: "%s", monitor.commit.interval.ms: 300}
                window: {size: 20s, advance: 10s, grace: 0s, idle_close: off, minimum_rows: 64}
                sample: {rows: 64}
                state: {directory: state}
                http: {port: 0}
                sites:
                  %s: {explainer: explainer, baseline: baseline.safetensors, rank: 4, threshold: {share: 0.6}, adaptation: {mode: observe}}
                """.formatted(broker.bootstrapServers(), WatchedFolder.SITE), "test", site);
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @Test
    void recordsReadAgainAfterTheGroupLostItsOffsetsCountOnceOnBothLevels() throws Exception {
        openWindow();
        try (Admin admin = Admin.create(client.properties())) {
            admin.deleteConsumerGroupOffsets(GROUP, partitions()).all().get();
        }
        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
            send(BEFORE, BEFORE + AFTER);
            close();
            assertEquals(List.of(BEFORE + AFTER), recordsOfTheOpenWindow());
            Pages pages = new Pages(runtime.httpAddress());
            assertEquals(BEFORE, pages.value(SKIPPED.formatted("activations")));
            assertTrue(pages.value(SKIPPED.formatted("moments")) > 0);
            assertEquals(0, pages.value(LOST.formatted("activations")));
            assertEquals(0, pages.value(LOST.formatted("moments")));
        }
    }

    @Test
    void recordsThatTheGroupJumpedOverAreLostAloudAndMarkersOfTransactionsAreNot() throws Exception {
        openWindow();
        // The moments topic is only moved behind the marker of its last transaction.
        send(BEFORE, BEFORE + 60);
        move(Map.of(new TopicPartition("activations", 0), BEFORE + 60L));
        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
            send(BEFORE + 60, BEFORE + 60 + AFTER);
            close();
            assertEquals(List.of(BEFORE + AFTER), recordsOfTheOpenWindow());
            Pages pages = new Pages(runtime.httpAddress());
            assertEquals(60, pages.value(LOST.formatted("activations")));
            assertEquals(0, pages.value(LOST.formatted("moments")));
            assertEquals(0, pages.value(SKIPPED.formatted("activations")));
        }
    }

    @Test
    void abortedRecordsBetweenTwoRunsAreNotLostAndJumpedMomentsAre() throws Exception {
        openWindow();
        try (KafkaProducer<byte[], byte[]> producer = client.producer(Map.of("transactional.id", "server"))) {
            producer.initTransactions();
            producer.beginTransaction();
            for (ProducerRecord<byte[], byte[]> record : records(0, 9)) {
                Future<RecordMetadata> unused = producer.send(record);
            }
            producer.abortTransaction();
        }
        client.send(List.of(new ProducerRecord<>(config.topics().moments(), 0, null, new byte[] {1})));
        long end = client.endOffsets(config.topics().moments());
        move(Map.of(new TopicPartition(config.topics().moments(), 0), end));
        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
            send(BEFORE, BEFORE + AFTER);
            close();
            Pages pages = new Pages(runtime.httpAddress());
            BrokerClient.awaitThat(() -> pages.value(LOST.formatted("moments")) > 0, () -> pages.body("/metrics"));
            assertEquals(0, pages.value(LOST.formatted("activations")));
            assertEquals(List.of(BEFORE + AFTER), recordsOfTheOpenWindow());
        }
    }

    /** Leaves a monitor's state with a pane at level 2 and an open one at level 1, both of one open window. */
    private void openWindow() throws Exception {
        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
            send(0, BEFORE);
            Pages pages = new Pages(runtime.httpAddress());
            BrokerClient.awaitThat(
                    () -> pages.value(READ) == BEFORE * WatchedFolder.ROWS, () -> pages.body("/metrics"));
            client.await(config.topics().windowReports(), found -> found.size() == 1);
        }
    }

    private Set<TopicPartition> partitions() {
        return Set.of(
                new TopicPartition("activations", 0),
                new TopicPartition(config.topics().moments(), 0));
    }

    private void move(Map<TopicPartition, Long> offsets) throws Exception {
        Map<TopicPartition, OffsetAndMetadata> all = new HashMap<>();
        offsets.forEach((partition, offset) -> all.put(partition, new OffsetAndMetadata(offset)));
        try (Admin admin = Admin.create(client.properties())) {
            admin.alterConsumerGroupOffsets(GROUP, all).all().get();
        }
    }

    /** Sends records 200 ms apart; the first pane of 10 s ends with the fiftieth. */
    private void send(int from, int to) throws Exception {
        client.sendAll(records(from, to));
    }

    private static List<ProducerRecord<byte[], byte[]>> records(int from, int to) {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = from; i < to; i++) {
            records.add(record(T0 + Math.min(i * 200L, 19_900)));
        }
        return records;
    }

    /** Sends a record behind the open window. */
    private void close() throws Exception {
        client.send(List.of(record(T0 + 20_000)));
    }

    private static ProducerRecord<byte[], byte[]> record(long timeMs) {
        return new ProducerRecord<>(
                "activations",
                0,
                timeMs,
                WatchedFolder.SITE.getBytes(StandardCharsets.UTF_8),
                ActivationRecords.blob(WatchedFolder.quiet(timeMs)));
    }

    private List<Integer> recordsOfTheOpenWindow() throws Exception {
        List<Integer> records = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> report :
                client.await(config.topics().windowReports(), found -> found.size() == 2)) {
            var read = new ObjectMapper().readTree(report.value());
            if (read.get("window_start_ms").asLong() == T0) {
                records.add(read.get("rows").asInt() / WatchedFolder.ROWS);
            }
        }
        return records;
    }
}
