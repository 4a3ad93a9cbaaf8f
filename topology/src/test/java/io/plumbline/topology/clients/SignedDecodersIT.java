package io.plumbline.topology.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.ExternalProgram;
import io.plumbline.topology.emission.DecoderListener;
import io.plumbline.topology.emission.DecoderRecords;
import io.plumbline.topology.emission.DecoderSubscriber;
import io.plumbline.topology.emission.DecoderSubscription;
import io.plumbline.topology.emission.PublishedDecoder;
import io.plumbline.topology.emission.SigningKeys;
import io.plumbline.topology.emission.TrustedKeys;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests subscribers with keys, in Java and in Python, against a topic that others write, too. */
class SignedDecodersIT {

    private static final String SITE = "layer.b";
    private static final Decoder TRAINED = decoder(1);

    @TempDir
    private static Path folder;

    private static EmbeddedBroker broker;
    private static BrokerClient client;
    private static SigningKeys before;
    private static SigningKeys own;

    /** Publishes versions of the adapter, of somebody else, and of the adapter with a key that it had before. */
    @BeforeAll
    static void publish() throws Exception {
        broker = EmbeddedBroker.start(folder.resolve("broker"));
        client = new BrokerClient(broker.bootstrapServers());
        client.createTopic("decoders", 1, Map.of());
        before = SigningKeys.create(folder, "before");
        own = SigningKeys.create(folder, "own");
        SigningKeys other = SigningKeys.create(folder, "other");
        List<ProducerRecord<byte[], byte[]>> altered = version(5);
        own.sign(version(4)).get(1).headers().forEach(altered.get(1).headers()::add);
        client.send(before.sign(version(1)));
        client.send(own.sign(version(2)));
        client.send(version(3));
        client.send(other.sign(version(4)));
        client.send(altered);
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    @Test
    void javaHandsOutNothingButWhatAKeySigned() throws Exception {
        assertEquals(new Heard(List.of(2L), List.of(1L, 3L, 4L, 5L)), java(own));
        assertEquals(new Heard(List.of(1L, 2L), List.of(3L, 4L, 5L)), java(before, own));
        assertEquals(new Heard(List.of(1L, 2L, 3L, 4L, 5L), List.of()), java());
    }

    @Test
    void pythonHandsOutNothingButWhatAKeySigned() throws Exception {
        Python python = Python.ofMachine(folder);
        Python.Run imports = python.run("-c", "import cryptography");
        if (imports.exitCode() != 0) {
            throw ExternalProgram.missing("PLUMBLINE_PYTHON has no cryptography: " + imports.err());
        }
        assertEquals("2", python(python, own));
        assertEquals("2", python(python, before, own));
        assertEquals("1", python(python, before));
        assertEquals("5", python(python));
        Python.Run none = follow(python, SigningKeys.create(folder, "unknown"));
        assertEquals(3, none.exitCode(), none.out());
        for (int version = 1; version <= 5; version++) {
            assertTrue(none.err().contains(SITE + " version " + version + " is not served: it is "), none.err());
        }
    }

    /** Returns the version that Python hands out, the newest that it takes. */
    private static String python(Python python, SigningKeys... keys) throws Exception {
        Python.Run run = follow(python, keys);
        assertEquals(0, run.exitCode(), () -> run.out() + run.err());
        return run.out().replaceFirst("^" + SITE + " version (\\d+) [^\n]*\n$", "$1");
    }

    private static Python.Run follow(Python python, SigningKeys... keys) throws Exception {
        List<Object> words = new CopyOnWriteArrayList<>(
                List.of("--once", "--bootstrap-servers", broker.bootstrapServers(), "--site", SITE));
        for (SigningKeys key : keys) {
            words.addAll(List.of("--key", key.publicKey()));
        }
        return python.client("follow", words.toArray());
    }

    private record Heard(List<Long> versions, List<Long> refused) {}

    private static Heard java(SigningKeys... keys) throws InterruptedException {
        Heard heard = new Heard(new CopyOnWriteArrayList<>(), new CopyOnWriteArrayList<>());
        CountDownLatch caughtUp = new CountDownLatch(1);
        DecoderSubscription all = DecoderSubscription.of(Map.of(SITE, TRAINED));
        DecoderSubscription signed = keys.length == 0
                ? all
                : all.signedBy(TrustedKeys.read(
                        List.of(keys).stream().map(SigningKeys::publicKey).toList()));
        DecoderListener listener = new DecoderListener() {
            @Override
            public void onDecoder(PublishedDecoder decoder) {
                heard.versions.add(decoder.version());
            }

            @Override
            public void onRefused(String site, long version, String reason) {
                heard.refused.add(version);
            }

            @Override
            public void onCaughtUp() {
                caughtUp.countDown();
            }
        };
        try (DecoderSubscriber subscriber =
                DecoderSubscriber.start(client.properties(), "decoders", signed, listener)) {
            assertTrue(caughtUp.await(60, TimeUnit.SECONDS), subscriber::toString);
        }
        return heard;
    }

    /** Returns a chunk and a manifest. */
    private static List<ProducerRecord<byte[], byte[]>> version(long version) {
        return DecoderRecords.of("decoders", SITE, version, TRAINED.sha256(), decoder(version + 1));
    }

    private static Decoder decoder(long seed) {
        return new Decoder(ActivationRecords.integerRows(seed, 30, 12), new double[12]);
    }
}
