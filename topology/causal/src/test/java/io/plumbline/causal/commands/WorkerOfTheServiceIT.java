package io.plumbline.causal.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.causal.heads.LivePart;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.cli.Shell;
import io.plumbline.topology.clients.Python;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the service with the rest of a model in a process of its own, which dies and comes back. */
class WorkerOfTheServiceIT {

    private static final LivePart PART = LivePart.autoencoder();

    @TempDir
    private Path folder;

    private BrokerClient client = new BrokerClient("nowhere:1");

    /** Sends the requests of one window, which closes the window before. */
    private void send(int window) throws Exception {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (byte[] request : LiveFolder.records()) {
            records.add(new ProducerRecord<>(
                    "activations",
                    0,
                    LiveFolder.T0 + window * LiveFolder.WINDOW_MS,
                    LiveFolder.SITE.getBytes(StandardCharsets.UTF_8),
                    request));
        }
        client.send(records);
    }

    private JsonNode report(MonitorConfig config, int window) throws Exception {
        return new JsonMapper()
                .readTree(client.await(config.topics().windowReports(), found -> found.size() > window)
                        .get(window)
                        .value());
    }

    private static double klOfTheFile() throws IOException {
        Shell shell = Shell.run(
                "causal",
                "--explainer",
                PART.folder(),
                "--activations",
                PART.requests(),
                "--profile",
                "saelens",
                "--json",
                "--head",
                LivePart.head());
        assertEquals(0, shell.exitCode(), shell.err());
        return new JsonMapper()
                .readTree(shell.out())
                .at("/trained/kl_div_with_sae/value")
                .asDouble();
    }

    @Test
    void windowsAreMeasuredByAWorkerAndReportedWithoutItWhileItIsDead() throws Exception {
        Python python = Python.ofMachine(folder);
        assumeTrue(
                python.run("-c", "import onnxruntime").exitCode() == 0, "needs onnxruntime: pip install onnxruntime");
        double expected = klOfTheFile();
        assertTrue(expected > 0.0);
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"));
                PythonWorker worker = PythonWorker.start(python, folder, "unix:head.sock", "--onnx", LivePart.head())) {
            client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            MonitorConfig config = LiveFolder.create(
                    folder,
                    broker.bootstrapServers(),
                    "worker: '" + worker.address() + "', budget: 1m, timeout: 1m, share: 1");
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                send(0);
                send(1);
                JsonNode measured = report(config, 0);
                assertEquals(expected, measured.path("kl").asDouble(), 1e-5, measured::toString);

                worker.kill();
                send(2);
                JsonNode without = report(config, 1);
                assertTrue(
                        without.path("kl").isMissingNode() || without.path("kl").isNull(), without::toString);
                assertEquals("unreachable", without.at("/downstream/failure").asText(), without::toString);
                assertTrue(
                        without.at("/downstream/reason").asText().contains("worker " + worker.address()),
                        without::toString);
                assertEquals(2, without.path("requests").asInt(), "the window is judged by the rest");
                String counted = "plumbline_downstream_failures_total{site=\"blocks.3\"} 1";
                BrokerClient.awaitThat(
                        () -> DownstreamIT.get(runtime, "/metrics").contains(counted),
                        () -> DownstreamIT.get(runtime, "/metrics"));

                try (PythonWorker again =
                        PythonWorker.start(python, folder, "unix:head.sock", "--onnx", LivePart.head())) {
                    assertEquals(worker.address(), again.address());
                    send(3);
                    JsonNode returned = report(config, 2);
                    assertEquals(expected, returned.path("kl").asDouble(), 1e-5, returned::toString);
                }
            }
        }
    }
}
