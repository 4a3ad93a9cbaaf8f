package io.plumbline.topology.emission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.factored.DecoderFactors;
import io.plumbline.factored.MadeUpFactors;
import io.plumbline.factored.MadeUpFactors.Form;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.SynchronousQueue;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Measures how long a decoder of 24,576 x 768 takes from the emitter to the verified decoder of a subscriber, as
 * weights and as factors of 2,048 rows of 32 features each: prints bytes and seconds. Broker, emitter and subscriber
 * share one process.
 */
class FactoredDecodersSoak {

    private static final String TOPIC = "decoders";
    private static final String SITE = "blocks.7";
    private static final int VERSIONS = 5;

    @TempDir
    private Path folder;

    private final SynchronousQueue<PublishedDecoder> served = new SynchronousQueue<>();
    private final EmittedRecords emitter = new EmittedRecords();

    @Test
    @SuppressWarnings("try") // the subscriber is held open, not used
    void factorsTravelInAnEighthOfTheBytesAndBecomeTheSameDecoder() throws Exception {
        Decoder trained = MadeUpFactors.trained(24_576, 768);
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic(TOPIC, 1, Map.of("cleanup.policy", "compact"));
            try (KafkaProducer<byte[], byte[]> producer = client.producer(Map.of("transactional.id", "emitter"));
                    DecoderSubscriber subscriber = DecoderSubscriber.start(
                            client.properties(), TOPIC, DecoderSubscription.of(Map.of(SITE, trained)), this::serve)) {
                producer.initTransactions();
                System.out.println("24576 x 768                    MB    s: least  median  most of " + VERSIONS);
                long weights = time(producer, "weights", trained, null, trained.sha256());
                for (Form form : Form.values()) {
                    DecoderFactors factors = MadeUpFactors.of(form, trained, 32, 2_048, 32);
                    long bytes = time(producer, "factors " + form, factors.of(trained), factors, trained.sha256());
                    assertTrue(8 * bytes < weights, form + ": " + bytes);
                }
            }
        }
    }

    private void serve(PublishedDecoder decoder) {
        try {
            served.put(decoder);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    /** Sends a decoder and returns the bytes of its artefact. */
    private long time(
            KafkaProducer<byte[], byte[]> producer,
            String what,
            Decoder decoder,
            @Nullable DecoderFactors factors,
            String parent)
            throws Exception {
        double[] seconds = new double[VERSIONS];
        long bytes = 0;
        for (int version = 0; version < VERSIONS; version++) {
            long begin = System.nanoTime();
            List<ProducerRecord<byte[], byte[]>> records = emitter.next(TOPIC, SITE, decoder, factors, parent);
            producer.beginTransaction();
            for (ProducerRecord<byte[], byte[]> record : records) {
                var unused = producer.send(record);
            }
            producer.commitTransaction();
            PublishedDecoder arrived = served.poll(120, TimeUnit.SECONDS);
            seconds[version] = (System.nanoTime() - begin) / 1e9;
            assertNotNull(arrived, what);
            assertEquals(decoder, arrived.decoder(), what);
            bytes = arrived.manifest().bytes();
        }
        Arrays.sort(seconds);
        System.out.println(String.format(
                Locale.ROOT,
                "%-24s  %7.1f       %6.2f  %6.2f  %6.2f",
                what,
                bytes / 1e6,
                seconds[0],
                seconds[VERSIONS / 2],
                seconds[VERSIONS - 1]));
        return bytes;
    }
}
