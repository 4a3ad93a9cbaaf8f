package io.plumbline.topology.scale;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.io.UncheckedIOException;
import java.io.Writer;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/**
 * Tests wide sites and many sites, in a JVM of their own against a broker with default limits. Prints what it measured;
 * the figures in {@code docs/operate/capacity.md} are these.
 */
class ScaleSoak {

    private static final long T0 = 1_700_000_000_000L;
    private static final long WINDOW_MS = 10_000;
    private static final long PATIENCE_MINUTES = 20;

    @TempDir
    private Path folder;

    private EmbeddedBroker broker;
    private BrokerClient client;

    @BeforeEach
    void start() {
        broker = EmbeddedBroker.start(folder.resolve("broker"));
        client = new BrokerClient(broker.bootstrapServers());
    }

    @AfterEach
    void stop() {
        broker.close();
    }

    /** Tests 67 MB of moment in 129 tiles, from two partitions, with nothing raised above Kafka's defaults. */
    @ParameterizedTest(name = "{0}")
    @CsvSource({"memory, 1400", "rocksdb, 900"})
    void aSiteOfWidth4096IsComposedBitForBit(String store, int heapMegabytes) throws Exception {
        int width = 4_096;
        int rows = 60; // 983,040 bytes of float32: just under the default limit of a record
        int partitions = 2;
        int windows = 2;
        RandomSites.Setting setting = new RandomSites.Setting(
                broker.bootstrapServers(),
                "",
                "size: 10s, advance: 10s, grace: 0s, idle_close: off, minimum_rows: 16",
                64,
                store,
                "commit.interval.ms: 5000");
        createTopics(partitions);
        TreeMap<Long, SecondMomentAccumulator> truth = new TreeMap<>();
        long bytes = 0;
        try (KafkaProducer<byte[], byte[]> producer = client.producer(Map.of())) {
            for (int window = 0; window <= windows; window++) {
                for (int partition = 0; partition < partitions; partition++) {
                    long timestamp = T0 + window * WINDOW_MS + partition;
                    Matrix batch = ActivationRecords.integerRows(window * 10L + partition, rows, width);
                    truth.computeIfAbsent(T0 + window * WINDOW_MS, start -> SecondMomentAccumulator.ofDimension(width))
                            .add(batch);
                    byte[] value = ActivationRecords.blob(batch);
                    bytes += value.length;
                    producer.send(new ProducerRecord<>("activations", partition, timestamp, site("wide"), value))
                            .get();
                }
            }
        }
        truth.remove(T0 + windows * WINDOW_MS); // stays open
        long begin = System.nanoTime();
        try (Child child =
                new Child(heapMegabytes, setting.yaml(List.of("wide"), 8), width, 0, partitions, "windows")) {
            List<ConsumerRecord<byte[], byte[]>> prints = await("reports", truth.size(), child);
            double seconds = (System.nanoTime() - begin) / 1e9;
            for (ConsumerRecord<byte[], byte[]> found : prints) {
                long startMs = ByteBuffer.wrap(found.value()).getLong();
                SecondMomentAccumulator moment = truth.remove(startMs);
                assertEquals(
                        ByteBuffer.wrap(MeasuredMonitor.print(startMs, moment.rows(), moment.state())),
                        ByteBuffer.wrap(found.value()));
            }
            assertTrue(truth.isEmpty(), () -> "missing " + truth.keySet());
            tell(("d = 4096, %s, heap %d MB: %d windows bit for bit in %.0f s from %d bytes of rows; "
                            + "heap in use %.0f MB; log %s")
                    .formatted(store, heapMegabytes, windows, seconds, bytes, child.heap() / 1e6, logSizes()));
        }
    }

    /** Tests reports and metrics of every one of 100 sites, and their memory beside the estimate. */
    @ParameterizedTest(name = "{0}")
    @CsvSource({"memory", "rocksdb"})
    void aHundredSitesInOneInstance(String store) throws Exception {
        manySites(100, 256, 512, store, 4);
    }

    private void manySites(int count, int width, int features, String store, int windows) throws Exception {
        int rows = 32;
        int recordsPerWindow = 8;
        RandomSites.Setting setting = new RandomSites.Setting(
                broker.bootstrapServers(),
                "",
                "size: 10s, advance: 10s, grace: 0s, idle_close: off, minimum_rows: 16",
                256,
                store,
                "commit.interval.ms: 5000");
        createTopics(1);
        List<String> names =
                IntStream.range(0, count).mapToObj("site-%03d"::formatted).toList();
        try (Child child = new Child(2_000, setting.yaml(names, 16), width, features, 1, "reports")) {
            String ready = child.awaitLine("geometry");
            tell(ready);
            long begin = System.nanoTime();
            long sent = 0;
            try (KafkaProducer<byte[], byte[]> producer = client.producer(Map.of())) {
                for (int window = 0; window <= windows; window++) {
                    for (int record = 0; record < recordsPerWindow; record++) {
                        byte[] value = ActivationRecords.blob(
                                ActivationRecords.integerRows(window * 100L + record, rows, width));
                        for (String name : names) {
                            var unused = producer.send(new ProducerRecord<>(
                                    "activations",
                                    0,
                                    T0 + window * WINDOW_MS + record * WINDOW_MS / recordsPerWindow,
                                    site(name),
                                    value));
                            sent += rows;
                        }
                    }
                }
            }
            List<ConsumerRecord<byte[], byte[]>> reports = await("reports", windows * count, child);
            assertEquals(windows * count, reports.size());
            double seconds = (System.nanoTime() - begin) / 1e9;
            long heap = child.heap();
            long held = number(ready, "when measured ");
            int port = (int) number(ready, "port ");
            tell("%d sites, d = %d, %s: %d rows, %d windows in %.0f s; heap in use %.0f MB, estimate %.0f MB; log %s"
                    .formatted(count, width, store, sent, reports.size(), seconds, heap / 1e6, held / 1e6, logSizes()));
            String metrics = HttpClient.newHttpClient()
                    .send(
                            HttpRequest.newBuilder(URI.create("http://127.0.0.1:%d/metrics".formatted(port)))
                                    .build(),
                            HttpResponse.BodyHandlers.ofString())
                    .body();
            for (String name : names) {
                assertTrue(metrics.contains("plumbline_faithfulness_gap{site=\"" + name + "\"}"), name);
                assertTrue(metrics.contains("plumbline_verdict{site=\"" + name + "\""), name);
            }
            assertTrue(Math.abs(heap - held) < 0.25 * held, "held %d, estimated %d".formatted(heap, held));
        }
    }

