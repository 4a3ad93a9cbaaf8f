package io.plumbline.topology.emission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests a compacted topic whose cleaner really runs: segments of 1 MiB, the least a broker takes, cleaned as soon as
 * anything is dirty. Three sites publish versions of one to four chunks, each a transaction, while one subscriber after
 * the other starts from the beginning of whatever the cleaner has left.
 */
class CompactedDecodersIT {

    private static final String TOPIC = "decoders";
    private static final List<String> SITES = List.of("a", "b", "c");
    private static final int VERSIONS = 16;
    private static final long SEED = 7;
    private static final String PARENT = "a".repeat(64);
    private static final DecoderSubscription SUBSCRIPTION =
            DecoderSubscription.ofParents(Map.of("a", PARENT, "b", PARENT, "c", PARENT));

    @TempDir
    private Path folder;

    private final Map<String, Long> committed = new ConcurrentHashMap<>();
    private final AtomicReference<Throwable> failure = new AtomicReference<>();
    private int sent;

    @Test
    void whoeverStartsWhenFindsWholeVersionsOnlyAndTheNewestInTheEnd() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(
                folder.resolve("broker"), EmbeddedBroker.freePort(), Map.of("log.cleaner.backoff.ms", "50"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic(
                    TOPIC,
                    1,
                    Map.of(
                            "cleanup.policy", "compact",
                            "segment.bytes", "1048576",
                            "min.cleanable.dirty.ratio", "0.001",
                            "delete.retention.ms", "0"));
            Thread writer = new Thread(() -> publish(client), "writer");
            writer.start();
            int late = 0;
            while (writer.isAlive()) {
                startLate(client);
                late++;
            }
            writer.join();
            assertNull(failure.get(), () -> "the writer: " + failure.get());
            assertTrue(late > 1, "subscribers that started while versions were written: " + late);
            List<ConsumerRecord<byte[], byte[]>> left = new ArrayList<>();
            BrokerClient.awaitThat(
                    () -> {
                        left.clear();
                        left.addAll(client.await(TOPIC, CompactedDecodersIT::holdsEveryNewestManifest));
                        return left.size() < sent / 2 && left.get(0).offset() > 0;
                    },
                    120,
                    () -> "the cleaner left %d of %d records, the first at offset %d"
                            .formatted(left.size(), sent, left.get(0).offset()));
            startLate(client);
        }
    }

    @Test
    void surplusChunksOfALargerVersionAreDeletedFromTheTopic() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(
                folder.resolve("broker"), EmbeddedBroker.freePort(), Map.of("log.cleaner.backoff.ms", "50"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic(
                    TOPIC,
                    1,
                    Map.of(
                            "cleanup.policy", "compact",
                            "segment.bytes", "1048576",
                            "segment.ms", "1000",
                            "min.cleanable.dirty.ratio", "0.001",
                            "delete.retention.ms", "0"));
            EmittedRecords emitter = new EmittedRecords();
            Decoder large = new Decoder(ActivationRecords.integerRows(1, 16_000, 32), new double[32]);
            Decoder small = new Decoder(ActivationRecords.integerRows(2, 100, 32), new double[32]);
            client.send(emitter.next(TOPIC, "a", large, PARENT));
            List<ProducerRecord<byte[], byte[]>> shrunk = emitter.next(TOPIC, "a", small, PARENT);
            assertEquals(
                    3, shrunk.stream().filter(record -> record.value() == null).count(), "tombstones");
            client.send(shrunk);
            List<String> left = new ArrayList<>();
            BrokerClient.awaitThat(
                    () -> {
                        // Only what lies before the newest segment is cleaned: other sites push this one out of it.
                        try {
                            client.send(emitter.next(TOPIC, "z", large, PARENT));
                        } catch (Exception e) {
                            throw new IllegalStateException(e);
                        }
                        left.clear();
                        client
                                .await(TOPIC, records -> records.stream().anyMatch(record -> isManifest(record, "z")))
                                .stream()
                                .map(record -> new String(record.key(), StandardCharsets.UTF_8))
                                .filter(key -> key.startsWith("a"))
                                .forEach(left::add);
                        return left.equals(List.of("a#0", "a"));
                    },
                    120,
                    () -> "of site a there are " + left);
        }
    }

