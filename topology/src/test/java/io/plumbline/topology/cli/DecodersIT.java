package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.emission.DecoderRecords;
import io.plumbline.topology.emission.SigningKeys;
import io.plumbline.topology.operate.Brokers;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class DecodersIT {

    @TempDir
    private static Path folder;

    private static EmbeddedBroker broker;
    private static Path directory;
    private static Explainer trained;

    @BeforeAll
    static void publishTwoVersionsAndAStranger() throws Exception {
        broker = EmbeddedBroker.start(folder.resolve("broker"));
        directory = Files.createDirectories(folder.resolve("sae"));
        SafetensorsWriter.create()
                .add("W_enc", DType.F32, ActivationRecords.integerRows(1, 4, 6))
                .addVector("b_enc", DType.F32, new double[6])
                .add("W_dec", DType.F32, ActivationRecords.integerRows(2, 6, 4))
                .addVector("b_dec", DType.F32, new double[4])
                .writeTo(directory.resolve("sae_weights.safetensors"));
        Files.writeString(
                directory.resolve("cfg.json"),
                "{\"architecture\": \"standard\", \"d_in\": 4, \"d_sae\": 6, \"apply_b_dec_to_input\": false,"
                        + " \"normalize_activations\": \"none\"}");
        trained = Formats.read(directory);
        Map<String, String> cluster = Map.of("bootstrap.servers", broker.bootstrapServers());
        Brokers.createTopic(cluster, "decoders", 1);
        try (Producer<byte[], byte[]> producer =
                new KafkaProducer<>(Map.copyOf(cluster), new ByteArraySerializer(), new ByteArraySerializer())) {
            String parent = trained.decoder().sha256();
            publish(producer, "layer.2", 1, parent, decoder(3), DType.F32);
            publish(producer, "layer.2", 2, parent, decoder(4), DType.F64);
            publish(producer, "layer.4", 1, parent, decoder(6), DType.F16);
            publish(producer, "layer.3", 7, "0".repeat(64), decoder(5), DType.F32);
            producer.flush();
        }
    }

    @AfterAll
    static void stop() {
        broker.close();
    }

    @Test
    void listShowsTheNewestVersionOfEverySite() {
        Shell shell = Shell.run("decoders", "list", "--bootstrap-servers", broker.bootstrapServers());
        assertEquals(0, shell.exitCode(), shell.err());
        assertTrue(shell.out().matches("(?s).*layer\\.2 +2 .*layer\\.3 +7 .*"), shell.out());
    }

    @Test
    void anEmptyTopicIsSaidToBeEmpty() {
        Brokers.createTopic(Map.of("bootstrap.servers", broker.bootstrapServers()), "empty", 1);
        Shell shell =
                Shell.run("decoders", "list", "--bootstrap-servers", broker.bootstrapServers(), "--topic", "empty");
        assertEquals(0, shell.exitCode(), shell.err());
        assertEquals("no decoders on topic empty", shell.out().strip());
    }

    @Test
    void aRowOfTheListHasNoLineageAndShowHasAll() {
        Shell list = Shell.run("decoders", "list", "--bootstrap-servers", broker.bootstrapServers());
        assertTrue(list.out().lines().allMatch(line -> line.length() <= 120), list.out());
        Shell show =
                Shell.run("decoders", "show", "--bootstrap-servers", broker.bootstrapServers(), "--site", "layer.3");
        assertEquals(0, show.exitCode(), show.err());
        assertTrue(show.out().matches("(?s)version +7\n.*parent_sha256 +0{64}\n.*"), show.out());
        Shell unknown =
                Shell.run("decoders", "show", "--bootstrap-servers", broker.bootstrapServers(), "--site", "layer.9");
        assertEquals(2, unknown.exitCode());
        assertTrue(unknown.err().contains("the topic has decoders of layer.2, layer.3, layer.4"), unknown.err());
    }

    @Test
    void aManifestPrintsNoRowOfItsOwnMakingAndMovesNoCursor() throws Exception {
        String brokers = broker.bootstrapServers();
        Brokers.createTopic(Map.of("bootstrap.servers", brokers), "hostile", 1);
        Map<String, String> lineage = Map.of("a\u001b[2K", "b\nsignature  signed by ada");
        try (Producer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", brokers), new ByteArraySerializer(), new ByteArraySerializer())) {
            send(producer, DecoderRecords.of("hostile", "layer.2", 1, "0\nkind", decoder(3), DType.F32, lineage));
            producer.flush();
        }
        Shell show = Shell.run(
                "decoders", "show", "--bootstrap-servers", brokers, "--topic", "hostile", "--site", "layer.2");
        assertEquals(0, show.exitCode(), show.err());
        assertEquals(7, show.out().lines().count(), show.out());
        assertTrue(show.out().contains("\na?[2K "), show.out());
        Shell fetched = site("fetch", "layer.2", folder.resolve("hostile"), "--topic", "hostile");
        assertEquals(3, fetched.exitCode(), fetched.err());
        assertTrue(fetched.err().contains("0?kind"), fetched.err());
    }

    @Test
    void whoSignedADecoderIsShownAndCheckedByTheKeysGiven() throws Exception {
        String brokers = broker.bootstrapServers();
        Brokers.createTopic(Map.of("bootstrap.servers", brokers), "signed", 1);
        SigningKeys own = SigningKeys.create(folder, "own");
        SigningKeys other = SigningKeys.create(folder, "other");
        try (Producer<byte[], byte[]> producer = new KafkaProducer<>(
                Map.of("bootstrap.servers", brokers), new ByteArraySerializer(), new ByteArraySerializer())) {
            String parent = trained.decoder().sha256();
            send(producer, own.sign(DecoderRecords.of("signed", "layer.2", 1, parent, decoder(3))));
            send(producer, DecoderRecords.of("signed", "layer.3", 1, parent, decoder(4)));
            producer.flush();
        }
        assertTrue(show("layer.2").out().matches("(?s).*signature +signed by [0-9a-f]{16}, not checked\n.*"));
        assertTrue(show("layer.3").out().matches("(?s).*signature +unsigned\n.*"));
        Shell right = show("layer.2", "--key", other.publicKey() + "," + own.publicKey());
        assertEquals(0, right.exitCode(), right.err());
        assertTrue(right.out().matches("(?s).*signature +signed by [0-9a-f]{16}\n.*"), right.out());
        Shell wrong = show("layer.2", "--key", other.publicKey());
        assertEquals(3, wrong.exitCode());
        assertTrue(wrong.out().contains("not signed by a key given: it is signed by the key "), wrong.out());

        Shell list = Shell.run(
                "decoders", "list", "--bootstrap-servers", brokers, "--topic", "signed", "--key", own.publicKey());
        assertEquals(3, list.exitCode(), "layer.3 is not");
        assertTrue(
                list.out()
                        .matches("(?s).*\nlayer\\.2, version 1: signed by [0-9a-f]{16}\n"
                                + "layer\\.3, version 1: not signed by a key given: it is not signed, .*"),
                list.out());
        Path out = folder.resolve("never-signed");
        Shell fetched = site(
                "fetch",
                "layer.2",
                out,
                "--topic",
                "signed",
                "--key",
                other.publicKey().toString());
        assertEquals(3, fetched.exitCode(), fetched.out());
        assertTrue(fetched.err().contains("layer.2, version 1 is not served: it is signed by"), fetched.err());
        assertFalse(Files.exists(out));
        Shell none = show("layer.2", "--key", own.key());
        assertEquals(2, none.exitCode());
        assertTrue(none.err().contains("expected an Ed25519 PUBLIC KEY in PEM"), none.err());
    }

    private static Shell show(String site, Object... more) {
        List<Object> words = new ArrayList<>(List.of("decoders", "show", "--bootstrap-servers"));
        words.addAll(List.of(broker.bootstrapServers(), "--topic", "signed", "--site", site));
        words.addAll(List.of(more));
        return Shell.run(words.toArray());
    }

    @Test
    void aConfigurationFileSaysWhereTheClusterIsAndWhatTheTopicIsCalled() throws Exception {
        Path file = folder.resolve("plumbline.yaml");
        String yaml = """
                application_id: listing
                kafka: {bootstrap.servers: "%s"}
                topics: {decoders: %s}
                window: {size: 60s}
                sites:
                  layer.2: {explainer: sae, baseline: b, rank: 2, threshold: {quantile: 0.9}}
                """;
        Files.writeString(file, yaml.formatted(broker.bootstrapServers(), "decoders"));
        Shell listed = Shell.run("decoders", "list", "--config", file);
        assertEquals(0, listed.exitCode(), listed.err());
        assertTrue(listed.out().matches("(?s).*layer\\.2 +2 .*"), listed.out());

        Files.writeString(file, yaml.formatted(broker.bootstrapServers(), "renamed"));
        Shell renamed = Shell.run("decoders", "list", "--config", file);
        assertEquals(2, renamed.exitCode());
        assertTrue(renamed.err().contains("topic renamed does not exist"), renamed.err());
        Shell named = Shell.run("decoders", "list", "--config", file, "--topic", "decoders");
        assertEquals(0, named.exitCode(), named.err());
    }

    @Test
    void fetchWritesTheNewestDecoderBesideTheUntouchedEncoder() throws Exception {
        Path out = folder.resolve("fetched");
        Shell shell = site("fetch", "layer.2", out);
        assertEquals(0, shell.exitCode(), shell.err());
        assertEquals(decoder(4), Formats.read(out).decoder());
        try (Safetensors before = Safetensors.open(directory.resolve("sae_weights.safetensors"));
                Safetensors after = Safetensors.open(out.resolve("sae_weights.safetensors"))) {
            assertEquals(before.tensor("W_enc").bytes(), after.tensor("W_enc").bytes());
            assertEquals(DType.F64, after.tensor("W_dec").dtype(), "as published");
            assertEquals("2", after.metadata().get("version"));
        }
    }

    @Test
    void aDecoderThatTravelledInHalvesIsWrittenInFloatsThatHoldItExactly() throws Exception {
        Path out = folder.resolve("halves");
        Shell shell = site("fetch", "layer.4", out);
        assertEquals(0, shell.exitCode(), shell.err());
        assertEquals(decoder(6), Formats.read(out).decoder());
        try (Safetensors written = Safetensors.open(out.resolve("sae_weights.safetensors"))) {
            assertEquals(DType.F32, written.tensor("W_dec").dtype());
        }
    }

    @Test
    void decoderOfAnotherParentIsRefusedAndNothingIsWritten() {
        Path out = folder.resolve("never");
        Shell shell = site("fetch", "layer.3", out);
        assertEquals(3, shell.exitCode());
        assertTrue(shell.err().contains("layer.3, version 7 is not served"), shell.err());
        assertFalse(Files.exists(out));
    }

    @Test
    void followWritesOneFolderPerVersion() throws Exception {
        Path out = folder.resolve("followed");
        Shell shell = site("follow", "layer.2", out, "--count", "2");
        assertEquals(0, shell.exitCode(), shell.err());
        assertEquals(decoder(3), Formats.read(out.resolve("version-1")).decoder());
        assertEquals(decoder(4), Formats.read(out.resolve("version-2")).decoder());
    }

    private static Shell site(String command, String site, Path out, String... more) {
        Object[] arguments = new Object[10 + more.length];
        Object[] common = {
            "decoders",
            command,
            "--bootstrap-servers",
            broker.bootstrapServers(),
            "--site",
            site,
            "--explainer",
            directory,
            "--out",
            out
        };
        System.arraycopy(common, 0, arguments, 0, common.length);
        System.arraycopy(more, 0, arguments, common.length, more.length);
        return Shell.run(arguments);
    }

    private static Decoder decoder(long seed) {
        Matrix weights = ActivationRecords.integerRows(seed, 6, 4);
        return new Decoder(weights, new double[] {1, 2, 3, seed});
    }

    private static void publish(
            Producer<byte[], byte[]> producer, String site, long version, String parent, Decoder decoder, DType dtype) {
        send(producer, DecoderRecords.of("decoders", site, version, parent, decoder, dtype));
    }

    private static void send(Producer<byte[], byte[]> producer, List<ProducerRecord<byte[], byte[]>> records) {
        for (ProducerRecord<byte[], byte[]> record : records) {
            Future<RecordMetadata> unused = producer.send(record);
        }
    }
}
