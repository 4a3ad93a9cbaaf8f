package io.plumbline.topology.scale;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.runtime.CapacityEstimate;
import io.plumbline.topology.runtime.CapacityEstimate.Deployment;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import javax.management.InstanceNotFoundException;
import javax.management.ObjectName;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Runs four minutes of rows in real time: what a site writes to the change-logs and the moments topic, beside the
 * estimate, and that compaction keeps up with it under the settings the topics are made with. Prints the figures of
 * {@code docs/operate/capacity.md}.
 */
class ChangelogSoak {

    private static final int WIDTH = 384;
    private static final int SITES = 10;
    private static final int SAMPLE = 1_024;
    private static final int ROWS = 16;
    private static final int SECONDS = 240;
    private static final long COMMIT_MS = 5_000;

    @TempDir
    private Path folder;

    @Test
    void compactionKeepsUpWithWhatIsWritten() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            RandomSites.writeShape(folder, WIDTH, WIDTH);
            RandomSites.Setting setting = new RandomSites.Setting(
                    broker.bootstrapServers(),
                    "",
                    "size: 60s, advance: 60s, grace: 0s, idle_close: off, minimum_rows: 16",
                    SAMPLE,
                    "memory",
                    "commit.interval.ms: " + COMMIT_MS);
            List<String> names =
                    IntStream.range(0, SITES).mapToObj("site-%d"::formatted).toList();
            MonitorConfig config = setting.of(names, 8, folder);
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            long sent = 0;
            long begin = System.nanoTime();
            long largest = 0;
            try (MonitorInstance monitor = MonitorInstance.start(
                            config, RandomSites.watched(config, WIDTH, WIDTH), folder.resolve("state"));
                    KafkaProducer<byte[], byte[]> producer = client.producer(Map.of())) {
                CountDownLatch never = new CountDownLatch(1);
                for (int tick = 1; tick <= 2 * SECONDS; tick++) {
                    byte[] value = ActivationRecords.blob(ActivationRecords.integerRows(tick, ROWS, WIDTH));
                    for (String name : names) {
                        var unused = producer.send(new ProducerRecord<>(
                                "activations",
                                0,
                                System.currentTimeMillis(),
                                name.getBytes(StandardCharsets.UTF_8),
                                value));
                        sent += ROWS;
                    }
                    largest = Math.max(largest, onDisk("app-monitor-panes-changelog"));
                    if (tick % 60 == 0) {
                        System.out.printf(
                                "scale: after %d s panes changelog %.1f MB written, %.1f on disk; windows %.1f, %.1f; "
                                        + "moments %.1f%n",
                                TimeUnit.NANOSECONDS.toSeconds(System.nanoTime() - begin),
                                written("app-monitor-panes-changelog") / 1e6,
                                onDisk("app-monitor-panes-changelog") / 1e6,
                                written("app-monitor-windows-changelog") / 1e6,
                                onDisk("app-monitor-windows-changelog") / 1e6,
                                written("moments") / 1e6);
                    }
                    long next = begin + tick * 500_000_000L;
                    boolean over = never.await(Math.max(0, next - System.nanoTime()), TimeUnit.NANOSECONDS);
                    assertTrue(!over);
                }
                assertEquals(List.of(), monitor.failures);
            }
            double seconds = (System.nanoTime() - begin) / 1e9;
            CapacityEstimate estimate = CapacityEstimate.of(
                    config, new Deployment(1, 1, false, 0), Runtime.getRuntime().maxMemory());
            double perSite = written("app-monitor-panes-changelog") / seconds / SITES;
            double expected = estimate.written().get(0).bytesPerDay() / 86_400.0 / SITES;
            System.out.printf(
                    "scale: %d sites, d = %d, sample %d, %.0f rows/s: panes changelog %.0f bytes/s a site, "
                            + "estimated %.0f; moments %.0f, estimated %.0f; panes changelog at most %.0f MB on disk%n",
                    SITES,
                    WIDTH,
                    SAMPLE,
                    sent / seconds,
                    perSite,
                    expected,
                    written("moments") / seconds / SITES,
                    estimate.written().get(1).bytesPerDay() / 86_400.0 / SITES,
                    largest / 1e6);
            assertTrue(
                    largest < written("app-monitor-panes-changelog") || largest < 200_000_000,
                    "%d bytes on disk".formatted(largest));
            assertTrue(
                    perSite < 1.25 * expected, "%s bytes a second and site, estimated %s".formatted(perSite, expected));
        }
    }

    /** Bytes a topic got since the broker started. */
    private static long written(String topic) throws Exception {
        try {
            return (Long) ManagementFactory.getPlatformMBeanServer()
                    .getAttribute(
                            new ObjectName("kafka.server:type=BrokerTopicMetrics,name=BytesInPerSec,topic=" + topic),
                            "Count");
        } catch (InstanceNotFoundException notYet) {
            return 0;
        }
    }

    private long onDisk(String topic) throws IOException {
        try (Stream<Path> files = Files.walk(folder.resolve("broker"))) {
            return files.filter(file -> file.toString().endsWith(".log")
                            && file.getParent().getFileName().toString().startsWith(topic))
                    .mapToLong(ChangelogSoak::size)
                    .sum();
        }
    }

    /** Returns the size of a file, which the cleaner may swap while it is looked at. */
    private static long size(Path file) {
        try {
            return Files.size(file);
        } catch (java.nio.file.NoSuchFileException gone) {
            return 0;
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
