package io.plumbline.topology.emission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import com.fasterxml.jackson.databind.node.ArrayNode;
import io.plumbline.explainer.Decoder;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.Repository;
import io.plumbline.topology.emission.DecoderAssembler.Step;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests what a subscriber with keys takes, and that the Python package reads the records that were written here. */
class SignedDecodersTest {

    private static final String SITE = "layer.2";
    private static final Decoder TRAINED = decoder(1);

    /** The emitter's records of three versions, as the Python package's tests read them. */
    private static final Path WRITTEN =
            Repository.path("clients", "python", "tests", "fixtures", "signed", "records.json");

    @TempDir
    private Path folder;

    private SigningKeys keys;
    private DecoderAssembler assembler;

    @BeforeEach
    void open() throws Exception {
        keys = SigningKeys.write(folder, "signing", RecordSignatureTest.PRIVATE, RecordSignatureTest.publicKey());
        assembler = new DecoderAssembler(
                DecoderSubscription.of(Map.of(SITE, TRAINED)).spooledIn(folder).signedBy(keys.trusted()),
                new HeldDecoders());
    }

    @AfterEach
    void close() {
        assembler.close();
    }

    @Test
    void onlyWhatOneOfTheKeysSignedIsHandedOut() throws Exception {
        SigningKeys other = SigningKeys.create(folder, "other");
        assertEquals(1, complete(keys.sign(records(1))).version());
        assertEquals("it is not signed, expected the key " + keys.trusted(), refusal(records(2)));
        assertEquals(
                "it is signed by the key %s, expected %s".formatted(other.trusted(), keys.trusted()),
                refusal(other.sign(records(3))));
        List<ProducerRecord<byte[], byte[]>> altered = new ArrayList<>(records(4));
        keys.sign(records(5)).get(1).headers().forEach(altered.get(1).headers()::add);
        assertEquals("it is not what the key %s signed".formatted(keys.trusted()), refusal(altered));
        // The one in service stayed, and goes on.
        PublishedDecoder next = complete(keys.sign(records(5)));
        assertEquals(decoder(6), next.decoder());
        assertEquals(keys.trusted().toString(), next.signature().keyId());
    }

    @Test
    void aSignedCandidateCannotTakeThePlaceOfADecoder() {
        List<ProducerRecord<byte[], byte[]>> candidate =
                keys.sign(DecoderRecords.of("decoders", SITE + "#candidate", 1, TRAINED.sha256(), decoder(3)));
        List<ProducerRecord<byte[], byte[]>> moved = new ArrayList<>();
        for (ProducerRecord<byte[], byte[]> record : candidate) {
            String key = new String(record.key(), StandardCharsets.UTF_8).replace("#candidate", "");
            byte[] value = key.equals(SITE)
                    ? new String(record.value(), StandardCharsets.UTF_8)
                            .replace("#candidate", "")
                            .getBytes(StandardCharsets.UTF_8)
                    : record.value();
            moved.add(new ProducerRecord<>(
                    "decoders", 0, null, key.getBytes(StandardCharsets.UTF_8), value, record.headers()));
        }
        assertEquals("it is not what the key %s signed".formatted(keys.trusted()), refusal(moved));
    }

    @Test
    void aStateThatIsNotSignedIsNotBelieved() {
        byte[] key = DecoderKey.ofSwaps(SITE);
        byte[] pinned = "{\"version\":3,\"adapted\":true,\"pinned\":true}".getBytes(StandardCharsets.UTF_8);
        Step.Refused refused = assertInstanceOf(Step.Refused.class, assembler.accept(key, pinned, null));
        assertEquals(
                "the state beside its decoders is not believed: it is not signed, expected the key " + keys.trusted(),
                refused.reason());
        byte[] signature = DecoderSigner.read(keys.key()).sign(key, pinned);
        assertInstanceOf(Step.Told.class, assembler.accept(key, pinned, signature));
    }

    @Test
    void recordsOfTheEmitterAreThoseThatPythonReads() throws Exception {
        EmittedRecords emitter = new EmittedRecords(DecoderSigner.read(keys.key()));
        ArrayNode written = new ObjectMapper().createArrayNode();
        List<ProducerRecord<byte[], byte[]>> all = new ArrayList<>();
        for (long seed = 2; seed <= 4; seed++) {
            all.addAll(emitter.next("decoders", SITE, decoder(seed), TRAINED.sha256()));
        }
        int complete = 0;
        for (ProducerRecord<byte[], byte[]> record : all) {
            complete += accept(record) instanceof Step.Complete ? 1 : 0;
            byte[] signature = signature(record);
            JsonNode one = written.addObject()
                    .put("key", new String(record.key(), StandardCharsets.UTF_8))
                    .put("value", Base64.getEncoder().encodeToString(record.value()))
                    .put(
                            "signature",
                            signature == null ? null : Base64.getEncoder().encodeToString(signature));
            assertEquals(one.get("key").asText().contains("#"), signature == null, "manifests, and nothing else");
        }
        assertEquals(3, complete);
        String text = written.toPrettyString() + "\n";
        if (Boolean.getBoolean("plumbline.write.documents")) {
            Files.writeString(WRITTEN, text);
        }
        assertEquals(Files.readString(WRITTEN), text, "run this test with -Dplumbline.write.documents=true");
    }

    private Step accept(ProducerRecord<byte[], byte[]> record) {
        return assembler.accept(record.key(), record.value(), signature(record));
    }

    private static byte[] signature(ProducerRecord<byte[], byte[]> record) {
        var header = record.headers().lastHeader(RecordSignature.HEADER);
        return header == null ? null : header.value();
    }

    private PublishedDecoder complete(List<ProducerRecord<byte[], byte[]>> records) {
        return assertInstanceOf(Step.Complete.class, last(records)).decoder();
    }

    private String refusal(List<ProducerRecord<byte[], byte[]>> records) {
        return assertInstanceOf(Step.Refused.class, last(records)).reason();
    }

    private Step last(List<ProducerRecord<byte[], byte[]>> records) {
        for (ProducerRecord<byte[], byte[]> record : records.subList(0, records.size() - 1)) {
            assertEquals(new Step.Taken(), accept(record));
            assertNull(signature(record));
        }
        return accept(records.get(records.size() - 1));
    }

    private static List<ProducerRecord<byte[], byte[]>> records(long version) {
        return DecoderRecords.of("decoders", SITE, version, TRAINED.sha256(), decoder(version + 1));
    }

    private static Decoder decoder(long seed) {
        return new Decoder(ActivationRecords.integerRows(seed, 4, 2), new double[] {seed, 0.5});
    }
}
