package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.reload.ConfigVersion;
import io.plumbline.topology.reload.FirstRead;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.WindowReport;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests configurations that change under two processes on one broker. */
class ReloadIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final long WINDOW_MS = 10_000;
    private static final int PARTITIONS = 4;
    private static final List<String> SITES = List.of("s1", "s2", "s3", "s4");
    private static final String USUAL = "threshold: {share: 0.6}";
    private static final String HIGHER = "threshold: {share: 0.7}";

    @TempDir
    private Path folder;

    private BrokerClient client;
    private int windows;

    @Test
    void aThresholdIsTakenOverFromTheSameWindowOnByEveryInstanceAndARefusedChangeByNone() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", PARTITIONS, Map.of("retention.ms", "-1"));
            try (PlumblineRuntime first = start(broker, "first");
                    PlumblineRuntime second = start(broker, "second")) {
                while (reports().size() < SITES.size()) {
                    sendWindow();
                    Thread.sleep(200);
                }

                change("first", "size: 10s, ", "size: 20s, ");
                awaitShown(first, "plumbline_config_last_reload_successful 0.0");
                change("first", "size: 20s, ", "size: 10s, ");
                awaitShown(first, "plumbline_config_last_reload_successful 1.0");
                assertEquals(1, agreed().size(), "a refused change was published");
                // Of a file that names one which comes later.
                change("first", "baseline: baseline.safetensors", "baseline: late.safetensors");
                awaitShown(first, "plumbline_config_last_reload_successful 0.0");
                Path baseline = folder.resolve("first").resolve("baseline.safetensors");
                Files.copy(baseline, baseline.resolveSibling("late.safetensors"));
                awaitShown(first, "plumbline_config_last_reload_successful 1.0");
                change("first", "baseline: late.safetensors", "baseline: baseline.safetensors");
                BrokerClient.awaitThat(() -> agreed().size() == 3, () -> "versions: " + agreed());

                change("first", USUAL, HIGHER);
                awaitShown(second, "plumbline_config_other 1.0");
                change("second", USUAL, HIGHER);
                ConfigVersion version = agreed().get(3);
                awaitShown(first, "plumbline_config_info{sha256=\"%s\"".formatted(version.sha256()));
                awaitShown(second, "plumbline_config_info{sha256=\"%s\"".formatted(version.sha256()));
                awaitShown(second, "plumbline_config_other 0.0");
                assertEquals(0, version.fromMs() % WINDOW_MS, "not the edge of a window: " + version.fromMs());
                assertEquals(
                        SITES.stream()
                                .map(site -> "sites.%s.threshold.share: 0.6 -> 0.7".formatted(site))
                                .toList(),
                        version.changes());

                while (T0 + windows * WINDOW_MS < version.fromMs() + 4 * WINDOW_MS) {
                    sendWindow();
                }
                BrokerClient.awaitThat(
                        () -> reports().stream()
                                        .filter(report -> report.header().windowStartMs() > version.fromMs())
                                        .map(report -> report.header().site())
                                        .distinct()
                                        .count()
                                == SITES.size(),
                        () -> "reports: " + reports().size());
                assertJudgedAsOf(version.fromMs());
                assertAStartWithAnotherFileIsAVersion(broker, second);
            }
        }
    }

    private void assertAStartWithAnotherFileIsAVersion(EmbeddedBroker broker, PlumblineRuntime second)
            throws Exception {
        try (PlumblineRuntime third = start(broker, "third")) {
            awaitShown(second, "plumbline_config_other 1.0");
            change("second", HIGHER, USUAL);
            awaitShown(second, "plumbline_config_other 0.0");
            List<ConfigVersion> all = agreed();
            assertEquals(5, all.size());
            assertEquals(all.get(0).sha256(), all.get(4).sha256());
            awaitShown(third, "plumbline_config_from_seconds 0.0");
        }
    }

    private void assertJudgedAsOf(long fromMs) {
        List<Double> before = new ArrayList<>();
        List<Double> after = new ArrayList<>();
        for (WindowReport report : reports()) {
            Double threshold = Objects.requireNonNull(report.judged().threshold());
            (report.header().windowStartMs() < fromMs ? before : after).add(threshold);
        }
        assertTrue(before.size() > SITES.size() && after.size() >= SITES.size(), before + " " + after);
        assertEquals(1, before.stream().distinct().count(), "thresholds before: " + before);
        assertEquals(1, after.stream().distinct().count(), "thresholds after: " + after);
        assertEquals(0.7 / 0.6, after.get(0) / before.get(0), 1e-9);
    }

    static void awaitShown(PlumblineRuntime runtime, String text) throws Exception {
        BrokerClient.awaitThat(
                () -> {
                    try {
                        return PoisonIT.metrics(runtime).contains(text);
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                },
                () -> text + " is not shown");
    }

    /** Returns the versions, without one that two instances published at once. */
    private List<ConfigVersion> agreed() {
        List<ConfigVersion> agreed = new ArrayList<>();
        for (ConsumerRecord<byte[], byte[]> record : client.readAll("plumbline-configuration")) {
            ConfigVersion version = Json.read(record.value(), ConfigVersion.class);
            if (agreed.isEmpty() || !agreed.get(agreed.size() - 1).sha256().equals(version.sha256())) {
                agreed.add(version);
            }
        }
        return agreed;
    }

    private List<WindowReport> reports() {
        return client.readAll("window-reports").stream()
                .map(ConsumerRecord::value)
                .map(value -> Json.read(value, WindowReport.class))
                .toList();
    }

    private void change(String name, String before, String after) throws Exception {
        Path file = folder.resolve(name).resolve(WatchedFolder.FILE);
        String text = Files.readString(file);
        assertTrue(text.contains(before), before);
        Files.writeString(file, text.replace(before, after));
    }

    private PlumblineRuntime start(EmbeddedBroker broker, String name) throws Exception {
        WatchedFolder.create(
                folder.resolve(name),
                broker.bootstrapServers(),
                WatchedFolder.WINDOW,
                "",
                SITES.toArray(String[]::new));
        Path file = folder.resolve(name).resolve(WatchedFolder.FILE);
        FirstRead first = FirstRead.of(file, log -> {});
        PlumblineRuntime runtime = PlumblineRuntime.start(first.config(), Role.MONITOR);
        runtime.follow(first, log -> {});
        return runtime;
    }

    private void sendWindow() throws Exception {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < WatchedFolder.RECORDS; i++) {
            long time = T0 + windows * WINDOW_MS + i * 100L;
            for (String site : SITES) {
                records.add(new ProducerRecord<>(
                        "activations",
                        i % PARTITIONS,
                        time,
                        site.getBytes(StandardCharsets.UTF_8),
                        ActivationRecords.blob(WatchedFolder.quiet(time))));
            }
        }
        client.sendAll(records);
        windows++;
    }
}
