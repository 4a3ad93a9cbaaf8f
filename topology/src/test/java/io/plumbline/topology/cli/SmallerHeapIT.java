package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.MomentTile;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.operate.Plumbline;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a start in a heap that is too small for the panes that a larger one let wait. */
class SmallerHeapIT {

    private static final int WIDTH = 640;
    private static final int FEATURES = 4;

    /** The number of panes that wait for the second partition, of 1.6 MB each. */
    private static final int PANES = 110;

    private static final long T0 = 1_700_000_040_000L;
    private static final long PANE_MS = 60_000;
    private static final String SITE = "layer.a";

    @TempDir
    private Path folder;

    @Test
    void theSentenceNamesTheHeapToGive() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 2, Map.of("retention.ms", "-1"));
            Path config = write(broker.bootstrapServers());
            client.send(records());
            Path log = folder.resolve("large.log");
            Process large = monitor(config, "-Xmx768m", log);
            try {
                long stored = (long) PANES * MomentTile.tilesOf(WIDTH);
                BrokerClient.awaitThat(
                        () -> !large.isAlive()
                                // Asked for before it is there, the topic would be made with one partition.
                                || (text(log).contains("watching")
                                        && client.endOffsets("small-monitor-windows-changelog") > stored),
                        90,
                        () -> "the panes do not wait: " + text(log));
            } finally {
                large.destroy();
                assertTrue(large.waitFor(60, TimeUnit.SECONDS), () -> text(log));
            }
            Path refused = folder.resolve("small.log");
            Process small = monitor(config, "-Xmx128m", refused);
            try {
                assertTrue(small.waitFor(120, TimeUnit.SECONDS), () -> "lingers: " + text(refused));
                String said = text(refused);
                assertEquals(ExitCodes.FAILURE, small.exitValue(), said);
                assertTrue(said.contains("and Java may use 128 MiB; give it more: PLUMBLINE_JAVA_OPTS=-Xmx"), said);
                assertFalse(said.contains("OutOfMemoryError"), said);
            } finally {
                small.destroyForcibly();
            }
        }
    }

    /** Returns records of one site in two partitions: the second says nothing after the first pane. */
    private static List<ProducerRecord<byte[], byte[]>> records() {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        records.add(record(1, T0));
        for (int pane = 0; pane <= PANES + 1; pane++) {
            records.add(record(0, T0 + pane * PANE_MS));
        }
        return records;
    }

    private static ProducerRecord<byte[], byte[]> record(int partition, long timeMs) {
        byte[] rows = ActivationRecords.blob(ActivationRecords.integerRows(timeMs, 4, WIDTH));
        return new ProducerRecord<>("activations", partition, timeMs, SITE.getBytes(StandardCharsets.UTF_8), rows);
    }

    private Path write(String bootstrapServers) throws IOException {
        Matrix encoder = Matrix.zeros(WIDTH, FEATURES);
        Matrix decoder = Matrix.zeros(FEATURES, WIDTH);
        for (int feature = 0; feature < FEATURES; feature++) {
            encoder.set(feature, feature, 1.0);
            decoder.set(feature, feature, 1.0);
        }
        Path explainer = Files.createDirectories(folder.resolve("explainer"));
        SafetensorsWriter.create()
                .add("W_enc", DType.F32, encoder)
                .addVector("b_enc", DType.F32, new double[FEATURES])
                .add("W_dec", DType.F32, decoder)
                .addVector("b_dec", DType.F32, new double[WIDTH])
                .writeTo(explainer.resolve("sae_weights.safetensors"));
        Files.writeString(explainer.resolve("cfg.json"), """
                {"architecture": "standard", "d_in": %d, "d_sae": %d, "apply_b_dec_to_input": false,
                 "normalize_activations": "none"}
                """.formatted(WIDTH, FEATURES));
        BaselineBuilder baseline = BaselineBuilder.of(Formats.read(explainer), List.of(2), List.of());
        baseline.add(new ActivationBatch(ActivationRecords.integerRows(1, 2 * WIDTH, WIDTH), null, null));
        baseline.build().write(folder.resolve("baseline.safetensors"));
        return Files.writeString(folder.resolve("small.yaml"), """
                application_id: small
                kafka: {bootstrap.servers: "%s", monitor.num.stream.threads: 1, monitor.commit.interval.ms: 1000}
                window: {size: 60s, advance: 60s, grace: 0s, idle_close: off, max_hold: off, minimum_rows: 2}
                sample: {rows: 8}
                state: {directory: state, waiting_panes: 200}
                http: {port: 0}
                sites:
                  %s: {explainer: explainer, baseline: baseline.safetensors, rank: 2, threshold: {share: 0.9}, adaptation: {mode: observe}}
                """.formatted(bootstrapServers, SITE));
    }

    private static Process monitor(Path config, String heap, Path log) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        heap,
                        "-XX:+ExitOnOutOfMemoryError",
                        "-XX:G1HeapRegionSize=8m",
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Plumbline.class.getName(),
                        "run",
                        "--config",
                        config.toString(),
                        "--role",
                        "monitor")
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
    }

    private static String text(Path log) {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
