package io.plumbline.topology.emission;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.HostileBytes;
import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.topology.emission.DecoderAssembler.Step;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests decoders of two chunks: 4,200 features of 32 values in float32 are 525 KiB. */
class DecoderAssemblerTest {

    private static final String SITE = "layer.2";
    private static final String PARENT = "a".repeat(64);
    private static final int FEATURES = 4_200;
    private static final int WIDTH = 32;

    @TempDir
    private Path folder;

    private DecoderAssembler assembler;

    @BeforeEach
    void start() {
        assembler = new DecoderAssembler(
                DecoderSubscription.ofParents(Map.of(SITE, PARENT)).spooledIn(folder), new HeldDecoders());
    }

    @AfterEach
    void nothingStaysOnTheDisk() throws IOException {
        assembler.close();
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(List.of(), left.toList());
        }
    }

    @Test
    void aDecoderComesWithTheNumberFormatItTravelledIn() {
        Decoder small = new Decoder(Matrix.identity(2), new double[2]);
        long version = 0;
        for (DType dtype : List.of(DType.F64, DType.F32, DType.F16, DType.BF16)) {
            version++;
            List<ProducerRecord<byte[], byte[]>> records =
                    DecoderRecords.of("decoders", SITE, version, PARENT, small, dtype);
            assertTaken(records.get(0));
            assertEquals(dtype, assertComplete(records.get(1)).dtype());
        }
    }

    @Test
    void aVersionIsCompleteWithItsManifestAndNotBefore() {
        List<ProducerRecord<byte[], byte[]>> records = records(1);
        assertEquals(3, records.size(), "two chunks and a manifest");
        assertTaken(records.get(0));
        assertTaken(records.get(1));
        PublishedDecoder complete = assertComplete(records.get(2));
        assertEquals(SITE, complete.site());
        assertEquals(1, complete.version());
        assertEquals(decoder(1), complete.decoder());
    }

    @Test
    void aTornVersionIsRefusedAndTheNextOneIsServed() {
        List<ProducerRecord<byte[], byte[]>> torn = records(1);
        assertTaken(torn.get(1));
        assertRefused(torn.get(2), "1 of its 2 chunks");
        assertServed(records(2), 2);
    }

    @Test
    void chunksOfTwoVersionsAreNotMixed() {
        List<ProducerRecord<byte[], byte[]>> first = records(1);
        List<ProducerRecord<byte[], byte[]>> second = records(2);
        assertTaken(first.get(0));
        assertTaken(second.get(1));
        assertRefused(first.get(2), "0 of its 2 chunks");
        assertRefused(second.get(2), "1 of its 2 chunks");
        // What compaction leaves of an older version stands before the newer one.
        assertTaken(records(3).get(1));
        assertServed(records(4), 4);
    }

    @Test
    void otherBytesThanTheManifestNamesAreRefused() {
        List<ProducerRecord<byte[], byte[]>> records = records(1);
        byte[] corrupt = records.get(1).value().clone();
        corrupt[corrupt.length - 1] ^= 1;
        assertTaken(records.get(0));
        assertEquals(new Step.Taken(), assembler.accept(records.get(1).key(), corrupt, null));
        assertRefused(records.get(2), "sha256");
        assertServed(records(1), 1);
    }

    @Test
    void anotherParentIsRefused() {
        List<ProducerRecord<byte[], byte[]>> stranger =
                DecoderRecords.of("decoders", SITE, 1, "b".repeat(64), decoder(1));
        assertTaken(stranger.get(0));
        assertTaken(stranger.get(1));
        assertRefused(stranger.get(2), "the explainer held here has " + PARENT);
        assertServed(records(2), 2);
    }

    @Test
    void anOlderVersionOrTheSameIsNotServedAgain() {
        assertServed(records(5), 5);
        List<ProducerRecord<byte[], byte[]>> older = records(4);
        assertTaken(older.get(0));
        assertTaken(older.get(1));
        assertRefused(older.get(2), "version 5 was already served");
        records(5).forEach(this::assertTaken);
        List<ProducerRecord<byte[], byte[]>> impostor = DecoderRecords.of("decoders", SITE, 5, PARENT, decoder(77));
        assertTaken(impostor.get(0));
        assertTaken(impostor.get(1));
        assertRefused(impostor.get(2), "version 5 was already served");
        assertServed(records(6), 6);
    }

    @Test
    void otherSitesAndTombstonesAreTakenWithoutAWord() {
        assertEquals(new Step.Taken(), assembler.accept(key("other"), new byte[] {1}, null));
        assertEquals(new Step.Taken(), assembler.accept(key("other#0"), new byte[] {1}, null));
        assertEquals(new Step.Taken(), assembler.accept(key(SITE + "#5"), null, null));
        assertEquals(new Step.Taken(), assembler.accept(key(SITE), null, null));
        assertServed(records(1), 1);
    }

    @Test
    void withoutParentsEverySiteIsTakenEachWithItsOwnVersions() {
        DecoderAssembler any =
                new DecoderAssembler(DecoderSubscription.everything().spooledIn(folder), new HeldDecoders());
        int complete = 0;
        for (String site : List.of("one", "two")) {
            for (ProducerRecord<byte[], byte[]> record : DecoderRecords.of("decoders", site, 1, site, decoder(1))) {
                complete += any.accept(record.key(), record.value(), null) instanceof Step.Complete ? 1 : 0;
            }
        }
        assertEquals(2, complete);
    }

    @Test
    void chunksOfSitesMayStandAmongEachOther() {
        DecoderAssembler any =
                new DecoderAssembler(DecoderSubscription.everything().spooledIn(folder), new HeldDecoders());
        List<ProducerRecord<byte[], byte[]>> one = DecoderRecords.of("decoders", "one", 1, "p", decoder(1));
        List<ProducerRecord<byte[], byte[]>> two = DecoderRecords.of("decoders", "two", 1, "p", decoder(2));
        List<ProducerRecord<byte[], byte[]>> woven = new ArrayList<>();
        for (int i = 0; i < one.size(); i++) {
            Collections.addAll(woven, one.get(i), two.get(i));
        }
        long complete = woven.stream()
                .filter(record -> any.accept(record.key(), record.value(), null) instanceof Step.Complete)
                .count();
        assertEquals(2, complete);
    }

    @Test
    void aManifestOfAnotherSiteThanItsKeyIsRefused() {
        List<ProducerRecord<byte[], byte[]>> records = DecoderRecords.of("decoders", "other", 1, PARENT, decoder(1));
        Step step = assembler.accept(key(SITE), records.get(2).value(), null);
        assertTrue(assertInstanceOf(Step.Refused.class, step).reason().contains("names site \"other\""));
    }

    @Test
    void foreignBytesAreRefusedAndDisturbNothing() {
        assertInstanceOf(Step.Refused.class, assembler.accept(null, new byte[] {1}, null));
        assertInstanceOf(Step.Refused.class, assembler.accept(key(SITE), new byte[0], null));
        assertInstanceOf(Step.Refused.class, assembler.accept(key(SITE), key("{}"), null));
        assertInstanceOf(Step.Refused.class, assembler.accept(key(SITE + "#0"), new byte[] {9}, null));
        assertInstanceOf(Step.Refused.class, assembler.accept(key(SITE + "#0"), new byte[600_000], null));
        assertServed(records(1), 1);
    }

    @Test
    void chunksAreTheBlobInOrder() {
        Decoder decoder = decoder(1);
        byte[] blob = SafetensorsWriter.create()
                .metadata("rank", "2")
                .add("W_dec", DType.F32, decoder.weights().toMatrix())
                .addVector("b_dec", DType.F32, decoder.bias())
                .toBytes();
        DecoderArtefact artefact = DecoderArtefact.of(decoder, DType.F32, Map.of("rank", "2"));
        assertEquals(blob.length, artefact.bytes());
        List<DecoderChunk> chunks = new ArrayList<>();
        ByteBuffer joined = ByteBuffer.allocate(blob.length);
        int count = artefact.cut(1L << 40, (index, value) -> {
            assertTrue(value.length < 512 * 1024);
            assertEquals(chunks.size(), index);
            DecoderChunk chunk = DecoderChunk.decode(value);
            assertEquals(index, chunk.index());
            assertEquals(1L << 40, chunk.decoderVersion());
            chunks.add(chunk);
            joined.put(chunk.payload());
        });
        assertEquals(2, count);
        assertArrayEquals(blob, joined.array());
        assertEquals(DecoderChunk.chunksOf(blob.length), chunks.size());
        assertEquals(1, DecoderChunk.chunksOf(DecoderChunk.PAYLOAD_BYTES));
        assertEquals(2, DecoderChunk.chunksOf(DecoderChunk.PAYLOAD_BYTES + 1));
    }

    @Test
    void hostileChunksAreRefused() {
        HostileBytes.mutate(DecoderChunk.begin(4, 2, 20).array(), DecoderChunk::decode);
        assertThrows(IllegalArgumentException.class, () -> DecoderChunk.decode(new byte[] {1, 2}));
        byte[] farIndex = DecoderChunk.begin(1, Integer.MAX_VALUE, 1).array();
        assertThrows(IllegalArgumentException.class, () -> DecoderChunk.decode(farIndex));
    }

    @Test
    void manifestsComeBackAsTheyWereAndHostileOnesAreRefused() {
        DecoderManifest manifest = new DecoderManifest(
                1, SITE, 9, DecoderKind.ADAPTED, PARENT, "c".repeat(64), 600_000, 2, Map.of("rank", "2"));
        assertEquals(manifest, DecoderManifest.decode(manifest.encode()));
        HostileBytes.check(manifest.encode(), DecoderManifest::decode);
        String json = new String(manifest.encode(), StandardCharsets.UTF_8);
        for (String bad : List.of(
                json.replace("\"chunks\":2", "\"chunks\":3"),
                json.replace("\"bytes\":600000", "\"bytes\":9000000000000"),
                json.replace("\"bytes\":600000", "\"bytes\":-1"),
                json.replace("\"schema\":1", "\"schema\":2"),
                json.replace("\"version\":9", "\"version\":0"),
                json.replace("\"version\":9", "\"version\":" + Long.MAX_VALUE),
                json.replace("\"sha256\"", "\"other\""))) {
            assertThrows(IllegalArgumentException.class, () -> DecoderManifest.decode(key(bad)), bad);
        }
    }

    private void assertServed(List<ProducerRecord<byte[], byte[]>> records, long version) {
        assertTaken(records.get(0));
        assertTaken(records.get(1));
        assertEquals(version, assertComplete(records.get(2)).version());
    }

    private void assertTaken(ProducerRecord<byte[], byte[]> record) {
        assertEquals(new Step.Taken(), assembler.accept(record.key(), record.value(), null));
    }

    private PublishedDecoder assertComplete(ProducerRecord<byte[], byte[]> record) {
        return assertInstanceOf(Step.Complete.class, assembler.accept(record.key(), record.value(), null))
                .decoder();
    }

    private void assertRefused(ProducerRecord<byte[], byte[]> record, String words) {
        Step.Refused refused =
                assertInstanceOf(Step.Refused.class, assembler.accept(record.key(), record.value(), null));
        assertTrue(refused.reason().contains(words), refused.reason());
    }

    private static List<ProducerRecord<byte[], byte[]>> records(long version) {
        return DecoderRecords.of("decoders", SITE, version, PARENT, decoder(version));
    }

    private static Decoder decoder(long seed) {
        Matrix weights = ActivationRecords.integerRows(seed, FEATURES, WIDTH);
        return new Decoder(weights, new double[WIDTH]);
    }

    private static byte[] key(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
