package io.plumbline.topology.scale;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.geometry.Statistic;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.config.MonitorConfig;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests two instances that get a configuration with one site more and one less, one after the other, while windows are
 * open: those of every other site lose no row, and the new site has all its windows from the moment both know it.
 */
class RollingRestartIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final long WINDOW_MS = 10_000;
    private static final int PARTITIONS = 4;
    private static final int WIDTH = 16;
    private static final int ROWS = 3;
    private static final List<String> BEFORE = List.of("a", "b", "c", "removed");
    private static final List<String> AFTER = List.of("a", "b", "c", "added");

    @TempDir
    private Path folder;

    private EmbeddedBroker broker;
    private BrokerClient client;
    private final List<MonitorInstance> running = new ArrayList<>();
    private final TreeMap<String, SecondMomentAccumulator> truth = new TreeMap<>();
    private long number;

    @BeforeEach
    void start() {
        broker = EmbeddedBroker.start(folder.resolve("broker"));
        client = new BrokerClient(broker.bootstrapServers());
    }

    @AfterEach
    void stop() {
        running.forEach(MonitorInstance::close);
        broker.close();
    }

    @Test
    void sitesComeAndGoWithoutLossToTheOthers() throws Exception {
        MonitorConfig before = config(BEFORE);
        MonitorConfig after = config(AFTER);
        client.createTopic(before.topics().activations(), PARTITIONS, Map.of("retention.ms", "-1"));
        MonitorInstance first = run(before, "1");
        MonitorInstance second = run(before, "2");
        awaitWorking(first, second);
        send(BEFORE, 0, 0.4);
        awaitAccumulated();

        replace(first);
        MonitorInstance third = run(after, "1");
        awaitWorking(second, third);
        send(List.of("a", "b", "c"), 0.4, 0.7);
        awaitAccumulated();

        replace(second);
        MonitorInstance fourth = run(after, "2");
        awaitWorking(third, fourth);
        send(AFTER, 0.7, 2.2);
        // The next windows stay open; they say that time went on.
        truth.keySet().removeIf(window -> window.startsWith("removed"));
        Map<String, SecondMomentAccumulator> closed = new LinkedHashMap<>(truth);
        closed.keySet().removeIf(window -> window.endsWith("@" + (T0 + 2 * WINDOW_MS)));

        List<ConsumerRecord<byte[], byte[]>> reports =
                client.await(after.topics().windowReports(), found -> found.size() >= closed.size());
        Map<String, WatchedSite> sites = RandomSites.watched(after, WIDTH, 2 * WIDTH);
        TreeMap<String, String> found = new TreeMap<>();
        TreeMap<String, String> expected = new TreeMap<>();
        for (ConsumerRecord<byte[], byte[]> report : reports) {
            JsonNode json = new ObjectMapper().readTree(report.value());
            found.put(
                    json.get("site").asText() + "@"
                            + json.get("window_start_ms").asLong(),
                    "%d rows, shift %s, gap %s"
                            .formatted(
                                    json.get("rows").asLong(),
                                    json.get("second_moment_shift").asDouble(),
                                    json.get("faithfulness_gap").asDouble()));
        }
        closed.forEach((window, moment) -> {
            var assessed = sites.get(window.substring(0, window.indexOf('@')))
                    .geometry()
                    .assess(moment.snapshot());
            expected.put(
                    window,
                    "%d rows, shift %s, gap %s"
                            .formatted(
                                    assessed.rows(),
                                    assessed.value(Statistic.SECOND_MOMENT_SHIFT)
                                            .orElseThrow(),
                                    assessed.value(Statistic.FAITHFULNESS_GAP).orElseThrow()));
        });
        assertEquals(expected, found);
        assertEquals(expected.size(), reports.size(), "each window once");
        for (MonitorInstance instance : running) {
            assertEquals(List.of(), instance.failures);
            assertEquals(0, instance.lateRows.get());
            assertEquals(0, instance.deadLetters.get());
        }
    }

    private MonitorInstance run(MonitorConfig config, String state) {
        MonitorInstance instance =
                MonitorInstance.start(config, RandomSites.watched(config, WIDTH, 2 * WIDTH), folder.resolve(state));
        running.add(instance);
        return instance;
    }

    private void replace(MonitorInstance instance) {
        instance.close();
        assertEquals(List.of(), instance.failures);
    }

    private void awaitWorking(MonitorInstance one, MonitorInstance other) throws InterruptedException {
        BrokerClient.awaitThat(() -> one.works() && other.works(), () -> "the instances do not both work");
    }

    /** Waits until rows are in panes, and so are written at the next commit. */
    private void awaitAccumulated() throws InterruptedException {
        long sent =
                truth.values().stream().mapToLong(SecondMomentAccumulator::rows).sum();
        BrokerClient.awaitThat(
                () -> running.stream()
                                .mapToLong(one -> one.accumulatedRows.get())
                                .sum()
                        >= sent,
                () -> "%d rows sent".formatted(sent));
    }

    /** Sends rows of some sites, in all partitions by turns, evenly over a stretch of windows. */
    private void send(List<String> sites, double fromWindow, double toWindow) throws Exception {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        int steps = (int) Math.round((toWindow - fromWindow) * 20);
        for (int step = 0; step < steps; step++) {
            long timestamp = T0 + Math.round((fromWindow + step / 20.0) * WINDOW_MS);
            for (String site : sites) {
                Matrix rows = ActivationRecords.integerRows(++number, ROWS, WIDTH);
                truth.computeIfAbsent(
                                site + "@" + timestamp / WINDOW_MS * WINDOW_MS,
                                window -> SecondMomentAccumulator.ofDimension(WIDTH))
                        .add(rows);
                records.add(new ProducerRecord<>(
                        "activations",
                        step % PARTITIONS,
                        timestamp,
                        site.getBytes(StandardCharsets.UTF_8),
                        ActivationRecords.blob(rows)));
            }
        }
        client.send(records);
    }

    private MonitorConfig config(List<String> sites) {
        return new RandomSites.Setting(
                        broker.bootstrapServers(),
                        "",
                        "size: 10s, advance: 10s, grace: 0s, idle_close: off, minimum_rows: 16",
                        32,
                        "memory",
                        "commit.interval.ms: 500, main.consumer.max.poll.records: 20")
                .of(sites, 4, folder);
    }
}
