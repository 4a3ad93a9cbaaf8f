package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.LongStream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests a first start on a backlog in which each site lies on a partition of its own, and a third one is empty. */
class BacklogIT {

    private static final long T0 = 1_700_000_000_000L / 10_000 * 10_000;
    private static final int PANES = 50;
    private static final int WAITING = 20;
    private static final List<String> SITES = List.of("a", "b");

    @TempDir
    private Path folder;

    @ParameterizedTest
    @CsvSource({"classic, 3", "streams, 2"})
    void closesEveryWindowAndHoldsBackWhatWouldWait(String protocol, int partitions) throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = backlog(broker, partitions);
            MonitorConfig config = config(broker, "group.protocol: " + protocol, "earliest");
            AtomicInteger most = new AtomicInteger();
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                BrokerClient.awaitThat(
                        () -> {
                            most.accumulateAndGet(openPanes(runtime), Math::max);
                            // Records of both sites and an end of transaction beside some: read only when all are
                            // there.
                            return client.endOffsets("window-reports") > (long) SITES.size() * PANES
                                    && starts(client).stream().allMatch(found -> found.size() >= PANES);
                        },
                        () -> starts(client).toString());
                List<Long> expected = LongStream.range(0, PANES)
                        .mapToObj(pane -> T0 + pane * 10_000)
                        .toList();
                assertEquals(List.of(expected, expected), starts(client));
                assertTrue(most.get() <= SITES.size() * WAITING, "panes that waited: " + most);
                String metrics = PoisonIT.metrics(runtime);
                assertTrue(metrics.lines().noneMatch(line -> line.matches("plumbline_late_rows_total.* [1-9].*")));
                assertTrue(metrics.lines().noneMatch(line -> line.matches("plumbline_partitions_given.* [1-9].*")));
            }
        }
    }

    @Test
    void aFirstStartMayBeginAtATime() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = backlog(broker, 2);
            long from = T0 + (PANES - 20) * 10_000L;
            MonitorConfig config = config(broker, "", Instant.ofEpochMilli(from).toString());
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                BrokerClient.awaitThat(
                        () -> starts(client).stream().allMatch(found -> found.size() >= 20), runtime::toString);
                assertTrue(starts(client).stream().allMatch(found -> found.size() == 20 && found.get(0) == from));
            }
        }
    }

    /** The first start reads nothing, and so Kafka Streams commits nothing. */
    @Test
    void whatComesBetweenAFirstStartFromTheEndAndTheNextIsRead() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 2, Map.of("retention.ms", "-1"));
            client.sendAll(records(0, PANES / 2));
            MonitorConfig config = config(broker, "", "latest");
            PlumblineRuntime.start(config, Role.MONITOR).close();
            client.sendAll(records(PANES / 2, PANES));
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                BrokerClient.awaitThat(
                        () -> starts(client).stream().allMatch(found -> found.size() >= PANES - PANES / 2),
                        () -> starts(client).toString());
                assertEquals(T0 + PANES / 2 * 10_000L, starts(client).get(0).get(0), "nothing that lay there at first");
                assertTrue(PoisonIT.metrics(runtime)
                        .lines()
                        .noneMatch(line -> line.matches("plumbline_lost_changelogs.* [1-9].*")));
            }
        }
    }

    private static BrokerClient backlog(EmbeddedBroker broker, int partitions) throws Exception {
        BrokerClient client = new BrokerClient(broker.bootstrapServers());
        client.createTopic("activations", partitions, Map.of("retention.ms", "-1"));
        client.sendAll(records(0, PANES));
        return client;
    }

    /** Returns a record of each site for each of some panes, each site's on its own partition. */
    private static List<ProducerRecord<byte[], byte[]>> records(int from, int to) {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int site = 0; site < SITES.size(); site++) {
            for (int pane = from; pane < to; pane++) {
                long time = T0 + pane * 10_000L + 5_000;
                records.add(new ProducerRecord<>(
                        "activations",
                        site,
                        time,
                        SITES.get(site).getBytes(StandardCharsets.UTF_8),
                        ActivationRecords.blob(WatchedFolder.quiet(time))));
            }
        }
        return records;
    }

    private MonitorConfig config(EmbeddedBroker broker, String kafka, String from) throws Exception {
        Path monitor = folder.resolve("monitor");
        MonitorConfig unused = WatchedFolder.create(
                monitor,
                broker.bootstrapServers(),
                "size: 10s, advance: 10s, grace: 0s, idle_close: 2s",
                "from: " + from,
                SITES.toArray(String[]::new));
        String yaml = Files.readString(monitor.resolve(WatchedFolder.FILE))
                .replace("store: memory", "store: memory, waiting_panes: " + WAITING)
                .replace("kafka: {", kafka.isEmpty() ? "kafka: {" : "kafka: {" + kafka + ", ");
        return MonitorConfig.parse(yaml, WatchedFolder.FILE, monitor);
    }

    /** Returns the starts of the reported windows of each site. */
    private static List<List<Long>> starts(BrokerClient client) {
        List<ConsumerRecord<byte[], byte[]>> reports = client.readAll("window-reports");
        return SITES.stream()
                .map(site -> reports.stream()
                        .filter(report -> new String(report.key(), StandardCharsets.UTF_8).equals(site))
                        .map(BacklogIT::start)
                        .toList())
                .toList();
    }

    private static long start(ConsumerRecord<byte[], byte[]> report) {
        Matcher start = Pattern.compile("\"window_start_ms\":(\\d+)")
                .matcher(new String(report.value(), StandardCharsets.UTF_8));
        assertTrue(start.find());
        return Long.parseLong(start.group(1));
    }

    private static int openPanes(PlumblineRuntime runtime) {
        String metrics;
        try {
            metrics = PoisonIT.metrics(runtime);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
        return metrics.lines()
                .filter(line -> line.startsWith("plumbline_open_panes{") && line.contains("windows"))
                .mapToInt(line -> (int) Double.parseDouble(line.substring(line.lastIndexOf(' ') + 1)))
                .sum();
    }
}
