package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.demo.EmbeddedBroker;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.SplittableRandom;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.streams.KafkaStreams;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * The key of a record need not be its site: the same integer rows over any number of partitions are the same windows, bit
 * for bit. With random keys partitions get unequal shares and are read at unequal speed; a window that did not wait for
 * the slowest would miss rows.
 */
class SpreadSiteIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final int WINDOWS = 8;
    private static final int RECORDS_PER_WINDOW = 48;
    private static final int ROWS = 3;

    @TempDir
    private static Path folder;

    private static EmbeddedBroker broker;
    private static BrokerClient client;

    @BeforeAll
    static void start() {
        broker = EmbeddedBroker.start(folder.resolve("broker"));
        client = new BrokerClient(broker.bootstrapServers());
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    @ParameterizedTest(name = "{0} partitions")
    @ValueSource(ints = {1, 2, 4})
    void anyPartitioningGivesTheSameWindows(int partitions) throws Exception {
        String prefix = "spread-" + partitions + "-";
        client.createTopic(prefix + CrashableWindows.ACTIVATIONS, partitions, Map.of("retention.ms", "-1"));
        client.createTopic(prefix + CrashableWindows.MOMENTS, partitions, Map.of());
        client.createTopic(prefix + CrashableWindows.DEAD_LETTERS, 1, Map.of());
        client.createTopic(prefix + CrashableWindows.HASHES, 1, Map.of());
        TreeMap<String, SecondMomentAccumulator> truth = new TreeMap<>();
        client.send(records(prefix + CrashableWindows.ACTIVATIONS, truth));

        Properties properties = CrashableWindows.properties(
                prefix + "windows",
                broker.bootstrapServers(),
                folder.resolve("state").toString(),
                "2",
                "classic");
        try (KafkaStreams streams =
                new KafkaStreams(CrashableWindows.topology(StoreKind.MEMORY, partitions, prefix), properties)) {
            streams.start();
            List<ConsumerRecord<byte[], byte[]>> hashes =
                    client.await(prefix + CrashableWindows.HASHES, found -> found.size() >= truth.size());
            TreeMap<String, ByteBuffer> found = new TreeMap<>();
            for (ConsumerRecord<byte[], byte[]> hash : hashes) {
                ByteBuffer print = ByteBuffer.wrap(hash.value());
                found.put(new String(hash.key(), StandardCharsets.UTF_8) + "@" + print.getLong(0), print);
            }
            TreeMap<String, ByteBuffer> expected = new TreeMap<>();
            truth.forEach((window, moment) -> expected.put(
                    window,
                    ByteBuffer.wrap(CrashableWindows.fingerprint(
                            Long.parseLong(window.substring(window.indexOf('@') + 1)),
                            moment.rows(),
                            moment.snapshot().state()))));
            assertEquals(expected, found);
            assertEquals(truth.size(), hashes.size(), "each window once");
        }
    }

    /** The same rows whatever the partitions; the last window is closed by the idle timeout. */
    private static List<ProducerRecord<byte[], byte[]>> records(
            String topic, Map<String, SecondMomentAccumulator> truth) {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        SplittableRandom keys = new SplittableRandom(4);
        long windowMs = CrashableWindows.WINDOW.toMillis();
        for (int i = 0; i < WINDOWS * RECORDS_PER_WINDOW; i++) {
            String site = CrashableWindows.site(i % CrashableWindows.SITES);
            long timestamp = T0 + i * windowMs / RECORDS_PER_WINDOW;
            Matrix rows = ActivationRecords.integerRows(i, ROWS, CrashableWindows.WIDTH);
            truth.computeIfAbsent(
                            site + "@" + timestamp / windowMs * windowMs,
                            window -> SecondMomentAccumulator.ofDimension(CrashableWindows.WIDTH))
                    .add(rows);
            byte[] key = ByteBuffer.allocate(8).putLong(keys.nextLong()).array();
            ProducerRecord<byte[], byte[]> record =
                    new ProducerRecord<>(topic, null, timestamp, key, ActivationRecords.blob(rows));
            record.headers().add("site", site.getBytes(StandardCharsets.UTF_8));
            records.add(record);
        }
        return records;
    }
}
