package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a monitor that is stopped and started again in good order, while a producer sends old records once more. */
class RestartIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final long WINDOW_MS = 10_000;
    private static final int ROWS = WatchedFolder.RECORDS * WatchedFolder.ROWS;

    @TempDir
    private Path folder;

    @Test
    void aClosedWindowStaysClosedAndItsRowsSentAgainAreLate() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            MonitorConfig config = WatchedFolder.create(folder.resolve("site"), broker.bootstrapServers());
            client.sendAll(windows(0, 3));
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                awaitRows(runtime, "in_windows", 2 * ROWS);
            }
            // Two closed windows again. A record of the open one sent twice is two: no record is remembered.
            client.sendAll(windows(0, 2));
            client.sendAll(windows(3, 5));
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                awaitRows(runtime, "in_windows", 4 * ROWS);
                awaitRows(runtime, "late_after_grace", 2 * ROWS);
            }
            List<Long> starts = new ArrayList<>();
            for (ConsumerRecord<byte[], byte[]> report :
                    client.readAll(config.topics().windowReports())) {
                var read = new ObjectMapper().readTree(report.value());
                starts.add(read.get("window_start_ms").asLong());
                assertEquals(ROWS, read.get("rows").asLong(), read::toString);
            }
            assertEquals(List.of(T0, T0 + WINDOW_MS, T0 + 2 * WINDOW_MS, T0 + 3 * WINDOW_MS), starts);
        }
    }

    /**
     * Tests windows twice as long and of the same panes, taken over by a site that has fallen silent: the first of them
     * must not lack what went with the shorter ones.
     */
    @Test
    void longerWindowsAfterARestartAreWhole() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            WatchedFolder.create(folder.resolve("site"), broker.bootstrapServers());
            Path file = folder.resolve("site").resolve(WatchedFolder.FILE);
            Files.writeString(file, Files.readString(file).replace("idle_close: off", "idle_close: 2s"));
            MonitorConfig shorter = MonitorConfig.load(file);
            client.sendAll(windows(0, 4));
            try (PlumblineRuntime runtime = PlumblineRuntime.start(shorter, Role.MONITOR)) {
                awaitRows(runtime, "in_windows", 4 * ROWS);
            }
            Files.writeString(
                    file, Files.readString(file).replace("size: 10s, advance: 10s", "size: 20s, advance: 10s"));
            client.sendAll(windows(4, 7));
            try (PlumblineRuntime runtime = PlumblineRuntime.start(MonitorConfig.load(file), Role.MONITOR)) {
                // The seventh pane lies in a window that is still open, too.
                awaitRows(runtime, "in_windows", 6 * ROWS);
            }
            List<Long> lengths = new ArrayList<>();
            for (ConsumerRecord<byte[], byte[]> report :
                    client.readAll(shorter.topics().windowReports())) {
                var read = new ObjectMapper().readTree(report.value());
                long seconds = (read.get("window_end_ms").asLong()
                                - read.get("window_start_ms").asLong())
                        / 1_000;
                assertEquals(seconds / 10 * ROWS, read.get("rows").asLong(), read::toString);
                lengths.add(seconds);
            }
            assertEquals(List.of(10L, 10L, 10L, 10L, 20L, 20L), lengths);
        }
    }

    private static List<ProducerRecord<byte[], byte[]>> windows(int from, int to) {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int window = from; window < to; window++) {
            for (int i = 0; i < WatchedFolder.RECORDS; i++) {
                records.add(Poison.SMALL.good(100L * window + i, T0 + window * WINDOW_MS + i * 100L));
            }
        }
        return records;
    }

    private static void awaitRows(PlumblineRuntime runtime, String account, long rows) throws InterruptedException {
        String line =
                "plumbline_site_rows{account=\"%s\",site=\"%s\"} %d.0".formatted(account, WatchedFolder.SITE, rows);
        BrokerClient.awaitThat(() -> metrics(runtime).contains(line), () -> line + " not in\n" + metrics(runtime));
    }

    private static String metrics(PlumblineRuntime runtime) {
        try {
            return PoisonIT.metrics(runtime);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
