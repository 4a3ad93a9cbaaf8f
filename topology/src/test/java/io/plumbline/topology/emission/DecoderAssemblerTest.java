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
import io.plumbline.topology.emission.DecoderAssembler.Step;
import io.plumbline.wire.DType;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;

/** Decoders of two chunks: 4,200 features of 32 values in float32 are 525 KiB. */
class DecoderAssemblerTest {

    private static final String SITE = "layer.2";
    private static final String PARENT = "a".repeat(64);
    private static final int FEATURES = 4_200;
    private static final int WIDTH = 32;

    private final DecoderAssembler assembler = new DecoderAssembler(Map.of(SITE, PARENT));

    @Test
    void aDecoderComesWithTheNumberFormatItTravelledIn() {
        Decoder small = new Decoder(Matrix.identity(2), new double[2]);
        long version = 0;
        for (DType dtype : List.of(DType.F64, DType.F32)) {
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
        assertEquals(new Step.Taken(), assembler.accept(records.get(1).key(), corrupt));
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
    void anOlderOrEqualVersionIsNotServedAgain() {
        assertServed(records(5), 5);
        for (long old : new long[] {5, 4}) {
            List<ProducerRecord<byte[], byte[]>> records = records(old);
            assertTaken(records.get(0));
            assertTaken(records.get(1));
            assertRefused(records.get(2), "version 5 was already served");
        }
        assertServed(records(6), 6);
    }

    @Test
    void otherSitesAndTombstonesAreTakenWithoutAWord() {
        assertEquals(new Step.Taken(), assembler.accept(key("other"), new byte[] {1}));
        assertEquals(new Step.Taken(), assembler.accept(key("other#0"), new byte[] {1}));
        assertEquals(new Step.Taken(), assembler.accept(key(SITE + "#5"), null));
        assertEquals(new Step.Taken(), assembler.accept(key(SITE), null));
        assertServed(records(1), 1);
    }

    @Test
    void withoutParentsEverySiteIsTakenEachWithItsOwnVersions() {
        DecoderAssembler any = new DecoderAssembler(null);
        int complete = 0;
        for (String site : List.of("one", "two")) {
            for (ProducerRecord<byte[], byte[]> record : DecoderRecords.of("decoders", site, 1, site, decoder(1))) {
                complete += any.accept(record.key(), record.value()) instanceof Step.Complete ? 1 : 0;
            }
        }
        assertEquals(2, complete);
    }

    @Test
    void chunksOfSitesMayStandAmongEachOther() {
        DecoderAssembler any = new DecoderAssembler(null);
        List<ProducerRecord<byte[], byte[]>> one = DecoderRecords.of("decoders", "one", 1, "p", decoder(1));
        List<ProducerRecord<byte[], byte[]>> two = DecoderRecords.of("decoders", "two", 1, "p", decoder(2));
        List<ProducerRecord<byte[], byte[]>> woven = new ArrayList<>();
        for (int i = 0; i < one.size(); i++) {
            Collections.addAll(woven, one.get(i), two.get(i));
        }
        long complete = woven.stream()
                .filter(record -> any.accept(record.key(), record.value()) instanceof Step.Complete)
                .count();
        assertEquals(2, complete);
    }

    @Test
    void aManifestOfAnotherSiteThanItsKeyIsRefused() {
        List<ProducerRecord<byte[], byte[]>> records = DecoderRecords.of("decoders", "other", 1, PARENT, decoder(1));
        Step step = assembler.accept(key(SITE), records.get(2).value());
        assertTrue(assertInstanceOf(Step.Refused.class, step).reason().contains("names site \"other\""));
    }

    @Test
    void foreignBytesAreRefusedAndDisturbNothing() {
        assertInstanceOf(Step.Refused.class, assembler.accept(null, new byte[] {1}));
        assertInstanceOf(Step.Refused.class, assembler.accept(key(SITE), new byte[0]));
        assertInstanceOf(Step.Refused.class, assembler.accept(key(SITE), key("{}")));
        assertInstanceOf(Step.Refused.class, assembler.accept(key(SITE + "#0"), new byte[] {9}));
        assertInstanceOf(Step.Refused.class, assembler.accept(key(SITE + "#0"), new byte[600_000]));
        assertServed(records(1), 1);
    }

    @Test
    void anArtefactThatIsNoDecoderIsRefused() {
        byte[] artefact = {1, 2, 3};
        DecoderManifest manifest =
                new DecoderManifest(1, SITE, 1, "adapted", PARENT, DecoderArtefact.sha256(artefact), 3, 1, Map.of());
        assembler.accept(key(SITE + "#0"), new DecoderChunk(1, 0, artefact).encode());
        assertInstanceOf(Step.Refused.class, assembler.accept(key(SITE), manifest.encode()));
        assertServed(records(2), 2);
    }

    @Test
    void chunksComeBackAsTheyWereCut() {
        byte[] artefact = new byte[DecoderChunk.PAYLOAD_BYTES + 10];
        Arrays.fill(artefact, (byte) 3);
        assertEquals(2, DecoderChunk.chunksOf(artefact.length));
        DecoderChunk last =
                DecoderChunk.decode(DecoderChunk.cut(artefact, 1L << 40, 1).encode());
        assertEquals(1L << 40, last.decoderVersion());
        assertEquals(1, last.index());
        assertArrayEquals(new byte[] {3, 3, 3, 3, 3, 3, 3, 3, 3, 3}, last.payload());
        assertEquals(1, DecoderChunk.chunksOf(DecoderChunk.PAYLOAD_BYTES));
        assertTrue(DecoderChunk.cut(artefact, 1, 0).encode().length < 512 * 1024);
        HostileBytes.mutate(new DecoderChunk(4, 2, new byte[20]).encode(), DecoderChunk::decode);
        assertThrows(IllegalArgumentException.class, () -> DecoderChunk.decode(new byte[] {1, 2}));
        byte[] farIndex = new DecoderChunk(1, Integer.MAX_VALUE, new byte[1]).encode();
        assertThrows(IllegalArgumentException.class, () -> DecoderChunk.decode(farIndex));
    }

    @Test
    void manifestsComeBackAsTheyWereAndHostileOnesAreRefused() {
        DecoderManifest manifest =
                new DecoderManifest(1, SITE, 9, "adapted", PARENT, "c".repeat(64), 600_000, 2, Map.of("rank", "2"));
        assertEquals(manifest, DecoderManifest.decode(manifest.encode()));
        HostileBytes.check(manifest.encode(), DecoderManifest::decode);
        String json = new String(manifest.encode(), StandardCharsets.UTF_8);
        for (String bad : List.of(
                json.replace("\"chunks\":2", "\"chunks\":3"),
                json.replace("\"bytes\":600000", "\"bytes\":9000000000000"),
                json.replace("\"bytes\":600000", "\"bytes\":-1"),
                json.replace("\"schema\":1", "\"schema\":2"),
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
        assertEquals(new Step.Taken(), assembler.accept(record.key(), record.value()));
    }

    private PublishedDecoder assertComplete(ProducerRecord<byte[], byte[]> record) {
        return assertInstanceOf(Step.Complete.class, assembler.accept(record.key(), record.value()))
                .decoder();
    }

    private void assertRefused(ProducerRecord<byte[], byte[]> record, String words) {
        Step.Refused refused = assertInstanceOf(Step.Refused.class, assembler.accept(record.key(), record.value()));
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