    private static boolean holdsEveryNewestManifest(List<ConsumerRecord<byte[], byte[]>> records) {
        Map<String, Long> newest = new HashMap<>();
        for (ConsumerRecord<byte[], byte[]> record : records) {
            if (DecoderKey.parse(record.key()).isManifest()) {
                DecoderManifest manifest = DecoderManifest.decode(record.value());
                newest.put(manifest.site(), manifest.version());
            }
        }
        return SITES.stream().allMatch(site -> newest.getOrDefault(site, 0L) == VERSIONS);
    }

    /**
     * Reads by a subscriber from the beginning; every decoder it is given must be one that was published, bit by bit.
     */
    @SuppressWarnings("try") // the subscriber is held open, not used
    private void startLate(BrokerClient client) throws InterruptedException {
        Map<String, Long> before = new TreeMap<>(committed);
        Map<String, Long> served = new ConcurrentHashMap<>();
        List<String> wrong = new ArrayList<>();
        CountDownLatch caughtUp = new CountDownLatch(1);
        DecoderListener listener = new DecoderListener() {
            @Override
            public void onDecoder(PublishedDecoder published) {
                if (published.version() <= served.getOrDefault(published.site(), 0L)
                        || !published.decoder().equals(decoder(published.site(), published.version()))) {
                    wrong.add(published.site() + " version " + published.version());
                }
                served.put(published.site(), published.version());
            }

            @Override
            public void onCaughtUp() {
                caughtUp.countDown();
            }
        };
        try (DecoderSubscriber subscriber =
                DecoderSubscriber.start(client.properties(), TOPIC, SUBSCRIPTION, listener)) {
            assertTrue(caughtUp.await(120, TimeUnit.SECONDS), "reads to the end; seed " + SEED);
        }
        assertEquals(List.of(), wrong, "torn, mixed or out of order; seed " + SEED);
        before.forEach((site, version) -> assertTrue(
                served.getOrDefault(site, 0L) >= version,
                () -> "site %s: version %d stood there before the start, %s was served; seed %d"
                        .formatted(site, version, served.get(site), SEED)));
    }

    private void publish(BrokerClient client) {
        EmittedRecords emitter = new EmittedRecords();
        try (KafkaProducer<byte[], byte[]> producer = client.producer(Map.of("transactional.id", "writer"))) {
            producer.initTransactions();
            for (long version = 1; version <= VERSIONS; version++) {
                for (String site : SITES) {
                    List<ProducerRecord<byte[], byte[]>> records =
                            emitter.next(TOPIC, site, decoder(site, version), PARENT);
                    producer.beginTransaction();
                    for (ProducerRecord<byte[], byte[]> record : records) {
                        var unused = producer.send(record);
                    }
                    producer.commitTransaction();
                    sent += records.size();
                    committed.put(site, version);
                }
            }
        } catch (RuntimeException e) {
            failure.set(e);
        }
    }

    /**
     * Returns a decoder of one to four chunks, so that versions shrink as often as they grow; the last of every site is
     * the smallest.
     */
    private static Decoder decoder(String site, long version) {
        long seed = SEED * 1_000_000 + site.charAt(0) * 1_000L + version;
        int features = version == VERSIONS ? 100 : 100 + new SplittableRandom(seed).nextInt(16_000);
        return new Decoder(ActivationRecords.integerRows(seed, features, 32), new double[32]);
    }

    private static boolean isManifest(ConsumerRecord<byte[], byte[]> record, String site) {
        return DecoderKey.parse(record.key()).equals(new DecoderKey(site, DecoderKey.MANIFEST));
    }
}
