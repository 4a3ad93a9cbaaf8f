package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.Repository;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.operate.Plumbline;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
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

/** Tests that an adapter without memory ends, and says so; the monitor, elsewhere, goes on. */
class AdapterOutOfMemoryIT {

    private static final String FLAG = "-XX:+ExitOnOutOfMemoryError";
    private static final long T0 = 1_700_000_000_000L;
    private static final int PART_BYTES = 500_000;
    private static final int PARTS = 400;

    @TempDir
    private Path folder;

    @Test
    void theAdapterEndsWithASentenceAndTheMonitorKeepsClosingWindows() throws Exception {
        assertTrue(
                Files.readString(Repository.path("deploy", "distribution", "java.sh"))
                        .contains(FLAG),
                "the launcher no longer says " + FLAG);
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            MonitorConfig config = WatchedFolder.create(folder.resolve("site"), broker.bootstrapServers());
            try (PlumblineRuntime monitor = PlumblineRuntime.start(config, Role.MONITOR)) {
                client.send(window(0));
                Path log = folder.resolve("adapter.log");
                Process adapter = adapter(log);
                try {
                    client.send(parts(config));
                    assertTrue(adapter.waitFor(180, TimeUnit.SECONDS), () -> "lingers: " + text(log));
                    assertEquals(ExitCodes.FAILURE, adapter.exitValue(), () -> text(log));
                    assertTrue(text(log).contains("Terminating due to java.lang.OutOfMemoryError"), () -> text(log));
                } finally {
                    adapter.destroyForcibly();
                }
                client.send(window(1));
                client.send(window(2));
                client.await(config.topics().windowReports(), reports -> reports.size() >= 2);
                assertNull(monitor.awaitFailure(0, TimeUnit.SECONDS));
            }
        }
    }

    /** Returns parts of a sample whose request never comes: the adapter keeps each of them. */
    private static List<ProducerRecord<byte[], byte[]>> parts(MonitorConfig config) {
        byte[] site = WatchedFolder.SITE.getBytes(StandardCharsets.UTF_8);
        List<ProducerRecord<byte[], byte[]>> parts = new ArrayList<>();
        for (int index = 0; index < PARTS; index++) {
            byte[] part = new AdaptationMessage.SamplePart(T0, index, new byte[PART_BYTES]).encode();
            parts.add(new ProducerRecord<>(config.topics().adaptationRequests(), 0, site, part));
        }
        return parts;
    }

    private Process adapter(Path log) throws IOException {
        return new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx96m",
                        FLAG,
                        "-XX:TieredStopAtLevel=1",
                        "-cp",
                        System.getProperty("java.class.path"),
                        Plumbline.class.getName(),
                        "run",
                        "--config",
                        folder.resolve("site").resolve(WatchedFolder.FILE).toString(),
                        "--role",
                        "adapter")
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
    }

    private static List<ProducerRecord<byte[], byte[]>> window(int number) {
        return WatchedFolder.window(T0 + number * 10_000L, WatchedFolder::quiet);
    }

    private static String text(Path log) {
        try {
            return Files.readString(log);
        } catch (IOException e) {
            return e.toString();
        }
    }
}
