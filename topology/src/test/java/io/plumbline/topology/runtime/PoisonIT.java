package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.ingest.DeadLetter.Reason;
import io.plumbline.topology.ingest.KeptLetter;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests three bad records of ten, bad in every way: each is kept whole, and no other row is missing from its window.
 */
class PoisonIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final int RECORDS = 1_500;
    private static final int RECORDS_PER_WINDOW = 300;
    private static final int LATE = 7;

    @TempDir
    private Path folder;

    @Test
    void everyBadRecordIsKeptWholeAndEveryRowIsAccountedFor() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            MonitorConfig config = WatchedFolder.create(
                    folder.resolve("site"),
                    broker.bootstrapServers(),
                    WatchedFolder.WINDOW,
                    "limits: {rows_per_record: %d}".formatted(Poison.SMALL.most()),
                    WatchedFolder.SITE);
            Map<Long, ProducerRecord<byte[], byte[]>> bad = new HashMap<>();
            Map<Long, Reason> reasons = new HashMap<>();
            List<ProducerRecord<byte[], byte[]>> all = new ArrayList<>();
            long goodRows = 0;
            for (int i = 0; i < RECORDS; i++) {
                long time = T0 + (long) i / RECORDS_PER_WINDOW * 10_000 + i % RECORDS_PER_WINDOW;
                if (i % 10 < 3) {
                    Reason reason = Poison.REASONS[(i / 10 + i) % Poison.REASONS.length];
                    bad.put((long) i, Poison.SMALL.bad(reason, i, time));
                    reasons.put((long) i, reason);
                    all.add(bad.get((long) i));
                } else {
                    all.add(Poison.SMALL.good(i, time));
                    goodRows += WatchedFolder.ROWS;
                }
            }
            for (int i = 0; i < LATE; i++) {
                all.add(Poison.SMALL.good(RECORDS + i, T0));
            }
            // Closes the last window, and is itself in one that stays open.
            long newest = T0 + RECORDS / RECORDS_PER_WINDOW * 10_000L;
            all.add(Poison.SMALL.good(RECORDS + LATE, newest));
            client.sendAll(all);

            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                List<ConsumerRecord<byte[], byte[]>> letters =
                        client.await(config.topics().deadLetters(), found -> found.size() >= bad.size());
                List<ConsumerRecord<byte[], byte[]>> reports = client.await(
                        config.topics().windowReports(), found -> found.size() >= RECORDS / RECORDS_PER_WINDOW);
                assertEquals(bad.size(), letters.size());
                for (ConsumerRecord<byte[], byte[]> letter : letters) {
                    KeptLetter kept = KeptLetter.of(letter.headers());
                    long number = kept.place().offset();
                    ProducerRecord<byte[], byte[]> sent = bad.remove(number);
                    assertEquals(reasons.get(number).label(), kept.reason());
                    assertArrayEquals(sent.key(), letter.key());
                    assertArrayEquals(sent.value(), letter.value());
                    assertArrayEquals(sent.headers().toArray(), kept.original().toArray());
                    assertEquals(sent.timestamp(), kept.timestampMs());
                }
                assertTrue(bad.isEmpty(), "no letter for " + bad.keySet());

                long inWindows = 0;
                for (ConsumerRecord<byte[], byte[]> report : reports) {
                    inWindows += new ObjectMapper()
                            .readTree(report.value())
                            .get("rows")
                            .asLong();
                }
                assertEquals(goodRows, inWindows);
                String metrics = metrics(runtime);
                assertEquals((LATE + 1) * WatchedFolder.ROWS + inWindows, sum(metrics, "plumbline_rows_total"));
                assertEquals((long) LATE * WatchedFolder.ROWS, sum(metrics, "plumbline_late_rows_total"));
                assertEquals(reasons.size(), sum(metrics, "plumbline_dead_letters_total"));
                assertEquals(RECORDS - reasons.size() + LATE + 1, sum(metrics, "plumbline_records_total"));
            }
            assertEquals(newest, committedTime(config), "of the records that are not refused");
        }
    }

    private static long committedTime(MonitorConfig config) throws Exception {
        try (Admin admin = Admin.create(new HashMap<>(config.adminProperties()))) {
            return PartitionTimes.timeOf(admin.listConsumerGroupOffsets(config.monitorApplicationId())
                    .partitionsToOffsetAndMetadata()
                    .get()
                    .get(new TopicPartition("activations", 0)));
        }
    }

    static long sum(String metrics, String name) {
        return (long) metrics.lines()
                .filter(line -> line.startsWith(name + "{"))
                .mapToDouble(line -> Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }

    static String metrics(PlumblineRuntime runtime) throws Exception {
        java.net.URI address = java.net.URI.create(
                "http://127.0.0.1:%d/metrics".formatted(runtime.httpAddress().getPort()));
        try (var body = address.toURL().openStream()) {
            return new String(body.readAllBytes(), StandardCharsets.UTF_8);
        }
    }
}
