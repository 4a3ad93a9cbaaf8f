package io.plumbline.topology.emission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.wire.DType;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

class DecoderSubscriberIT {

    private static final String SITE = "layer.2";
    private static final int FEATURES = 8_000;
    private static final Decoder TRAINED = decoder(100);
    private static final String PARENT = TRAINED.sha256();
    private static final Map<String, String> COMPACTED =
            Map.of("cleanup.policy", "compact", "message.timestamp.type", "LogAppendTime");

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

    @Test
    void whoStartsLateFindsTheNewestCompleteVersion() throws Exception {
        String topic = "late";
        client.createTopic(topic, 1, COMPACTED);
        client.send(records(topic, 1));
        client.send(records(topic, 2));
        List<ProducerRecord<byte[], byte[]>> torn = records(topic, 3);
        client.send(torn.subList(1, torn.size()));
        try (Heard heard = follow(topic)) {
            assertTrue(heard.caughtUp.await(30, TimeUnit.SECONDS));
            assertEquals(2, heard.newest().version());
            assertEquals(decoder(2), heard.newest().decoder());
            assertEquals(List.of(3L), heard.refused());
        }
    }

    @Test
    void chunksOfAnAbortedTransactionAreNeverServed() throws Exception {
        client.createTopic("aborted", 1, COMPACTED);
        client.send(records("aborted", 1));
        try (KafkaProducer<byte[], byte[]> producer = client.producer(Map.of("transactional.id", "aborting"));
                Heard heard = follow("aborted")) {
            producer.initTransactions();
            producer.beginTransaction();
            for (ProducerRecord<byte[], byte[]> record : records("aborted", 2)) {
                producer.send(record).get();
            }
            producer.abortTransaction();
            producer.beginTransaction();
            for (ProducerRecord<byte[], byte[]> record : records("aborted", 3)) {
                producer.send(record).get();
            }
            producer.commitTransaction();
            heard.await(3);
            assertEquals(List.of(1L, 3L), heard.versions());
            assertEquals(List.of(), heard.refused());
        }
    }

    @Test
    void aCorruptChunkIsRefusedAndTheLastVersionStays() throws Exception {
        String topic = "corrupt";
        client.createTopic(topic, 1, COMPACTED);
        client.send(records(topic, 1));
        List<ProducerRecord<byte[], byte[]>> bad = new ArrayList<>(records(topic, 2));
        byte[] damaged = bad.get(0).value().clone();
        damaged[damaged.length - 1] ^= 1;
        bad.set(0, new ProducerRecord<>(topic, 0, bad.get(0).key(), damaged));
        client.send(bad);
        try (Heard heard = follow(topic)) {
            assertTrue(heard.caughtUp.await(30, TimeUnit.SECONDS));
            assertEquals(List.of(1L), heard.versions());
            assertEquals(List.of(2L), heard.refused());
            client.send(records(topic, 3));
            heard.await(3);
        }
    }

    @Test
    void aTopicThatIsNotThereYetIsWaitedFor() throws Exception {
        try (Heard heard = follow("later")) {
            assertEquals(1, heard.caughtUp.getCount());
            client.createTopic("later", 1, COMPACTED);
            assertTrue(heard.caughtUp.await(30, TimeUnit.SECONDS));
            client.send(records("later", 1));
            heard.await(1);
        }
    }

    @Test
    void closeReturnsWhileTheTopicIsStillAwaited() {
        follow("never").close();
    }

    @Test
    void aSilentBrokerIsSaidOnceAndReadingGoesOnWhenItComesBack() throws Exception {
        Path own = folder.resolve("restarted");
        EmbeddedBroker first = EmbeddedBroker.start(own);
        BrokerClient there = new BrokerClient(first.bootstrapServers());
        there.createTopic("decoders", 1, COMPACTED);
        there.send(records("decoders", 1));
        try (Heard heard = new Heard(there, "decoders")) {
            heard.await(1);
            first.close();
            BrokerClient.awaitThat(() -> heard.interruptions() > 0, () -> "nothing was said of the broker");
            assertEquals(List.of(1L), heard.versions(), "what was handed out stays");
            try (EmbeddedBroker second = EmbeddedBroker.start(own, first.port(), Map.of())) {
                assertEquals(first.bootstrapServers(), second.bootstrapServers());
                there.send(records("decoders", 2));
                heard.await(2);
                assertEquals(List.of(1L, 2L), heard.versions());
                assertTrue(heard.resumed.await(30, TimeUnit.SECONDS), "and that it is back");
                assertEquals(List.of(), heard.refused());
            }
        }
    }

