package io.plumbline.topology.outages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.RecordsToDelete;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a source that goes away, that holds what no consumer is handed, and that loses what was not read. */
class SourceOutageIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final int PARTITIONS = 2;
    private static final long IDLE_CLOSE_SECONDS = 6;

    private static final String ROWS = "plumbline_rows_total{site=\"%s\"}".formatted(WatchedFolder.SITE);

    @TempDir
    private Path folder;

    private final int port = EmbeddedBroker.freePort();
    private EmbeddedBroker broker;
    private BrokerClient client;
    private MonitorConfig config;

    @BeforeEach
    void start() throws Exception {
        startBroker();
        client = new BrokerClient(broker.bootstrapServers());
        client.createTopic("activations", PARTITIONS, Map.of("retention.ms", "-1"));
        Path site = folder.resolve("site");
        WatchedFolder.create(site, broker.bootstrapServers());
        config = MonitorConfig.parse(
                """
                application_id: outages
                kafka: {bootstrap.servers: "%s", monitor.commit.interval.ms: 500}
                window: {size: 10s, grace: 0s, idle_close: %ds, minimum_rows: 64}
                sample: {rows: 64}
                state: {directory: state}
                http: {port: 0}
                sites:
                  %s: {explainer: explainer, baseline: baseline.safetensors, rank: 4, threshold: {share: 0.6}, adaptation: {mode: observe}}
                """.formatted(broker.bootstrapServers(), IDLE_CLOSE_SECONDS, WatchedFolder.SITE), "test", site);
    }

    private void startBroker() {
        broker = EmbeddedBroker.start(folder.resolve("broker"), port, Map.of());
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    @Test
    void noRowIsLateBecauseTheBrokerWasAwayForLongerThanTheIdleTimeout() throws Exception {
        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR);
                KafkaProducer<byte[], byte[]> producer =
                        client.producer(Map.of("delivery.timeout.ms", "300000", "max.block.ms", "300000"))) {
            send(producer, 0, 8);
            producer.flush();
            await(runtime, ROWS, 8 * WatchedFolder.ROWS);
            broker.close();
            long stoppedAt = System.nanoTime();
            // Without a broker a producer may forget where the topic is, and send waits for that.
            CompletableFuture<Void> rest = CompletableFuture.runAsync(() -> send(producer, 8, 20));
            BrokerClient.awaitThat(
                    () -> System.nanoTime() - stoppedAt > TimeUnit.SECONDS.toNanos(2 * IDLE_CLOSE_SECONDS + 1),
                    () -> "the outage is not long enough yet");
            Pages pages = new Pages(runtime.httpAddress());
            String away = "no broker at %s has answered since 20"
                    .formatted(client.properties().get("bootstrap.servers"));
            BrokerClient.awaitThat(() -> pages.body("/readyz").startsWith(away), () -> pages.body("/readyz"));
            assertEquals(503, pages.status("/readyz"));
            assertTrue(pages.value("plumbline_broker_unanswered_seconds") >= 10);
            assertEquals(200, pages.status("/healthz"));
            startBroker();
            rest.get(60, TimeUnit.SECONDS);
            producer.flush();
            List<ConsumerRecord<byte[], byte[]>> reports = reports(1);
            assertEquals("ok", pages.body("/readyz").strip());
            String report = text(reports.get(0));
            assertTrue(report.contains("\"rows\":" + 20 * WatchedFolder.ROWS + ","), report);
            assertTrue(report.contains("\"closed_by\":\"idle\""), report);
            String account = new String(
                    reports.get(0).headers().lastHeader("plumbline.account").value(), StandardCharsets.UTF_8);
            assertTrue(account.contains("\"in\":" + 20 * WatchedFolder.ROWS), account);
            assertTrue(account.contains("\"unaccounted\":0"), account);
            assertEquals(
                    List.of(),
                    new Pages(runtime.httpAddress())
                            .body("/metrics")
                            .lines()
                            .filter(line -> line.startsWith("plumbline_late_rows_total") && !line.endsWith(" 0.0"))
                            .toList());
        }
    }

    @Test
    void markersOfTransactionsAtTheEndDoNotKeepASiteFromBeingSilent() throws Exception {
        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR);
                KafkaProducer<byte[], byte[]> producer = client.producer(Map.of("transactional.id", "server"))) {
            producer.initTransactions();
            producer.beginTransaction();
            send(producer, 0, 20);
            producer.commitTransaction();
            producer.beginTransaction();
            send(producer, 0, 20);
            producer.abortTransaction();
            String report = text(reports(1).get(0));
            assertTrue(report.contains("\"rows\":" + 20 * WatchedFolder.ROWS + ","), report);
            assertTrue(report.contains("\"closed_by\":\"idle\""), report);
            assertNull(runtime.awaitFailure(0, TimeUnit.SECONDS));
        }
    }

    @Test
    void whatWasDeletedBeforeItWasReadIsCounted() throws Exception {
        try (KafkaProducer<byte[], byte[]> producer = client.producer(Map.of())) {
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                send(producer, 0, 20);
                producer.flush();
                text(reports(1).get(0));
                await(runtime, "plumbline_lost_offsets_total{partition=\"0\",topic=\"activations\"}", 0);
            }
            send(producer, 100, 120);
            producer.flush();
            try (Admin admin = Admin.create(client.properties())) {
                admin.deleteRecords(Map.of(new TopicPartition("activations", 0), RecordsToDelete.beforeOffset(17)))
                        .all()
                        .get();
            }
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                await(runtime, "plumbline_lost_offsets_total{partition=\"0\",topic=\"activations\"}", 7);
                await(runtime, "plumbline_lost_offsets_total{partition=\"1\",topic=\"activations\"}", 0);
                await(runtime, ROWS, 13 * WatchedFolder.ROWS);
            }
        }
    }

    private List<ConsumerRecord<byte[], byte[]>> reports(int count) {
        return client.await(config.topics().windowReports(), found -> found.size() >= count);
    }

    private static String text(ConsumerRecord<byte[], byte[]> report) {
        return new String(report.value(), StandardCharsets.UTF_8);
    }

    private static void await(PlumblineRuntime runtime, String series, double value) throws InterruptedException {
        Pages pages = new Pages(runtime.httpAddress());
        BrokerClient.awaitThat(
                () -> pages.value(series) == value, () -> "%s is %s".formatted(series, pages.value(series)));
    }

    /** Sends records of one window, alternating between the partitions. */
    private static void send(KafkaProducer<byte[], byte[]> producer, int from, int to) {
        for (int i = from; i < to; i++) {
            Matrix rows = WatchedFolder.quiet(i);
            Future<RecordMetadata> unused = producer.send(new ProducerRecord<>(
                    "activations",
                    i % PARTITIONS,
                    T0 + i * 100L,
                    WatchedFolder.SITE.getBytes(StandardCharsets.UTF_8),
                    ActivationRecords.blob(rows)));
        }
    }
}
