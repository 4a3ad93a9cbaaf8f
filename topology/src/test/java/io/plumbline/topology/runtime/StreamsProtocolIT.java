package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.broker.Standbys;
import io.plumbline.topology.cli.Shell;
import io.plumbline.topology.config.MonitorConfig;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.OptionalInt;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests both applications under the group protocol {@code streams}, on a broker with its defaults. */
class StreamsProtocolIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final long WINDOW_MS = 10_000;
    private static final int ROWS = WatchedFolder.RECORDS * WatchedFolder.ROWS;
    private static final String CLASSIC = "kafka: {bootstrap.servers";
    private static final String STREAMS = "kafka: {group.protocol: streams, bootstrap.servers";

    @TempDir
    private Path folder;

    @Test
    void aMonitorMovesToTheStreamsProtocolAndBackWithEveryWindowWholeAndOnce() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            MonitorConfig classic = WatchedFolder.create(folder.resolve("site"), broker.bootstrapServers());
            Path file = folder.resolve("site").resolve(WatchedFolder.FILE);
            String yaml = Files.readString(file);
            Files.writeString(file, yaml.replace(CLASSIC, STREAMS));
            MonitorConfig streams = MonitorConfig.load(file);
            assertTrue(Standbys.areOfTheGroup(streams));
            int windows = 0;
            for (MonitorConfig config : List.of(classic, streams, classic)) {
                client.sendAll(windows(windows, windows + 3));
                windows += 3;
                int closed = windows - 1;
                try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.ALL)) {
                    client.await(config.topics().windowReports(), found -> found.size() >= closed);
                    BrokerClient.awaitThat(() -> StartWarningsIT.isReady(runtime), () -> metrics(runtime));
                }
            }
            List<Long> starts = new ArrayList<>();
            List<Long> expected = new ArrayList<>();
            for (ConsumerRecord<byte[], byte[]> report :
                    client.readAll(classic.topics().windowReports())) {
                JsonNode read = new ObjectMapper().readTree(report.value());
                expected.add(T0 + starts.size() * WINDOW_MS);
                starts.add(read.get("window_start_ms").asLong());
                assertEquals(ROWS, read.get("rows").asLong(), read::toString);
            }
            assertEquals(expected, starts);
            assertEquals(windows - 1, starts.size());
            checkAsksTheGroup(client, streams, file);
        }
    }

    private static void checkAsksTheGroup(BrokerClient client, MonitorConfig streams, Path file) throws Exception {
        assertEquals(OptionalInt.of(0), Standbys.ofTheGroup(streams));
        client.alterGroup(streams.monitorApplicationId(), "streams.num.standby.replicas", "1");
        BrokerClient.awaitThat(
                () -> Standbys.ofTheGroup(streams).equals(OptionalInt.of(1)),
                () -> Standbys.ofTheGroup(streams).toString());
        Shell asked = Shell.run("check", "--config", file, "--heap", "2g");
        assertTrue(asked.out().contains("1 partition, 1 standby replica"), asked::out);
        Shell offline = Shell.run("check", "--config", file, "--heap", "2g", "--offline");
        assertTrue(
                offline.out().contains("a setting of the group small-monitor, and no broker is asked"), offline::out);
        assertTrue(offline.out().contains("0 standby replicas"), offline::out);
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

    private static String metrics(PlumblineRuntime runtime) {
        try {
            return PoisonIT.metrics(runtime);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