    @Test
    void whoRestartsInTheMiddleOfAnEmissionFindsItWhole() throws Exception {
        String topic = "middle";
        client.createTopic(topic, 1, COMPACTED);
        client.send(records(topic, 1));
        try (KafkaProducer<byte[], byte[]> producer = client.producer(Map.of("transactional.id", topic))) {
            producer.initTransactions();
            producer.beginTransaction();
            List<ProducerRecord<byte[], byte[]>> second = records(topic, 2);
            producer.send(second.get(0)).get();
            try (Heard heard = follow(topic)) {
                assertTrue(heard.caughtUp.await(30, TimeUnit.SECONDS), "an open transaction holds nobody back");
                assertEquals(List.of(1L), heard.versions());
            }
            try (Heard again = follow(topic)) {
                again.await(1);
                producer.send(second.get(1)).get();
                producer.send(second.get(2)).get();
                assertEquals(List.of(1L), again.versions(), "nothing before the commit");
                producer.commitTransaction();
                again.await(2);
                assertEquals(List.of(), again.refused());
            }
        }
    }

    @Test
    void missingMixedAndForeignChunksAreRefusedWhileTheLastVersionStays() throws Exception {
        client.createTopic("bad", 1, COMPACTED);
        client.send(records("bad", 1));
        try (Heard heard = follow("bad")) {
            heard.await(1);
            List<ProducerRecord<byte[], byte[]>> missing = records("bad", 2);
            client.send(List.of(missing.get(0), missing.get(2)));
            client.send(List.of(
                    records("bad", 3).get(0),
                    records("bad", 4).get(1),
                    records("bad", 4).get(2)));
            client.send(DecoderRecords.of("bad", SITE, 5, "b".repeat(64), decoder(5)));
            BrokerClient.awaitThat(() -> heard.refused().size() == 3, () -> "refused: " + heard.refused());
            assertEquals(List.of(2L, 4L, 5L), heard.refused());
            assertEquals(List.of(1L), heard.versions());
            client.send(records("bad", 6));
            heard.await(6);
        }
    }

    @ParameterizedTest
    @EnumSource(names = {"F64", "BF16", "F16"})
    void everyNumberFormatArrivesAsItWasRounded(DType dtype) throws Exception {
        String topic = "format-" + dtype;
        client.createTopic(topic, 1, COMPACTED);
        Matrix weights = ActivationRecords.integerRows(1, FEATURES, 32);
        for (int i = 0; i < weights.values().length; i++) {
            weights.values()[i] /= 3.0;
        }
        client.send(DecoderRecords.of(topic, SITE, 1, PARENT, new Decoder(weights, new double[32]), dtype));
        try (Heard heard = follow(topic)) {
            heard.await(1);
            assertEquals(dtype, heard.newest().dtype());
            double[] arrived = heard.newest().decoder().weights().toMatrix().values();
            for (int i = 0; i < weights.values().length; i++) {
                assertEquals(dtype.rounded(weights.values()[i]), arrived[i], "weight " + i);
            }
        }
    }

    private static Heard follow(String topic) {
        return new Heard(client, topic);
    }

    /** Returns two chunks and the manifest. */
    private static List<ProducerRecord<byte[], byte[]>> records(String topic, long version) {
        return DecoderRecords.of(topic, SITE, version, PARENT, decoder(version));
    }

    private static Decoder decoder(long seed) {
        return new Decoder(ActivationRecords.integerRows(seed, FEATURES, 32), new double[32]);
    }

    private static final class Heard implements DecoderListener, AutoCloseable {

        private final List<PublishedDecoder> decoders = new ArrayList<>();
        private final List<Long> refused = new ArrayList<>();
        private final CountDownLatch caughtUp = new CountDownLatch(1);
        private final CountDownLatch resumed = new CountDownLatch(1);
        private final DecoderSubscriber subscriber;
        private int interruptions;

        private Heard(BrokerClient client, String topic) {
            subscriber = DecoderSubscriber.start(
                    client.properties(), topic, DecoderSubscription.of(Map.of(SITE, TRAINED)), this);
        }

        @Override
        public synchronized void onDecoder(PublishedDecoder decoder) {
            decoders.add(decoder);
        }

        @Override
        public synchronized void onRefused(String site, long version, String reason) {
            refused.add(version);
        }

        @Override
        public void onCaughtUp() {
            caughtUp.countDown();
        }

        @Override
        public synchronized void onInterrupted(String reason) {
            interruptions++;
        }

        @Override
        public void onResumed() {
            resumed.countDown();
        }

        private synchronized int interruptions() {
            return interruptions;
        }

        private synchronized List<Long> versions() {
            return decoders.stream().map(PublishedDecoder::version).toList();
        }

        private synchronized List<Long> refused() {
            return List.copyOf(refused);
        }

        private synchronized PublishedDecoder newest() {
            return decoders.get(decoders.size() - 1);
        }

        private void await(long version) throws InterruptedException {
            BrokerClient.awaitThat(() -> versions().contains(version), () -> "served: " + versions());
        }

        @Override
        public void close() {
            subscriber.close();
        }
    }
}
