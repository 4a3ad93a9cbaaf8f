package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.baseline.Provenance;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.moments.MaskRules;
import io.plumbline.records.ActivationBatch;
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
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests instances of one application that do not have the same configuration. */
class DisagreeingInstancesIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final int PARTITIONS = 2;
    private static final int RECORDS = 120;

    /** The first instance goes on once the group has given up the one that stopped. */
    private static final String GONE_SOON = "session.timeout.ms: \"6000\", ";

    @TempDir
    private Path folder;

    private BrokerClient client;

    @Test
    void theSecondStopsWithTheKeysThatDifferAndTheFirstReportsWholeWindows() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", PARTITIONS, Map.of("retention.ms", "-1"));
            MonitorConfig config = config(broker, "first", "10s");
            try (PlumblineRuntime first = PlumblineRuntime.start(config, Role.MONITOR)) {
                send(0);
                send(1);
                client.await(config.topics().windowReports(), found -> !found.isEmpty());
                stops(config(broker, "windows", "20s"), "window.size = 10000 ms, here 20000 ms");
                stops(masked(broker), "mask of the baseline = 0 token ids");
                send(2);
                send(3);
                List<Integer> rows = new ArrayList<>();
                for (ConsumerRecord<byte[], byte[]> report :
                        client.await(config.topics().windowReports(), found -> found.size() >= 3)) {
                    rows.add(new ObjectMapper()
                                    .readTree(report.value())
                                    .get("rows")
                                    .asInt()
                            / WatchedFolder.ROWS);
                }
                assertEquals(List.of(RECORDS, RECORDS, RECORDS), rows);
                assertNull(first.awaitFailure(0, TimeUnit.SECONDS));
            }
            stops(masked(broker), "mask of the baseline = 0 token ids");
        }
    }

    private static void stops(MonitorConfig config, String because) throws Exception {
        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
            String failure = runtime.awaitFailure(60, TimeUnit.SECONDS);
            assertTrue(failure != null && failure.contains(because), String.valueOf(failure));
        }
    }

    private MonitorConfig config(EmbeddedBroker broker, String name, String size) throws Exception {
        Path site = folder.resolve(name);
        WatchedFolder.create(
                site,
                broker.bootstrapServers(),
                "size: %s, advance: %s, grace: 0s, idle_close: off".formatted(size, size),
                "",
                WatchedFolder.SITE);
        Path file = site.resolve(WatchedFolder.FILE);
        Files.writeString(file, Files.readString(file).replace("kafka: {", "kafka: {" + GONE_SOON));
        return MonitorConfig.load(file);
    }

    private MonitorConfig masked(EmbeddedBroker broker) throws Exception {
        config(broker, "masked", "10s");
        Path site = folder.resolve("masked");
        BaselineBuilder baseline = BaselineBuilder.of(
                Formats.read(site.resolve("explainer")), List.of(4), List.of(), new MaskRules(List.of(7L), null));
        for (int record = 0; record < 64; record++) {
            baseline.add(new ActivationBatch(WatchedFolder.quiet(-1 - record), null, new long[WatchedFolder.ROWS]));
        }
        Baseline built = baseline.build().with(Provenance.first(Instant.parse("2026-11-01T00:00:00Z"), "quiet rows"));
        built.write(site.resolve("baseline.safetensors"));
        String yaml = Files.readString(site.resolve(WatchedFolder.FILE))
                .replaceAll("( *)rank: 4", "$1rank: 4\n$1mask: {token_ids: [7]}");
        return MonitorConfig.parse(yaml, WatchedFolder.FILE, site);
    }

    /** Sends the records of one window, alternating between the partitions. */
    private void send(int window) throws Exception {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < RECORDS; i++) {
            long time = T0 + window * 10_000L + i * 80L;
            records.add(new ProducerRecord<>(
                    "activations",
                    i % PARTITIONS,
                    time,
                    WatchedFolder.SITE.getBytes(StandardCharsets.UTF_8),
                    ActivationRecords.blob(WatchedFolder.quiet(time))));
        }
        client.sendAll(records);
    }
}
