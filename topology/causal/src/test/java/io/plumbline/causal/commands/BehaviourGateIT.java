package io.plumbline.causal.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
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
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Refits of Spanish traffic in the service, judged by what a live model does with them. */
class BehaviourGateIT {

    private static final LivePart PART = LivePart.autoencoder();
    private static final String AUTO = "auto";
    private static final String STEP_1 = "step1";

    @TempDir
    private Path folder;

    private List<byte[]> record(String set, int from, int to) throws Exception {
        Path file = folder.resolve(set + ".safetensors");
        Explainer explainer = PART.wholeExplainer();
        try (LiveModel model = LivePart.model()) {
            LiveRecordings.write(model.requests(set, from, to, explainer), explainer, file);
        }
        List<byte[]> records = new ArrayList<>();
        try (ActivationFile dump = ActivationFile.open(file)) {
            for (int i = 0; i < dump.requests(); i++) {
                records.add(dump.requestAsRecord(i));
            }
        }
        return records;
    }

    private Path baseline() throws Exception {
        List<byte[]> english = record("id_eval", 0, 24);
        BaselineBuilder builder = BaselineBuilder.of(PART.wholeExplainer(), List.of(32), List.of());
        try (ActivationFile file = ActivationFile.open(folder.resolve("id_eval.safetensors"))) {
            for (int i = 0; i < file.requests(); i++) {
                builder.add(file.request(i));
            }
        }
        Path file = folder.resolve("baseline.safetensors");
        builder.build()
                .keepingWhole(english)
                .with(Provenance.first(Instant.parse("2026-11-01T00:00:00Z"), "English"))
                .write(file);
        return file;
    }

    private MonitorConfig config(String bootstrapServers, Path baseline) {
        String site = """
                %s: {explainer: '%s', baseline: '%s', rank: 32, threshold: {share: 0.001}, debounce: 1 of 1,
                    downstream: {head: '%s', requests: 64, budget: 1m, timeout: 1m, share: 1},
                    adaptation: {mode: auto, minimum_improvement: 0, max_id_cost: 10, %s}}
                """;
        String step1 = "profile: paper, rank: 96, lambda_geometric: 0.1, lambda_preservation: 0.2, alpha: 1";
        return MonitorConfig.parse(
                """
                application_id: gate
                kafka: {bootstrap.servers: "%s"}
                window: {size: 10s, advance: 10s, grace: 0s, idle_close: off, minimum_rows: 64}
                sample: {rows: 4096}
                state: {store: memory, directory: %s}
                http: {port: 0, console: false}
                sites:
                  %s  %s
                """.formatted(
                                bootstrapServers,
                                folder.resolve("state"),
                                site.formatted(AUTO, PART.wholeFolder(), baseline, LivePart.head(), "profile: auto"),
                                site.formatted(STEP_1, PART.wholeFolder(), baseline, LivePart.head(), step1)),
                "gate.yaml",
                folder);
    }

    private static List<ProducerRecord<byte[], byte[]>> traffic(List<byte[]> requests) {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i <= requests.size(); i++) {
            // One more, a window later, closes theirs.
            long time = LiveFolder.T0 + (i == requests.size() ? LiveFolder.WINDOW_MS : i * 100L);
            for (String site : List.of(AUTO, STEP_1)) {
                records.add(new ProducerRecord<>(
                        "activations",
                        0,
                        time,
                        site.getBytes(StandardCharsets.UTF_8),
                        requests.get(i % requests.size())));
            }
        }
        return records;
    }

    private static Map<String, JsonNode> bySite(List<ConsumerRecord<byte[], byte[]>> records) throws IOException {
        Map<String, JsonNode> first = new TreeMap<>();
        for (ConsumerRecord<byte[], byte[]> record : records) {
            first.putIfAbsent(
                    new String(record.key(), StandardCharsets.UTF_8), new JsonMapper().readTree(record.value()));
        }
        return first;
    }

    @Test
    void aRefitThatFvuPassesAndTheModelRefusesIsNotPublishedAndOneThatBothPassIs() throws Exception {
        List<byte[]> spanish = record("spanish_eval", 0, 96);
        Path baseline = baseline();
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            MonitorConfig config = config(broker.bootstrapServers(), baseline);
            client.send(traffic(spanish));
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.ALL)) {
                Map<String, JsonNode> answers =
                        bySite(client.await(config.topics().adaptationReports(), found -> found.size() >= 2));
                JsonNode refused = answers.getOrDefault(STEP_1, new JsonMapper().nullNode());
                assertEquals("refused", refused.path("outcome").asText(), refused.toString());
                String reason = refused.path("reason").asText();
                assertTrue(reason.startsWith("held-out KL 0.3"), reason);
                assertFalse(reason.contains("FVU"), reason);
                JsonNode gate = refused.path("gate");
                assertTrue(
                        gate.path("kl_after").asDouble()
                                > gate.path("kl_before").asDouble(),
                        gate.toString());
                assertTrue(gate.path("improvement_lower").asDouble() > 0.0, gate.toString());
                JsonNode published = answers.getOrDefault(AUTO, new JsonMapper().nullNode());
                assertEquals("published", published.path("outcome").asText(), published.toString());
                gate = published.path("gate");
                assertTrue(gate.path("kl_improvement_lower").asDouble() > 0.0, gate.toString());
                assertEquals(0.054, gate.path("kl_in_distribution_trained").asDouble(), 0.02, gate.toString());
                assertTrue(
                        gate.path("kl_in_distribution_after").asDouble()
                                < 2.0 * gate.path("kl_in_distribution_trained").asDouble(),
                        gate.toString());
                assertTrue(gate.path("kl_requests").asInt() >= 8, gate.toString());
                assertTrue(gate.path("kl_requests").asInt() < spanish.size() / 2, gate.toString());
                String metrics = DownstreamIT.get(runtime, "/metrics");
                assertTrue(
                        metrics.contains("plumbline_gate_refusals_total{site=\"step1\",test=\"behaviour\"} 1.0"),
                        metrics);
                assertTrue(
                        metrics.contains("plumbline_gate_refusals_total{site=\"step1\",test=\"improvement\"} 0.0"),
                        metrics);
                assertTrue(metrics.contains("plumbline_decoder_publications_total{site=\"auto\"} 1.0"), metrics);
                assertTrue(metrics.contains("plumbline_decoder_publications_total{site=\"step1\"} 0.0"), metrics);
            }
        }
    }
}