    /** Tests wider sites, fewer of them. */
    @ParameterizedTest(name = "d = {0}, {1}")
    @CsvSource({"384, memory", "768, memory", "768, rocksdb"})
    void theHeapInUseIsThatOfTheEstimate(int width, String store) throws Exception {
        manySites(8, width, 512, store, 1);
    }

    private static long number(String line, String before) {
        String rest = line.substring(line.indexOf(before) + before.length());
        return Long.parseLong(rest.split("[^0-9]", 2)[0]);
    }

    private static byte[] site(String name) {
        return name.getBytes(StandardCharsets.UTF_8);
    }

    private void createTopics(int partitions) throws Exception {
        client.createTopic("activations", partitions, Map.of("retention.ms", "-1"));
        for (String topic : List.of("moments", "reports", "letters")) {
            client.createTopic(topic, partitions, Map.of());
        }
    }

    private List<ConsumerRecord<byte[], byte[]>> await(String topic, int count, Child child) {
        List<ConsumerRecord<byte[], byte[]>> records = new ArrayList<>();
        var properties = client.properties();
        properties.put("isolation.level", "read_committed");
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> all = consumer.partitionsFor(topic).stream()
                    .map(info -> new TopicPartition(topic, info.partition()))
                    .toList();
            consumer.assign(all);
            consumer.seekToBeginning(all);
            long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(PATIENCE_MINUTES);
            while (records.size() < count && child.process.isAlive() && System.nanoTime() < deadline) {
                consumer.poll(java.time.Duration.ofMillis(200)).forEach(records::add);
            }
        }
        assertTrue(records.size() >= count, () -> "%d of %d; %s".formatted(records.size(), count, child.lines));
        return records;
    }

    /** Bytes on the broker's disk by topic. */
    private Map<String, String> logSizes() throws IOException {
        Map<String, Long> sizes = new TreeMap<>();
        try (Stream<Path> files = Files.walk(folder.resolve("broker"))) {
            files.filter(file -> file.toString().endsWith(".log")).forEach(file -> {
                String topic = file.getParent().getFileName().toString().replaceAll("-[0-9]+$", "");
                try {
                    sizes.merge(topic, Files.size(file), Long::sum);
                } catch (IOException e) {
                    throw new UncheckedIOException(e);
                }
            });
        }
        Map<String, String> shown = new TreeMap<>();
        sizes.forEach((topic, bytes) -> {
            if (!topic.startsWith("__")) {
                shown.put(topic, "%.1f MB".formatted(bytes / 1e6));
            }
        });
        return shown;
    }

    private static void tell(String line) {
        System.out.println("scale: " + line);
    }

    /** Runs {@link MeasuredMonitor} in its own heap. */
    private final class Child implements AutoCloseable {
        private final Process process;
        private final Writer questions;
        private final List<String> lines = java.util.Collections.synchronizedList(new ArrayList<>());
        private final CountDownLatch ended = new CountDownLatch(1);

        private Child(int heapMegabytes, String yaml, int width, int features, int partitions, String mode)
                throws IOException {
            RandomSites.writeShape(folder, width, Math.max(1, features));
            Path config = folder.resolve("plumbline.yaml");
            Files.writeString(config, yaml);
            process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Xmx%dm".formatted(heapMegabytes),
                            "-XX:+ExitOnOutOfMemoryError",
                            "-cp",
                            System.getProperty("java.class.path"),
                            MeasuredMonitor.class.getName(),
                            config.toString(),
                            Integer.toString(width),
                            Integer.toString(features),
                            Integer.toString(partitions),
                            mode)
                    .redirectErrorStream(true)
                    .start();
            questions = process.outputWriter(StandardCharsets.UTF_8);
            Thread reader = new Thread(this::read, "child");
            reader.setDaemon(true);
            reader.start();
        }

        private void read() {
            try (BufferedReader out =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8))) {
                out.lines().forEach(lines::add);
            } catch (IOException | UncheckedIOException e) {
                lines.add("cut off: " + e.getMessage());
            } finally {
                ended.countDown();
            }
        }

        private String awaitLine(String begin) throws InterruptedException {
            long deadline = System.nanoTime() + TimeUnit.MINUTES.toNanos(PATIENCE_MINUTES);
            while (System.nanoTime() < deadline) {
                for (String line : List.copyOf(lines)) {
                    if (line.startsWith(begin)) {
                        return line;
                    }
                }
                assertTrue(!ended.await(100, TimeUnit.MILLISECONDS), () -> "ended: " + lines);
            }
            throw new AssertionError("no \"" + begin + "\" in " + lines);
        }

        private long heap() throws Exception {
            lines.removeIf(line -> line.startsWith("heap "));
            questions.write("heap\n");
            questions.flush();
            return number(awaitLine("heap "), "heap ");
        }

        @Override
        public void close() throws IOException {
            process.destroy();
            questions.close();
        }
    }
}
