package io.plumbline.causal.commands;

import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.baseline.Provenance;
import io.plumbline.causal.heads.LiveModel;
import io.plumbline.causal.heads.LivePart;
import io.plumbline.causal.heads.LiveRecordings;
import io.plumbline.explainer.Explainer;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.records.ActivationFile;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Prints what a head costs while a backlog is read: the time, and for how long no records were taken. */
class BacklogSoak {

    private static final int WINDOWS = 30;
    private static final int REQUESTS = 32;
    private static final LivePart PART = LivePart.autoencoder();

    @TempDir
    private Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"", "share: 0.25", "share: 1"})
    void aBacklogOfThirtyWindowsIsRead(String share) throws Exception {
        Explainer explainer = PART.wholeExplainer();
        Path dump = folder.resolve("spanish.safetensors");
        try (LiveModel model = LivePart.model()) {
            LiveRecordings.write(model.requests("spanish_eval", 0, REQUESTS, explainer), explainer, dump);
        }
        List<byte[]> requests = new ArrayList<>();
        BaselineBuilder builder = BaselineBuilder.of(explainer, List.of(32), List.of());
        try (ActivationFile file = ActivationFile.open(dump)) {
            for (int i = 0; i < file.requests(); i++) {
                requests.add(file.requestAsRecord(i));
                builder.add(file.request(i));
            }
        }
        Path baseline = folder.resolve("baseline.safetensors");
        builder.build().with(Provenance.first(Instant.now(), "Spanish")).write(baseline);
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
            for (int i = 0; i <= WINDOWS * REQUESTS; i++) {
                records.add(new ProducerRecord<>(
                        "activations",
                        0,
                        LiveFolder.T0 + i * LiveFolder.WINDOW_MS / REQUESTS,
                        LiveFolder.SITE.getBytes(StandardCharsets.UTF_8),
                        requests.get(i % REQUESTS)));
            }
            client.sendAll(records);
            MonitorConfig config = config(broker.bootstrapServers(), baseline, share);
            long begin = System.nanoTime();
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                List<ConsumerRecord<byte[], byte[]>> reports =
                        client.await(config.topics().windowReports(), found -> found.size() >= WINDOWS);
                double seconds = (System.nanoTime() - begin) / 1e9;
                int measured = 0;
                for (ConsumerRecord<byte[], byte[]> report : reports) {
                    JsonNode json = new JsonMapper().readTree(report.value());
                    measured += json.path("kl").isNumber() ? 1 : 0;
                }
                String metrics = DownstreamIT.get(runtime, "/metrics");
                System.out.printf(
                        "%-12s %.1f s, %d of %d windows measured, stalls: %s of %s s, longest %s s%n",
                        share.isEmpty() ? "no head" : share,
                        seconds,
                        measured,
                        reports.size(),
                        value(metrics, "plumbline_ingestion_stall_seconds_count"),
                        value(metrics, "plumbline_ingestion_stall_seconds_sum"),
                        value(metrics, "plumbline_ingestion_stall_seconds_max"));
                assertTrue(reports.size() >= WINDOWS);
            }
        }
    }

    private static String value(String metrics, String name) {
        Matcher line =
                Pattern.compile("(?m)^" + name + "(?:\\{[^}]*})? (\\S+)$").matcher(metrics);
        return line.find() ? line.group(1) : "?";
    }

    private MonitorConfig config(String bootstrapServers, Path baseline, String share) {
        String downstream = share.isEmpty() ? "" : ", downstream: {head: '" + LivePart.head() + "', " + share + "}";
        return MonitorConfig.parse(
                """
                application_id: backlog
                kafka: {bootstrap.servers: "%s"}
                window: {size: 10s, advance: 10s, grace: 0s, idle_close: off, minimum_rows: 64}
                sample: {rows: 2048}
                state: {store: memory, directory: %s}
                http: {port: 0, console: false}
                sites:
                  %s: {explainer: '%s', baseline: '%s', rank: 32, threshold: {share: 0.99}, adaptation: {mode: observe}%s}
                """.formatted(
                                bootstrapServers,
                                folder.resolve("state"),
                                LiveFolder.SITE,
                                PART.wholeFolder(),
                                baseline,
                                downstream),
                "backlog.yaml",
                folder);
    }
}
