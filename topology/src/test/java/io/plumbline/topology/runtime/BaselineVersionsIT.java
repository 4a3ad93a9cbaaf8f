package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.Provenance;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.baselines.BaselineHistory;
import io.plumbline.topology.baselines.BaselineListener;
import io.plumbline.topology.baselines.BaselineVersion;
import io.plumbline.topology.baselines.BaselineVersions;
import io.plumbline.topology.cli.Shell;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.SigningKeys;
import io.plumbline.topology.reload.ConfigVersion;
import io.plumbline.topology.reload.FirstRead;
import io.plumbline.topology.report.Json;
import io.plumbline.wire.Sha256;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what the topic of baselines says while two processes take baselines over and go back. */
class BaselineVersionsIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final List<String> SITES = List.of("s1", "s2");

    @TempDir
    private Path folder;

    private BrokerClient client;

    @Test
    void eachTakeOverIsOneRecordOfEachSiteWithItsApproverEdgeAndComparisonAndARestartIsNone() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 2, Map.of("retention.ms", "-1"));
            try (PlumblineRuntime first = start(broker, "first");
                    PlumblineRuntime second = start(broker, "second")) {
                awaitRecords(2);
                change("baseline.safetensors", "next.safetensors");
                awaitRecords(4);
                change("next.safetensors", "baseline.safetensors");
                awaitRecords(6);
                ReloadIT.awaitShown(first, "plumbline_baseline_unwritten 0.0");
                ReloadIT.awaitShown(second, "plumbline_baseline_second_moment_relative_shift{site=\"s2\"}");
            }
            try (PlumblineRuntime third = start(broker, "first")) {
                // The version that it agrees with is heard, and what was at the topic's start is read.
                ReloadIT.awaitShown(third, "plumbline_config_info");
                ReloadIT.awaitShown(third, "plumbline_baseline_second_moment_relative_shift{site=\"s2\"}");
                Thread.sleep(2_000);
            }
            assertThreeVersions(records());
        }
    }

    @Test
    void aRollbackWhileNothingRanIsARecordAndADeletedOneLeavesTheHistory() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 2, Map.of("retention.ms", "-1"));
            try (PlumblineRuntime first = start(broker, "first")) {
                awaitRecords(2);
                change("first", "baseline.safetensors", "next.safetensors");
                awaitRecords(4);
                ReloadIT.awaitShown(first, "plumbline_baseline_unwritten 0.0");
            }
            change("first", "next.safetensors", "baseline.safetensors");
            try (PlumblineRuntime again = start(broker, "first")) {
                awaitRecords(6);
                ReloadIT.awaitShown(again, "plumbline_baseline_unwritten 0.0");
            }
            List<BaselineVersion> own =
                    records().stream().filter(one -> one.site().equals("s1")).toList();
            assertEquals(
                    List.of(1L, 2L, 3L),
                    own.stream().map(one -> taken(one).version()).toList());
            assertEquals(own.get(0).sha256(), own.get(2).sha256());
            assertEquals(own.get(1).sha256(), own.get(2).replacesSha256());
            assertNull(own.get(2).comparison(), "it did not hold the one before");
            assertHistoryWithout(own);
        }
    }

    private void assertHistoryWithout(List<BaselineVersion> own) throws Exception {
        Map<String, BaselineHistory> histories = new ConcurrentHashMap<>();
        BaselineListener listener = new BaselineListener() {
            @Override
            public void onBaselines(BaselineHistory history) {
                histories.put(history.site(), history);
            }
        };
        MonitorConfig config = MonitorConfig.load(folder.resolve("first").resolve(WatchedFolder.FILE));
        try (BaselineVersions followed = BaselineVersions.follow(config, listener)) {
            assertNotNull(followed);
            awaitTaken(histories, own);
            byte[] key = own.get(0).key().getBytes(StandardCharsets.UTF_8);
            client.sendAll(List.of(new ProducerRecord<>("plumbline-baselines", key, null)));
            awaitTaken(histories, own.subList(1, 3));
        }
    }

    private static void awaitTaken(Map<String, BaselineHistory> histories, List<BaselineVersion> expected)
            throws InterruptedException {
        BrokerClient.awaitThat(
                () -> histories
                        .getOrDefault("s1", BaselineHistory.of("s1"))
                        .taken()
                        .equals(expected),
                () -> "expected %s, there is %s".formatted(expected, histories));
    }

    private void assertThreeVersions(List<BaselineVersion> records) throws Exception {
        List<ConfigVersion> agreed = client.readAll("plumbline-configuration").stream()
                .map(record -> Json.read(record.value(), ConfigVersion.class))
                .toList();
        assertEquals(6, records.stream().map(BaselineVersion::key).distinct().count(), "keys: " + records);
        for (String site : SITES) {
            // What compaction keeps: an instance that missed the second version cannot compare the third.
            Map<String, BaselineVersion> last = new LinkedHashMap<>();
            records.stream().filter(one -> one.site().equals(site)).forEach(one -> last.put(one.key(), one));
            List<BaselineVersion> own = List.copyOf(last.values());
            assertEquals(3, own.size(), "records: " + own);
            String was = Sha256.of(folder.resolve("first").resolve("baseline.safetensors"));
            String became = Sha256.of(folder.resolve("first").resolve("next.safetensors"));
            assertEquals(
                    List.of(was, became, was),
                    own.stream().map(BaselineVersion::sha256).toList());
            assertNull(taken(own.get(0)).fromMs());
            assertNull(own.get(0).approver());
            assertNull(own.get(0).comparison());
            BaselineVersion next = own.get(1);
            assertEquals("ada", Objects.requireNonNull(next.approver()).name());
            assertEquals(was, next.replacesSha256());
            assertEquals(2, next.revision());
            Baseline file = Baseline.read(folder.resolve("first").resolve("next.safetensors"));
            assertEquals(Objects.requireNonNull(file.provenance()).content(), next.contentSha256());
            assertEquals(file.rowCount(), next.rows());
            ConfigVersion version = agreed.get((int) taken(next).version() - 1);
            assertEquals(version.fromMs(), taken(next).fromMs());
            assertEquals(version.publishedMs(), taken(next).agreedMs());
            assertEquals(
                    List.of(file.rowCount() / 2, file.rowCount()),
                    Objects.requireNonNull(next.comparison()).rowsOldNew());
            assertTrue(next.comparison().shiftRatioOfOld() > 0, "no shift");
            assertEquals(
                    List.of(file.rowCount(), file.rowCount() / 2),
                    Objects.requireNonNull(own.get(2).comparison()).rowsOldNew());
            assertEquals(became, own.get(2).replacesSha256());
        }
    }

    @Test
    void aTopicThatTakesNothingIsShownAndWindowsGoOn() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 2, Map.of("retention.ms", "-1"));
            client.createTopic(
                    "plumbline-baselines", 1, Map.of("max.message.bytes", "100", "cleanup.policy", "compact"));
            try (PlumblineRuntime runtime = start(broker, "first")) {
                ReloadIT.awaitShown(runtime, "plumbline_baseline_unwritten 2.0");
                send(0);
                send(1);
                BrokerClient.awaitThat(
                        () -> !client.readAll("window-reports").isEmpty(), () -> "no window was reported");
                assertEquals(List.of(), records());
                client.alterTopic("plumbline-baselines", "max.message.bytes", "1000000");
                ReloadIT.awaitShown(runtime, "plumbline_baseline_unwritten 0.0");
                assertEquals(2, records().size());
            }
        }
    }

    private static BaselineVersion.Taken taken(BaselineVersion version) {
        return Objects.requireNonNull(version.taken());
    }

    private void awaitRecords(int number) throws InterruptedException {
        BrokerClient.awaitThat(
                () -> records().stream().map(BaselineVersion::key).distinct().count() == number,
                () -> "expected %d, there are %s".formatted(number, records()));
    }

    private List<BaselineVersion> records() {
        return client.readAll("plumbline-baselines").stream()
                .map(ConsumerRecord::value)
                .map(value -> Json.read(value, BaselineVersion.class))
                .toList();
    }

    private void change(String before, String after) throws Exception {
        change("first", before, after);
        change("second", before, after);
    }

    private void change(String name, String before, String after) throws Exception {
        Path file = folder.resolve(name).resolve(WatchedFolder.FILE);
        String text = Files.readString(file);
        assertTrue(text.contains(before), before);
        Files.writeString(file, text.replace(before, after));
    }

    private PlumblineRuntime start(EmbeddedBroker broker, String name) throws Exception {
        Path own = folder.resolve(name);
        if (!Files.exists(own)) {
            Files.createDirectories(own);
            SigningKeys ada = Files.exists(folder.resolve("ada.pub"))
                    ? new SigningKeys(folder.resolve("ada.pem"), folder.resolve("ada.pub"))
                    : SigningKeys.create(folder, "ada");
            Files.copy(ada.publicKey(), own.resolve("ada.pub"));
            WatchedFolder.create(
                    own,
                    broker.bootstrapServers(),
                    WatchedFolder.WINDOW,
                    "signing: {approvers: {ada: ada.pub}}\n",
                    SITES.toArray(String[]::new));
            Path next = own.resolve("next.safetensors");
            WatchedFolder.writeBaseline(own.resolve("explainer"), next, 8 * WatchedFolder.RECORDS);
            Baseline made = Baseline.read(next);
            Path old = own.resolve("baseline.safetensors");
            made.with(Provenance.replacing(
                            Baseline.read(old), Sha256.of(old), Instant.parse("2026-11-02T00:00:00Z"), "more rows"))
                    .write(next);
            assertEquals(
                    0, Shell.run("approve-baseline", "--key", ada.key(), next).exitCode());
        }
        FirstRead first = FirstRead.of(own.resolve(WatchedFolder.FILE), log -> {});
        PlumblineRuntime runtime = PlumblineRuntime.start(first.config(), Role.MONITOR);
        runtime.follow(first, log -> {});
        return runtime;
    }

    private void send(int window) throws Exception {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < WatchedFolder.RECORDS; i++) {
            long time = T0 + window * 10_000L + i * 100L;
            for (String site : SITES) {
                records.add(new ProducerRecord<>(
                        "activations",
                        i % 2,
                        time,
                        site.getBytes(StandardCharsets.UTF_8),
                        ActivationRecords.blob(WatchedFolder.quiet(time))));
            }
        }
        client.sendAll(records);
    }
}
