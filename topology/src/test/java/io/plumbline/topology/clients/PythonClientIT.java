package io.plumbline.topology.clients;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.judgement.Verdict;
import io.plumbline.records.ActivationBatch;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.DecoderRecords;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the Python programs people start from, run as they are against a broker and a monitor. */
class PythonClientIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final int STEP_MS = 500;

    /** The number of requests of a window of ten seconds. */
    private static final int REQUESTS = 20;

    private static final int TOKENS = 10;

    /**
     * Requests of ten tokens each. The first and the last token are special, and so long that a window with them could
     * not be aligned.
     */
    private static final String MAKE_REQUESTS = """
            import numpy as np, sys
            g = np.random.default_rng(7)
            scale = np.array([3, 2.5, 2, 1.5, .12, .1, .08, .06])
            arrays = {}
            for i in range(int(sys.argv[2])):
                rows = g.standard_normal((int(sys.argv[3]), 8)) * scale
                rows[0], rows[-1] = 1000 * np.eye(8)[7], 1000 * np.eye(8)[6]
                special = np.zeros(len(rows), dtype=bool)
                special[[0, -1]] = True
                arrays[f"request-{i}"] = rows.astype(["float16", "float32", "float64"][i % 3])
                arrays[f"request-{i}.special"] = special
            np.savez(sys.argv[1], **arrays)
            """;

    @TempDir
    private static Path folder;

    private static Python python;
    private static EmbeddedBroker broker;
    private static BrokerClient client;

    @BeforeAll
    static void start() throws Exception {
        python = Python.ofMachine(folder);
        broker = EmbeddedBroker.start(folder.resolve("broker"));
        client = new BrokerClient(broker.bootstrapServers());
        // Two tests use it, and a monitor makes it if nobody did.
        client.createTopic("decoders", 1, Map.of());
    }

    @AfterAll
    static void stop() {
        if (broker != null) {
            broker.close();
        }
    }

    @Test
    void whatPythonSendsIsAWindowWithEveryRowThatIsNotSpecial() throws Exception {
        client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
        MonitorConfig config = WatchedFolder.create(folder.resolve("site"), broker.bootstrapServers());
        Path file = folder.resolve("requests.npz");
        // One more than the window takes: it closes it.
        assertFine(python.run("-c", MAKE_REQUESTS, file, REQUESTS + 1, TOKENS));
        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
            Python.Run sent = python.client(
                    "send",
                    "--bootstrap-servers",
                    broker.bootstrapServers(),
                    "--site",
                    WatchedFolder.SITE,
                    "--start-ms",
                    T0,
                    "--step-ms",
                    STEP_MS,
                    file);
            assertFine(sent);
            assertEquals(
                    "21 requests, 168 rows stored, 0 rows not stored",
                    sent.out().strip());
            WindowReport report = client.await(config.topics().windowReports(), reports -> !reports.isEmpty()).stream()
                    .map(record -> Json.read(record.value(), WindowReport.class))
                    .findFirst()
                    .orElseThrow();
            assertEquals(T0, report.header().windowStartMs());
            assertEquals(REQUESTS * (TOKENS - 2), report.geometry().rows());
            assertEquals(Verdict.ALIGNED, report.judged().verdict());
            assertNull(runtime.awaitFailure(0, TimeUnit.SECONDS));
        }
        assertEquals(List.of(), client.readAll(config.topics().deadLetters()));
        ConsumerRecord<byte[], byte[]> third = client.readAll("activations").get(2);
        assertEquals("request-2", text(third.key()));
        assertEquals("request-2", text(third.headers().lastHeader("request").value()));
        assertEquals(T0 + 2 * STEP_MS, third.timestamp());
    }

    @Test
    void tokenIdsTravelWithTheRowsTheyBelongTo() throws Exception {
        client.createTopic("tokens", 1, Map.of());
        assertFine(python.run("-c", """
                import sys
                import numpy as np
                from plumbline_sae import Producer
                rows = np.arange(8, dtype="float32").reshape(2, 4).T  # not contiguous
                producer = Producer({"bootstrap.servers": sys.argv[1]}, "tokens")
                assert producer.send("a", "one", rows, token_ids=[101, 7, 8, 102])
                assert producer.send("a", "two", rows, special=[1, 0, 0, 1], token_ids=[101, 7, 8, 102])
                assert producer.send("a", "none", rows, special=[1, 1, 1, 1])
                assert producer.flush(60) == 0
                assert producer.stats.rows == 6, producer.stats
                """, broker.bootstrapServers()));
        List<ActivationBatch> batches = client.readAll("tokens").stream()
                .sorted(Comparator.comparingLong(ConsumerRecord::offset))
                .map(record -> ActivationBatch.parse(record.value()))
                .toList();
        assertEquals(2, batches.size(), "a request of special tokens only is not sent");
        assertArrayEquals(new long[] {101, 7, 8, 102}, batches.get(0).tokenIds());
        assertArrayEquals(new long[] {7, 8}, batches.get(1).tokenIds());
        assertArrayEquals(
                new double[] {1, 5, 2, 6}, batches.get(1).activations().values());
    }

    @Test
    void longRequestsAreSplitBfloat16IsKeptAndWhatWasDroppedTravels() throws Exception {
        client.createTopic("parts", 1, Map.of());
        assertFine(python.run("-c", """
                import sys
                import numpy as np
                from plumbline_sae import Producer
                from plumbline_sae.tensors import Tensor
                patterns = np.array([[0x3F80, 0x4000], [0xC040, 0x3F00], [0x7F7F, 0x0001]], dtype="uint16")
                with Producer({"bootstrap.servers": sys.argv[1]}, "parts", max_buffered_bytes=9_000,
                              max_record_bytes=4_096 + 8, headers={"engine": "test"}) as producer:
                    assert not producer.send("a", "too-long", np.zeros((1, 3_000), dtype="float32"))
                    assert not producer.send("a", "flat", np.zeros(8, dtype="float32"))
                    assert producer.send("a", "one", Tensor("BF16", patterns), timestamp_ms=17)
                stats = producer.stats
                assert (stats.delivered, stats.rows, stats.dropped_rows, stats.refused) == (2, 3, 1, 1), stats
                """, broker.bootstrapServers()));
        List<ConsumerRecord<byte[], byte[]>> records = client.readAll("parts").stream()
                .sorted(Comparator.comparingLong(ConsumerRecord::offset))
                .toList();
        assertEquals(2, records.size(), "two rows, then one");
        List<ActivationBatch> batches = records.stream()
                .map(record -> ActivationBatch.parse(record.value()))
                .toList();
        assertArrayEquals(
                new double[] {1, 2, -3, 0.5}, batches.get(0).activations().values());
        assertArrayEquals(
                new double[] {0x1.fep127, 0x1p-133},
                batches.get(1).activations().values());
        for (ConsumerRecord<byte[], byte[]> record : records) {
            assertEquals("one", text(record.headers().lastHeader("request").value()));
            assertEquals("test", text(record.headers().lastHeader("engine").value()));
            assertEquals(17, record.timestamp());
        }
        assertEquals("1", text(records.get(0).headers().lastHeader("dropped").value()));
        assertNull(records.get(1).headers().lastHeader("dropped"));
    }

    @Test
    void aRecordThatIsNotStoredIsNamedAndEndsInFailure() throws Exception {
        client.createTopic("small", 1, Map.of("max.message.bytes", "200"));
        Path file = folder.resolve("one.npz");
        assertFine(python.run("-c", MAKE_REQUESTS, file, 1, TOKENS));
        Python.Run sent = python.client(
                "send", "--bootstrap-servers", broker.bootstrapServers(), "--site", "a", "--topic", "small", file);
        assertEquals(3, sent.exitCode(), sent.err());
        assertTrue(sent.err().startsWith("not stored on small: "), sent.err());
    }

    @Test
    void theNewestWholeDecoderOfTheOwnParentIsRead() throws Exception {
        Decoder trained = decoder(1);
        Path weights = written(trained, "trained");
        List<ProducerRecord<byte[], byte[]>> torn = versionOf(trained, 3, 4);
        torn.get(1).value()[100] ^= 1;
        try (Producer<byte[], byte[]> producer = client.producer(Map.of("transactional.id", "emitter"))) {
            producer.initTransactions();
            commit(producer, versionOf(trained, 1, 2), true);
            commit(producer, versionOf(trained, 2, 3), true);
            commit(producer, torn, true);
            commit(producer, versionOf(trained, 4, 5), false);
            commit(producer, DecoderRecords.of("decoders", "layer.b", 5, "0".repeat(64), decoder(6)), true);
        }
        Python.Run read = read("--parent", weights);
        assertFine(read);
        List<ProducerRecord<byte[], byte[]>> second = versionOf(trained, 2, 3);
        String sha256 = Json.read(second.get(second.size() - 1).value(), Map.class)
                .get("sha256")
                .toString();
        assertEquals(
                "layer.b version 2 (adapted): 300 features x 512, float32, sha256 " + sha256,
                read.out().strip());
        assertTrue(read().out().startsWith("layer.b version 5 "), "without a parent the manifest's word is taken");
        Python.Run none = read("--parent", written(decoder(9), "other"));
        assertEquals(3, none.exitCode(), none.out());
    }

    @Test
    void aSubscriberGoesOnVerifiesAndTakesUpWhereItStopped() throws Exception {
        client.createTopic("followed", 3, Map.of());
        assertFine(python.run("-c", """
                import hashlib, json, struct, sys
                import numpy as np
                from confluent_kafka import Producer
                from plumbline_sae import DecoderSubscriber, Trained
                from plumbline_sae.tensors import encode, tensor_of
                producer, kafka = Producer({"bootstrap.servers": sys.argv[1]}), {"bootstrap.servers": sys.argv[1]}
                weights, bias = np.ones((4, 2), dtype="float32"), np.zeros(2, dtype="float32")
                trained = Trained.of({"W_dec": weights, "b_dec": bias})
                def publish(version, damaged=False):
                    blob = encode({"W_dec": tensor_of(version * weights), "b_dec": tensor_of(bias)}, {"window": "w"})
                    manifest = {"schema": 1, "version": version, "kind": "adapted", "parent_sha256": trained.identity,
                                "chunks": 1, "bytes": len(blob), "sha256": hashlib.sha256(blob).hexdigest()}
                    sent = blob[:-1] + b"\\1" if damaged else blob
                    producer.produce("followed", key="a#0", value=struct.pack(">bqi", 1, version, 0) + sent, partition=2)
                    producer.produce("followed", key="a", value=json.dumps(manifest), partition=2)
                    assert producer.flush(60) == 0
                refused = []
                def following(after=0):
                    return DecoderSubscriber(kafka, {"a": trained, "b": trained}, topic="followed",
                                             after_version={"a": after}, on_refused=lambda *what: refused.append(what))
                publish(1)
                publish(2)
                with following() as decoders:
                    decoder = decoders.poll(60)
                    assert (decoder.site, decoder.version, decoder.kind) == ("a", 2, "adapted"), decoder
                    assert decoder.lineage == {"window": "w"} and (decoder.W_dec == 2).all(), decoder
                    assert decoders.caught_up and decoders.poll(0.2) is None
                    publish(3, damaged=True)
                    publish(4)
                    assert decoders.poll(60).version == 4
                    assert refused == [("a", 3, "is not served: its bytes are not those of its manifest")], refused
                with following(after=4) as decoders:
                    assert decoders.catch_up() == []
                    publish(5)
                    assert next(iter(decoders)).version == 5
                """, broker.bootstrapServers()));
    }

    /** A producer that writes what it likes: right bytes of wrong tensors, and records that are nothing at all. */
    private static final String ROGUE = """
            import hashlib, json, struct, sys
            import numpy as np
            from confluent_kafka import Producer
            from safetensors.numpy import save
            producer, topic, parent = Producer({"bootstrap.servers": sys.argv[1]}), sys.argv[2], sys.argv[3]
            def manifest_of(version, blob):
                return {"schema": 1, "version": version, "kind": "adapted", "parent_sha256": parent, "chunks": 1,
                        "bytes": len(blob), "sha256": hashlib.sha256(blob).hexdigest()}
            def chunk(version, blob, key="layer.b#0"):
                producer.produce(topic, key=key, value=struct.pack(">bqi", 1, version, 0) + blob)
            def manifest(value, key="layer.b"):
                producer.produce(topic, key=key, value=value)
            weights, bias = np.ones((300, 512), dtype="float32"), np.zeros(512, dtype="float32")
            nan, infinite = weights.copy(), bias.copy()
            nan[7, 3], infinite[5] = np.nan, np.inf
            wrong = [
                {"W_dec": nan, "b_dec": bias}, {"W_dec": weights, "b_dec": infinite},
                {"W_dec": weights[:200], "b_dec": bias}, {"W_dec": weights.T.copy(), "b_dec": bias},
                {"W_dec": weights.astype("int32"), "b_dec": bias}, {"W_dec": weights}, {"b_dec": bias},
                {"W_dec": weights, "b_dec": np.zeros(300, dtype="float32")}, {"W_dec": weights[0], "b_dec": bias},
            ]
            for version, tensors in enumerate(wrong, start=10):
                blob = save(tensors)
                chunk(version, blob)
                manifest(json.dumps(manifest_of(version, blob)))
            chunk(100, b"no safetensors")
            manifest(json.dumps(manifest_of(100, b"no safetensors")))
            whole = manifest_of(200, b"x")
            for value in [b"", b"{", b"[]", b"null", b"7", b"\\xff\\xfe", b"[" * 100_000, b'{"a":' * 100_000, b"{}",
                          *(json.dumps({k: v for k, v in whole.items() if k != gone}) for gone in whole),
                          *(json.dumps(whole | {"chunks": n}) for n in (0, -1, 1.5, "1", True, None, 1_000_000_000)),
                          *(json.dumps(whole | {"version": n}) for n in (21.5, "3", -1, 10**400)),
                          json.dumps(whole | {"sha256": 5}), json.dumps(whole | {"bytes": 10**30})]:
                chunk(200, b"x")
                manifest(value)
            for key in (None, b"", b"#", b"layer.b#", b"layer.b#-1", b"layer.b#99999999999999999999", b"\\xff"):
                producer.produce(topic, key=key, value=b"short")
                producer.produce(topic, key=key, value=None)
            assert producer.flush(60) == 0
            """;

    @Test
    void whatIsNoDecoderIsPassedOverAndTheReaderGoesOn() throws Exception {
        client.createTopic("rogue", 1, Map.of());
        Decoder trained = decoder(1);
        client.send(DecoderRecords.of("rogue", "layer.b", 2, trained.sha256(), decoder(3)));
        assertFine(python.run("-c", ROGUE, broker.bootstrapServers(), "rogue", trained.sha256()));
        Python.Run read = read("--topic", "rogue", "--parent", written(trained, "trained-rogue"));
        assertFine(read);
        assertTrue(read.out().startsWith("layer.b version 2 (adapted): 300 features x 512, float32"), read.out());
        for (int version = 10; version <= 18; version++) {
            assertTrue(read.err().contains("layer.b version " + version + " is not served: "), read.err());
        }
        assertTrue(read.err().contains("W_dec holds a value that is not finite"), read.err());
        assertTrue(read.err().contains("W_dec is [512, 300], the trained decoder's [300, 512]"), read.err());
        assertTrue(read.err().contains("b_dec is missing"), read.err());
    }

    private static Path written(Decoder decoder, String name) throws IOException {
        Path file = folder.resolve(name + ".safetensors");
        SafetensorsWriter.create()
                .add("W_dec", DType.F32, decoder.weights())
                .addVector("b_dec", DType.F32, decoder.bias())
                .writeTo(file);
        return file;
    }

    private static Python.Run read(Object... options) throws Exception {
        List<Object> words = new ArrayList<>(
                List.of("--once", "--bootstrap-servers", broker.bootstrapServers(), "--site", "layer.b"));
        words.addAll(List.of(options));
        return python.client("follow", words.toArray());
    }

    /** Returns two chunks and a manifest. */
    private static List<ProducerRecord<byte[], byte[]>> versionOf(Decoder trained, long version, long seed) {
        return DecoderRecords.of("decoders", "layer.b", version, trained.sha256(), decoder(seed));
    }

    private static void commit(
            Producer<byte[], byte[]> producer, List<ProducerRecord<byte[], byte[]>> records, boolean commits) {
        producer.beginTransaction();
        for (ProducerRecord<byte[], byte[]> record : records) {
            Future<RecordMetadata> unused = producer.send(record);
        }
        producer.flush();
        if (commits) {
            producer.commitTransaction();
        } else {
            producer.abortTransaction();
        }
    }

    private static Decoder decoder(long seed) {
        return new Decoder(ActivationRecords.integerRows(seed, 300, 512), new double[512]);
    }

    private static String text(byte[] bytes) {
        return new String(bytes, StandardCharsets.UTF_8);
    }

    private static void assertFine(Python.Run run) {
        assertEquals(0, run.exitCode(), () -> run.out() + run.err());
    }
}
