package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationFile;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.Outcome;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.report.Json;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests the demonstration's German, in windows of 600 rows and passages of 60, through the whole pipeline: repaired
 * once there are enough rows, and better when there are twice as many.
 */
class PooledRefitsIT {

    private static final String SITE = "encoder.layer.2";
    private static final long T0 = 1_700_000_000_000L;
    private static final long WINDOW_MS = 10_000;
    private static final int PASSAGE = 60;
    private static final int PASSAGES = 10;
    private static final int WINDOW_ROWS = PASSAGE * PASSAGES;

    @TempDir
    private Path folder;

    private BrokerClient client;
    private int windows;

    @Test
    void smallDriftedWindowsAreRepairedTogetherAndImprovedWhenTheirRowsHaveDoubled() throws Exception {
        unpack(
                "cfg.json",
                "sae_weights.safetensors",
                "baseline.safetensors",
                "german.safetensors",
                "english.safetensors");
        List<Matrix> german = passages("german.safetensors");
        List<Matrix> english = passages("english.safetensors");
        int drifted = german.size() / PASSAGES;
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config(broker), Role.ALL)) {
                for (int window = 0; window < drifted; window++) {
                    send(german, window);
                }
                send(english, 0);
                int asked = asked(drifted);
                assertTrue(asked > drifted / 2, "windows that asked: " + asked);
                List<AdaptationReport> answers = answers(asked);
                List<AdaptationReport> published = published(answers);
                assertTrue(published.size() >= 2, answers::toString);
                assertEquals(Outcome.POOLED, answers.get(0).outcome(), "too few passages: " + answers.get(0));
                AdaptationReport first = published.get(0);
                AdaptationReport second = published.get(1);
                assertTrue(second.pooledRows() >= 2 * first.pooledRows(), second::toString);
                assertTrue(second.fvuAfter() < second.fvuBefore(), second::toString);
                assertTrue(second.gate().gain().improvementLower() > 0.0, second::toString);
                assertEquals(asked * WINDOW_ROWS, answers.get(asked - 1).pooledRows(), "no row is lost");
                send(english, 1);
                awaitAnswer(report -> report.outcome() == Outcome.REVERTED);
                send(german, 0);
                send(english, 2);
                AdaptationReport anew = awaitAnswer(report -> report.windowEndMs() == T0 + (drifted + 3) * WINDOW_MS);
                assertEquals(1, anew.pooledWindows(), "the pool began anew: " + anew);
                assertEquals(WINDOW_ROWS, anew.pooledRows());
                assertNull(runtime.awaitFailure(0, TimeUnit.MILLISECONDS));
            }
        }
    }

    private void unpack(String... names) throws IOException {
        for (String name : names) {
            try (InputStream in = Objects.requireNonNull(
                    PooledRefitsIT.class.getResourceAsStream("/io/plumbline/fixtures/" + name), name)) {
                Files.copy(in, folder.resolve(name));
            }
        }
    }

    private List<Matrix> passages(String name) throws IOException {
        List<Matrix> passages = new ArrayList<>();
        try (ActivationFile dump = ActivationFile.open(folder.resolve(name))) {
            for (int request = 0; request < dump.requests(); request++) {
                Matrix rows = dump.request(request).activations();
                for (int from = 0; from + PASSAGE <= rows.rows(); from += PASSAGE) {
                    passages.add(passage(rows, from));
                }
            }
        }
        return passages;
    }

    private static Matrix passage(Matrix rows, int from) {
        Matrix passage = Matrix.zeros(PASSAGE, rows.columns());
        for (int i = 0; i < PASSAGE; i++) {
            for (int j = 0; j < rows.columns(); j++) {
                passage.set(i, j, rows.get(from + i, j));
            }
        }
        return passage;
    }

    /**
     * Returns a configuration whose gate asks a first decoder for more than a second one gives, and lets it cost
     * English more than usual: it is fitted to 480 rows, since two kinds are kept for judging. One candidate a refit:
     * the search among several has its own tests, and takes most of a minute each time.
     */
    private MonitorConfig config(EmbeddedBroker broker) {
        return MonitorConfig.parse("""
                application_id: pooled
                kafka: {bootstrap.servers: "%s", commit.interval.ms: "500"}
                window: {size: 10s, advance: 10s, grace: 0s, idle_close: off, minimum_rows: 256}
                sample: {rows: 2048}
                state: {store: memory, directory: state}
                http: {port: 0}
                sites:
                  %s:
                    explainer: .
                    baseline: baseline.safetensors
                    rank: 32
                    trigger: reconstruction_fvu_trained
                    threshold: 0.3
                    debounce: 1 of 1
                    cooldown: 20s
                    adaptation: {mode: auto, minimum_improvement: 0.15, max_id_cost: 0.12, profile: paper, rank: 384,
                                 lambda_preservation: 1.0, lambda_geometric: 0.0, relative_lambdas: true, alpha: 0.0}
                """.formatted(broker.bootstrapServers(), SITE), "pooled.yaml", folder);
    }

    private void send(List<Matrix> passages, int part) throws Exception {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < PASSAGES; i++) {
            long time = T0 + windows * WINDOW_MS + i * WINDOW_MS / PASSAGES;
            records.add(new ProducerRecord<>(
                    "activations",
                    0,
                    time,
                    SITE.getBytes(StandardCharsets.UTF_8),
                    ActivationRecords.blob(passages.get(part * PASSAGES + i))));
        }
        client.sendAll(records);
        windows++;
    }

    /** Returns how many of so many windows were over the threshold. */
    private int asked(int reports) {
        return (int) client.await("window-reports", found -> found.size() >= reports).stream()
                .filter(record ->
                        new String(record.value(), StandardCharsets.UTF_8).contains("\"adaptation_requested\":true"))
                .count();
    }

    private List<AdaptationReport> answers(int count) {
        return client.await("adaptation-reports", found -> found.size() >= count).stream()
                .map(PooledRefitsIT::report)
                .toList();
    }

    private AdaptationReport awaitAnswer(Predicate<AdaptationReport> wanted) {
        return client
                .await(
                        "adaptation-reports",
                        found -> found.stream().map(PooledRefitsIT::report).anyMatch(wanted))
                .stream()
                .map(PooledRefitsIT::report)
                .filter(wanted)
                .findFirst()
                .orElseThrow();
    }

    private static AdaptationReport report(ConsumerRecord<byte[], byte[]> record) {
        return Json.read(record.value(), AdaptationReport.class);
    }

    private static List<AdaptationReport> published(List<AdaptationReport> answers) {
        return answers.stream()
                .filter(report -> report.outcome() == Outcome.PUBLISHED)
                .toList();
    }
}
