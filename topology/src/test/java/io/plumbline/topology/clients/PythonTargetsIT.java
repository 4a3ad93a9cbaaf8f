package io.plumbline.topology.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.plumbline.explainer.Decoder;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.TargetsFolder;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.assessment.WatchedTargets;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.DecoderRecords;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.TargetsReport;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the Python package at a site with several targets: what it sends, and what it makes of the one decoder. */
class PythonTargetsIT {

    private static final long T0 = 1_700_000_000_000L;

    @TempDir
    private Path folder;

    private Python python;
    private EmbeddedBroker broker;
    private BrokerClient client;
    private MonitorConfig config;

    @BeforeEach
    void start() throws Exception {
        python = Python.ofMachine(folder);
        broker = EmbeddedBroker.start(folder.resolve("broker"));
        client = new BrokerClient(broker.bootstrapServers());
        config = TargetsFolder.create(folder.resolve("site"), broker.bootstrapServers(), "mode: auto");
    }

    @AfterEach
    void stop() {
        if (broker != null) {
            broker.close();
        }
    }

    @Test
    void rowsOfSeveralLayersFromPythonAreAWindowOfEveryTarget() throws Exception {
        client.createTopic(config.topics().activations(), 1, Map.of("retention.ms", "-1"));
        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
            assertFine(python.run("-c", """
                    import sys
                    import numpy as np
                    from plumbline_sae import Producer
                    g = np.random.default_rng(7)
                    scale = np.array([3, 2.5, 2, 1.5, .12, .1, .08, .06])
                    with Producer({"bootstrap.servers": sys.argv[1]}) as producer:
                        for i in range(21):
                            rows = {layer: (g.standard_normal((10, 8)) * scale).astype("float32") for layer in range(3)}
                            if i % 2:
                                special = np.arange(10) == 4
                                for layer in rows:
                                    rows[layer][4] = 1000
                            else:
                                special = None
                            assert producer.send("clt", f"r{i}", rows, targets=rows, special=special,
                                                 timestamp_ms=int(sys.argv[2]) + 500 * i)
                    assert producer.stats.rows == 200, producer.stats
                    """, broker.bootstrapServers(), T0));
            List<ConsumerRecord<byte[], byte[]>> reports = client.await(
                    config.topics().windowReports(), found -> found.stream().anyMatch(PythonTargetsIT::isOfAll));
            TargetsReport report = reports.stream()
                    .filter(PythonTargetsIT::isOfAll)
                    .map(found -> Json.read(found.value(), TargetsReport.class))
                    .findFirst()
                    .orElseThrow();
            assertEquals(T0, report.windowStartMs());
            assertEquals(List.of(), report.driftedBlocks());
            assertEquals(TargetsFolder.LAYERS, report.blocks().size());
            assertEquals(List.of(), client.readAll(config.topics().deadLetters()));
            assertNull(runtime.awaitFailure(0, TimeUnit.SECONDS));
        }
    }

    @Test
    void pythonTakesTheOneDecoderWholeAndGivesEveryBlock() throws Exception {
        client.createTopic(config.topics().decoders(), 1, Map.of());
        WatchedTargets targets = Objects.requireNonNull(
                WatchedTargets.of(WatchedSite.readAll(config.sites().values())).get(TargetsFolder.SITE));
        List<Decoder> adapted = targets.blocks().stream()
                .map(block -> halved(block.explainer().decoder()))
                .toList();
        client.send(DecoderRecords.of(
                config.topics().decoders(),
                TargetsFolder.SITE,
                1,
                targets.trained().sha256(),
                targets.joint().join(adapted)));
        Python.Run read = python.run(
                "-c",
                """
                import pathlib, sys
                from plumbline_sae import DecoderSubscriber, JointDecoder
                from plumbline_sae.tensors import decode
                folder = pathlib.Path(sys.argv[2])
                weights = [decode((folder / f"W_dec_{l}.safetensors").read_bytes())[f"W_dec_{l}"] for l in range(3)]
                biases = [decode((folder / f"W_enc_{l}.safetensors").read_bytes())[f"b_dec_{l}"] for l in range(3)]
                joint = JointDecoder.of_layers(weights, biases)
                kafka = {"bootstrap.servers": sys.argv[1]}
                with DecoderSubscriber(kafka, {"clt": joint.trained}, topic=sys.argv[3]) as decoders:
                    [decoder] = decoders.catch_up()
                for block in joint.split(decoder).values():
                    print(block.target, block.identity)
                """,
                broker.bootstrapServers(),
                folder.resolve("site").resolve("explainer"),
                config.topics().decoders());
        assertFine(read);
        StringBuilder expected = new StringBuilder();
        for (int target = 0; target < TargetsFolder.LAYERS; target++) {
            expected.append(target)
                    .append(' ')
                    .append(adapted.get(target).sha256())
                    .append('\n');
        }
        assertEquals(expected.toString(), read.out());
    }

    private static Decoder halved(Decoder trained) {
        Matrix weights = Matrix.zeros(trained.features(), trained.dimension());
        for (int i = 0; i < trained.features(); i++) {
            for (int j = 0; j < trained.dimension(); j++) {
                weights.set(i, j, trained.weights().get(i, j) / 2);
            }
        }
        return new Decoder(Weights.of(weights), trained.bias());
    }

    private static boolean isOfAll(ConsumerRecord<byte[], byte[]> report) {
        return report.headers().lastHeader(TargetsReport.HEADER) != null;
    }

    private static void assertFine(Python.Run run) {
        assertEquals(0, run.exitCode(), run.err());
    }
}
