package io.plumbline.topology.emission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.topology.emission.DecoderAssembler.Step;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.MessageDigest;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests ways in which what stands on the topic can be wrong: none is served, and none keeps the next version from it.
 */
class UntrustedDecodersTest {

    private static final String SITE = "layer.2";
    private static final int FEATURES = 4_200;
    private static final int WIDTH = 32;
    private static final Decoder TRAINED = decoder(1_000);
    private static final String PARENT = TRAINED.sha256();

    @TempDir
    private Path folder;

    private DecoderAssembler assembler;

    @BeforeEach
    void start() {
        open(subscription());
    }

    @AfterEach
    void theNextVersionIsServedAndNothingStaysOnTheDisk() throws IOException {
        List<ProducerRecord<byte[], byte[]>> good = records(900, decoder(900));
        for (ProducerRecord<byte[], byte[]> record : good.subList(0, good.size() - 1)) {
            assertEquals(new Step.Taken(), accept(record));
        }
        Step.Complete complete = assertInstanceOf(Step.Complete.class, accept(good.get(good.size() - 1)));
        assertEquals(decoder(900), complete.decoder().decoder());
        assembler.close();
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(List.of(), left.toList());
        }
    }

    @Test
    void aChunkUnderTheKeyOfAnotherIsRefused() {
        List<ProducerRecord<byte[], byte[]>> records = records(1, decoder(1));
        accept(records.get(0));
        Step step = assembler.accept(key(SITE + "#0"), records.get(1).value(), null);
        assertEquals("the record with the key of chunk 0 holds chunk 1", refusal(step));
        assertEquals("the topic has 1 of its 2 chunks", refusal(accept(records.get(2))));
    }

    @Test
    void aManifestOfANewerSchemaIsRefusedInItsOwnWords() {
        List<ProducerRecord<byte[], byte[]>> records = records(1, decoder(1));
        String manifest = new String(records.get(records.size() - 1).value(), StandardCharsets.UTF_8);
        String newer = manifest.replace("\"schema\":1,", "\"schema\":2,");
        assertEquals(
                "manifest of schema 2, expected 1; a newer Plumbline reads it",
                refusal(assembler.accept(key(SITE), newer.getBytes(StandardCharsets.UTF_8), null)));
        String cut = refusal(assembler.accept(key(SITE), "{\"schema\":1".getBytes(StandardCharsets.UTF_8), null));
        assertTrue(
                cut.startsWith("not the JSON of a DecoderManifest: not valid JSON: the text ends in the middle"), cut);
        assertEquals(1, cut.lines().count(), "no place in a source that nobody sees");
    }

    @Test
    void aChunkOfAnotherVersionLeavesTheVersionTorn() {
        List<ProducerRecord<byte[], byte[]>> second = records(2, decoder(2));
        accept(records(1, decoder(1)).get(0));
        accept(second.get(1));
        assertEquals("the topic has 1 of its 2 chunks", refusal(accept(second.get(2))));
        assertTrue(assembler.awaitsNewer());
    }

    @Test
    void aManifestOlderThanTheChunksBeforeItIsRefusedAndTheyStay() {
        List<ProducerRecord<byte[], byte[]>> first = records(1, decoder(1));
        List<ProducerRecord<byte[], byte[]>> second = records(2, decoder(2));
        accept(second.get(0));
        accept(second.get(1));
        assertEquals("the topic has 0 of its 2 chunks", refusal(accept(first.get(2))));
        assertTrue(assembler.awaitsNewer());
        assertInstanceOf(Step.Complete.class, accept(second.get(2)));
        assertTrue(!assembler.awaitsNewer());
    }

    @Test
    void theSignInAnotherSitesNameMeansNothingHere() {
        for (String other : List.of(SITE + "#", SITE + "#x", SITE + "#-1", SITE + "#01", SITE + "#9999999999", "#")) {
            assertEquals(new Step.Taken(), assembler.accept(key(other), new byte[] {1}, null), other);
            assertEquals(new DecoderKey(other, DecoderKey.MANIFEST), DecoderKey.parse(key(other)));
        }
        assertEquals(new DecoderKey("a#b", 12), DecoderKey.parse(key("a#b#12")));
        assertEquals(new DecoderKey("", 0), DecoderKey.parse(key("#0")));
    }

    @Test
    void versionsBeyondTheLargestAreRefusedAndNoneOverflows() {
        for (long version : new long[] {Long.MIN_VALUE, -1, 0, Long.MAX_VALUE}) {
            byte[] chunk = DecoderChunk.begin(version, 0, 10).array();
            assertEquals(new Step.Taken(), assembler.accept(key(SITE + "#0"), chunk, null));
        }
        byte[] manifest = manifest(5, "0".repeat(64), 10);
        String json = new String(manifest, StandardCharsets.UTF_8);
        for (long version : new long[] {Long.MIN_VALUE, -1, 0, 1L << 53, Long.MAX_VALUE}) {
            Step step = assembler.accept(key(SITE), key(json.replace("\"version\":5", "\"version\":" + version)), null);
            assertTrue(refusal(step).contains("manifest of version " + version), refusal(step));
        }
    }

    @Test
    void aManifestIsReadToTheLetter() {
        String json = new String(manifest(5, "0".repeat(64), 10), StandardCharsets.UTF_8);
        for (String version : List.of("5.0", "21.5", "\"5\"", "true", "[5]")) {
            Step step = assembler.accept(key(SITE), key(json.replace("\"version\":5", "\"version\":" + version)), null);
            assertTrue(refusal(step).contains("not the JSON of a DecoderManifest"), version + ": " + refusal(step));
        }
        Step coloured = assembler.accept(key(SITE), key(json.replace("\"adapted\"", "\"\\u001b[31madapted\"")), null);
        assertTrue(refusal(coloured).contains("expected adapted, trained or candidate"), refusal(coloured));
        assertTrue(refusal(coloured).chars().noneMatch(Character::isISOControl), refusal(coloured));
    }

    @Test
    void moreThanTheTrainedDecoderCouldBeIsRefusedUnread() throws IOException {
        Decoder large = new Decoder(ActivationRecords.integerRows(1, 4 * FEATURES, WIDTH), new double[WIDTH]);
        List<ProducerRecord<byte[], byte[]>> records = DecoderRecords.of("decoders", SITE, 1, PARENT, large, DType.F64);
        long cap = 8L * (FEATURES * WIDTH + WIDTH) + (1 << 20);
        for (ProducerRecord<byte[], byte[]> record : records.subList(0, records.size() - 1)) {
            assertEquals(new Step.Taken(), accept(record));
        }
        String reason = refusal(accept(records.get(records.size() - 1)));
        assertTrue(reason.endsWith("at most " + cap + " are taken for this site"), reason);
    }

    @Test
    void chunksBeyondTheCapAreNotKeptWhateverTheirManifestSays() {
        open(subscription().withLargestArtefact(600_000));
        List<ProducerRecord<byte[], byte[]>> records = records(1, decoder(1));
        assertEquals(new Step.Taken(), accept(records.get(0)));
        byte[] far = DecoderChunk.begin(1, 2, 10).array();
        assertEquals(new Step.Taken(), assembler.accept(key(SITE + "#2"), far, null));
        assertEquals(
                "its chunk 2 ends at byte 1046538, at most 600000 are taken for this site",
                refusal(accept(records.get(2))));
    }

    @Test
    void unfinishedVersionsOfManySitesAreGivenUpEldestFirst() {
        open(DecoderSubscription.everything().spooledIn(folder));
        List<ProducerRecord<byte[], byte[]>> eldest = records("site-0", 1, decoder(1));
        eldest.subList(0, 2).forEach(this::accept);
        for (int i = 1; i <= DecoderAssembler.MOST_UNFINISHED; i++) {
            accept(records("site-" + i, 1, decoder(i)).get(0));
        }
        assertEquals("the topic has 0 of its 2 chunks", refusal(accept(eldest.get(2))));
        List<ProducerRecord<byte[], byte[]>> second = records("site-1", 1, decoder(1));
        accept(second.get(1));
        assertInstanceOf(Step.Complete.class, accept(second.get(2)));
    }

    @Test
    void unfinishedVersionsKeepWithinTheirBytesTogether() {
        open(DecoderSubscription.everything().spooledIn(folder).withMostSpooled(2L * DecoderChunk.PAYLOAD_BYTES));
        List<ProducerRecord<byte[], byte[]>> first = records("one", 1, decoder(1));
        List<ProducerRecord<byte[], byte[]>> second = records("two", 1, decoder(2));
        accept(first.get(0));
        accept(second.get(0));
        accept(second.get(1));
        assertEquals("the topic has 0 of its 2 chunks", refusal(accept(first.get(2))));
        assertInstanceOf(Step.Complete.class, accept(second.get(2)));
        Decoder larger = new Decoder(ActivationRecords.integerRows(1, 3 * FEATURES, WIDTH), new double[WIDTH]);
        List<ProducerRecord<byte[], byte[]>> third = records("three", 1, larger);
        third.subList(0, third.size() - 1).forEach(this::accept);
        String reason = refusal(accept(third.get(third.size() - 1)));
        assertTrue(reason.contains("more than the 1046528 bytes that may wait"), reason);
    }

    @Test
    void aFolderThatCannotBeWrittenIsNamed() {
        Path missing = folder.resolve("missing");
        open(subscription().spooledIn(missing));
        List<ProducerRecord<byte[], byte[]>> records = records(1, decoder(1));
        accept(records.get(0));
        accept(records.get(1));
        String reason = refusal(accept(records.get(2)));
        assertTrue(reason.startsWith("its chunks cannot be kept in " + missing), reason);
        open(subscription());
    }

    @Test
    void chunksThatAreMoreOrOtherThanTheManifestSaysAreRefused() {
        List<ProducerRecord<byte[], byte[]>> records = records(1, decoder(1));
        accept(records.get(0));
        accept(records.get(1));
        accept(key(SITE + "#3"), DecoderChunk.begin(1, 3, 10).array());
        assertEquals("it has a chunk with index 3, its manifest says 2 chunks", refusal(accept(records.get(2))));
        byte[] last = records.get(1).value();
        accept(records.get(0));
        accept(records.get(1).key(), Arrays.copyOf(last, last.length - 1));
        String reason = refusal(accept(records.get(2)));
        assertTrue(reason.matches("its chunks end at byte \\d+, its manifest says \\d+"), reason);
        byte[] first = records.get(0).value();
        accept(records.get(0).key(), Arrays.copyOf(first, first.length - 1));
        accept(records.get(1));
        assertTrue(refusal(accept(records.get(2))).contains("sha256"), "a hole between two chunks");
    }

    @Test
    void artefactsThatAreNoSuchDecoderAreRefusedThoughTheirSha256Fits() throws Exception {
        Matrix nan = ActivationRecords.integerRows(1, FEATURES, WIDTH);
        nan.set(1, 2, Double.NaN);
        double[] bias = new double[WIDTH];
        Matrix turned = ActivationRecords.integerRows(1, WIDTH, FEATURES);
        assertArtefactRefused(new byte[] {1, 2, 3}, "header length");
        assertArtefactRefused(SafetensorsWriter.create().toBytes(), "tensor \"W_dec\" is missing");
        assertArtefactRefused(blob(nan, bias), "its W_dec holds NaN at place 34");
        assertArtefactRefused(blob(turned, new double[FEATURES]), "the explainer held here has [4200, 32]");
        assertArtefactRefused(blob(turned, bias), "expected [features, dimension] and [dimension]");
        assertArtefactRefused(
                SafetensorsWriter.create()
                        .addLongs("W_dec", 1, 2)
                        .addVector("b_dec", DType.F32, bias)
                        .toBytes(),
                "expected F64, F32, F16 or BF16");
        bias[3] = Double.POSITIVE_INFINITY;
        assertArtefactRefused(blob(decoder(1).weights().toMatrix(), bias), "its b_dec holds Infinity at place 3");
    }

    private static byte[] blob(Matrix weights, double[] bias) {
        return SafetensorsWriter.create()
                .add("W_dec", DType.F32, weights)
                .addVector("b_dec", DType.F32, bias)
                .toBytes();
    }

    private void assertArtefactRefused(byte[] artefact, String words) throws Exception {
        for (int index = 0; index < DecoderChunk.chunksOf(artefact.length); index++) {
            int from = index * DecoderChunk.PAYLOAD_BYTES;
            int length = Math.min(DecoderChunk.PAYLOAD_BYTES, artefact.length - from);
            byte[] chunk = DecoderChunk.begin(1, index, length)
                    .put(artefact, from, length)
                    .array();
            assertEquals(new Step.Taken(), accept(key(SITE + "#" + index), chunk));
        }
        String sha256 =
                HexFormat.of().formatHex(MessageDigest.getInstance("SHA-256").digest(artefact));
        String reason = refusal(accept(key(SITE), manifest(1, sha256, artefact.length)));
        assertTrue(reason.contains(words), reason);
    }

    private static byte[] manifest(long version, String sha256, long bytes) {
        return new DecoderManifest(
                        1,
                        SITE,
                        version,
                        DecoderKind.ADAPTED,
                        PARENT,
                        sha256,
                        bytes,
                        DecoderChunk.chunksOf(bytes),
                        Map.of())
                .encode();
    }

    private DecoderSubscription subscription() {
        return DecoderSubscription.of(Map.of(SITE, TRAINED)).spooledIn(folder);
    }

    private void open(DecoderSubscription subscription) {
        if (assembler != null) {
            assembler.close();
        }
        assembler = new DecoderAssembler(subscription, new HeldDecoders());
    }

    private static String refusal(Step step) {
        return assertInstanceOf(Step.Refused.class, step).reason();
    }

    private Step accept(ProducerRecord<byte[], byte[]> record) {
        return accept(record.key(), record.value());
    }

    private Step accept(byte[] key, byte[] value) {
        return assembler.accept(key, value, null);
    }

    private static List<ProducerRecord<byte[], byte[]>> records(long version, Decoder decoder) {
        return records(SITE, version, decoder);
    }

    private static List<ProducerRecord<byte[], byte[]>> records(String site, long version, Decoder decoder) {
        return new ArrayList<>(DecoderRecords.of("decoders", site, version, PARENT, decoder));
    }

    private static Decoder decoder(long seed) {
        return new Decoder(ActivationRecords.integerRows(seed, FEATURES, WIDTH), new double[WIDTH]);
    }

    private static byte[] key(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
