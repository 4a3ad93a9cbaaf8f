package io.plumbline.topology.emission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests decoders of 75 and 537 MB from the emitter to a subscriber, each a process of its own, through a broker with
 * default limits. The heaps are what bounds them: 4 bytes a weight for the one decoder the emitter holds and for the
 * two of a subscriber (in service and incoming), and a margin that does not grow with the decoder. The subscriber has
 * room for a third, since the collector wants each in one piece and finds none between two that lie unluckily.
 *
 * <p>The file of the subscriber's unfinished version has no name, so that the folder is empty throughout.
 */
class LargeDecodersSoak {

    private static final int MARGIN_MB = 160;

    @TempDir
    private Path folder;

    private final List<Process> children = new ArrayList<>();

    @AfterEach
    void stop() {
        children.forEach(Process::destroyForcibly);
    }

    @Test
    void decodersOf75MegabytesTravelInBoundedMemory() throws Exception {
        travels(24_576, 768);
    }

    @Test
    void decodersOf537MegabytesTravelInBoundedMemory() throws Exception {
        travels(65_536, 2_048);
    }

    @Test
    void aHeapWithoutRoomForTheDecoderIsARefusalAndNotTheEnd() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = prepare(broker);
            start("emit", 144 + MARGIN_MB, broker, folder.resolve("state"), 24_576, 768);
            trigger(client, 1);
            Process small = start("follow", 64, broker, spool(), 24_576, 768, 1);
            assertTrue(small.waitFor(5, TimeUnit.MINUTES));
            String said = Files.readString(log("follow"));
            assertTrue(said.contains("refused: the heap has no room for its weights, [24576, 768] of 4 bytes"), said);
        }
    }

    private void travels(int features, int width) throws Exception {
        int decoderMb = (int) ((4L * features * width) >> 20);
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = prepare(broker);
            start("emit", decoderMb + MARGIN_MB, broker, folder.resolve("state"), features, width);
            Process subscriber = start("follow", 3 * decoderMb + MARGIN_MB, broker, spool(), features, width, 3);
            for (int version = 1; version <= 3; version++) {
                trigger(client, version);
                String line = "verified " + version + " ";
                BrokerClient.awaitThat(
                        () -> said("follow", line) || children.stream().anyMatch(child -> !child.isAlive()),
                        300,
                        () -> text("emit") + text("follow"));
                assertTrue(said("follow", line), text("emit") + text("follow"));
                try (Stream<Path> files = Files.list(folder.resolve("spool"))) {
                    assertEquals(List.of(), files.toList());
                }
            }
            assertTrue(subscriber.waitFor(2, TimeUnit.MINUTES));
            assertEquals(0, subscriber.exitValue(), text("follow"));
            System.out.printf(
                    "%d x %d: what, version, ms since the epoch, MB of heap at most so far%n%s%s",
                    features, width, text("emit"), text("follow"));
        }
    }

    private static BrokerClient prepare(EmbeddedBroker broker) throws Exception {
        BrokerClient client = new BrokerClient(broker.bootstrapServers());
        client.createTopic(LargeDecoders.TRIGGERS, 1, Map.of());
        client.createTopic(LargeDecoders.REPORTS, 1, Map.of());
        client.createTopic(LargeDecoders.DECODERS, 1, Map.of("cleanup.policy", "compact"));
        return client;
    }

    private static void trigger(BrokerClient client, int version) throws Exception {
        byte[] value = Integer.toString(version).getBytes(StandardCharsets.UTF_8);
        client.send(List.of(new ProducerRecord<>(LargeDecoders.TRIGGERS, value)));
    }

    private Path spool() throws IOException {
        return Files.createDirectories(folder.resolve("spool"));
    }

    private Process start(String role, int heapMb, EmbeddedBroker broker, Path own, int... numbers) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx" + heapMb + "m",
                "-cp",
                System.getProperty("java.class.path"),
                LargeDecoders.class.getName(),
                role,
                broker.bootstrapServers(),
                own.toString()));
        for (int number : numbers) {
            command.add(Integer.toString(number));
        }
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(log(role).toFile())
                .start();
        children.add(process);
        return process;
    }

    private Path log(String role) {
        return folder.resolve(role + ".log");
    }

    private boolean said(String role, String words) {
        return text(role).contains(words);
    }

    private String text(String role) {
        try {
            return Files.exists(log(role)) ? Files.readString(log(role)) : "";
        } catch (IOException e) {
            return e.toString();
        }
    }
}
