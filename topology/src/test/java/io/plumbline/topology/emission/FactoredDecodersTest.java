package io.plumbline.topology.emission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.factored.DecoderFactors;
import io.plumbline.factored.MadeUpFactors;
import io.plumbline.factored.MadeUpFactors.Form;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.topology.emission.DecoderAssembler.Step;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/**
 * Tests decoders that travel as factors: made of them by whoever holds the trained one, and refused in every other
 * case.
 */
class FactoredDecodersTest {

    private static final String SITE = "layer.2";
    private static final int FEATURES = 6_000;
    private static final int WIDTH = 32;
    private static final int ROWS = 500;
    private static final Decoder TRAINED = MadeUpFactors.trained(FEATURES, WIDTH);

    @TempDir
    private Path folder;

    private DecoderAssembler assembler;

    @BeforeEach
    void start() {
        open(DecoderSubscription.of(Map.of(SITE, TRAINED)));
    }

    @AfterEach
    void theNextVersionIsServedAndNothingStaysOnTheDisk() throws IOException {
        open(DecoderSubscription.of(Map.of(SITE, TRAINED)));
        assertInstanceOf(Step.Complete.class, accept(records(900, factors(Form.OF_RANK))));
        assembler.close();
        try (Stream<Path> left = Files.list(folder)) {
            assertEquals(List.of(), left.toList());
        }
    }

    @ParameterizedTest
    @EnumSource(Form.class)
    void aDecoderIsMadeOfItsFactorsToTheLastBit(Form form) {
        DecoderFactors factors = factors(form);
        Decoder made = factors.of(TRAINED);
        PublishedDecoder published = complete(records(1, factors));
        assertEquals(made, published.decoder());
        assertEquals(DType.F32, published.dtype());
        assertEquals(made.sha256(), published.manifest().sha256());
        assertEquals(DecoderManifest.FACTORED, published.manifest().encoding());
        assertEquals(Long.toString(2), published.manifest().lineage().get("rank"));
        // Approved, a candidate travels on as it came.
        assertEquals(
                published.manifest().artefactSha256(),
                complete(records(2, published.factors())).manifest().artefactSha256());
        // And the same decoder as weights is the same to everyone, in more bytes.
        PublishedDecoder dense = complete(DecoderRecords.of("decoders", SITE, 3, TRAINED.sha256(), made));
        assertEquals(published.decoder(), dense.decoder());
        assertNull(dense.factors());
        assertTrue(3 * published.manifest().bytes() < dense.manifest().bytes(), published::toString);
    }

    @Test
    void whatThisProcessHoldsIsNotMadeAgain() {
        HeldDecoders held = new HeldDecoders();
        DecoderFactors factors = factors(Form.OF_RANK);
        Decoder made = factors.of(TRAINED);
        DecoderArtefact artefact = DecoderArtefact.of(factors, made, Map.of());
        open(DecoderSubscription.of(Map.of(SITE, TRAINED)), held);
        held.hold(artefact.manifest(SITE, 1, DecoderKind.ADAPTED, TRAINED.sha256(), Map.of()), made);
        assertSame(made, served(publish(1, artefact)));
        // By what its bytes are, whatever its version is; and by every reader.
        assertSame(made, served(publish(2, artefact)));
        open(DecoderSubscription.of(Map.of(SITE, TRAINED)), held);
        assertSame(made, served(publish(1, artefact)));
        open(DecoderSubscription.of(Map.of(SITE, TRAINED)), new HeldDecoders());
        assertNotSame(made, served(publish(1, artefact)));
    }

    @Test
    void whatIsHeldIsNotServedForOtherBytesOrAnotherName() {
        HeldDecoders held = new HeldDecoders();
        DecoderFactors factors = factors(Form.OF_RANK);
        Decoder made = factors.of(TRAINED);
        open(DecoderSubscription.of(Map.of(SITE, TRAINED)), held);
        held.hold(
                DecoderArtefact.of(factors, made, Map.of())
                        .manifest(SITE, 1, DecoderKind.ADAPTED, TRAINED.sha256(), Map.of()),
                made);
        // These factors make another decoder than the manifest says, and that one is held.
        DecoderFactors others = factors(Form.UNTURNED);
        String reason = refusal(publish(1, DecoderArtefact.of(others, made, Map.of())));
        assertTrue(reason.startsWith("the decoder made of its factors has sha256 "), reason);
        // Refused, it is not held either: asked again, it is refused again.
        assertTrue(
                refusal(publish(2, DecoderArtefact.of(others, made, Map.of()))).startsWith("the decoder made of"));
    }

    @Test
    void theTrainedDecoderReturnsInAFewHundredBytes() {
        PublishedDecoder published = complete(records(1, DecoderFactors.ofTrained(TRAINED)));
        assertEquals(TRAINED.sha256(), published.decoder().sha256());
        assertTrue(published.manifest().bytes() < 500, published.manifest()::toString);
    }

    /**
     * Tests two readers: one looks at the schema, the other does not: it compares the artefact's bytes with
     * {@code sha256}.
     */
    @Test
    void readersWhoKnowWeightsOnlyRefuseFactorsOrPassThemOver() {
        DecoderFactors factors = factors(Form.UNTURNED);
        DecoderManifest manifest = complete(records(1, factors)).manifest();
        String json = new String(manifest.encode(), StandardCharsets.UTF_8);
        assertTrue(json.contains("\"schema\":2,"), json);
        assertTrue(json.contains("\"encoding\":\"factored\""), json);
        assertNotEquals(manifest.sha256(), manifest.sha256OfArtefact());
        String dense = new String(
                complete(DecoderRecords.of("decoders", SITE, 2, TRAINED.sha256(), TRAINED))
                        .manifest()
                        .encode(),
                StandardCharsets.UTF_8);
        assertTrue(dense.startsWith("{\"schema\":1,"), dense);
        assertTrue(!dense.contains("encoding") && !dense.contains("artefact_sha256"), dense);
    }

    @Test
    void manifestsThatMixTheTwoAreRefused() {
        DecoderManifest manifest = complete(records(1, factors(Form.UNTURNED))).manifest();
        String json = new String(manifest.encode(), StandardCharsets.UTF_8);
        assertEquals(manifest, DecoderManifest.decode(json.getBytes(StandardCharsets.UTF_8)));
        for (String bad : List.of(
                json.replace("\"schema\":2", "\"schema\":1"),
                json.replace("\"schema\":2", "\"schema\":3"),
                json.replace("\"factored\"", "\"sparse\""),
                json.replace("\"artefact_sha256\"", "\"other\""),
                json.replace("\"encoding\"", "\"other\""))) {
            String reason = refusal(assembler.accept(key(SITE), key(bad)));
            assertTrue(reason.contains("manifest of schema"), reason);
        }
    }

    @Test
    void withoutTheTrainedDecoderItIsRefusedWithWhatToDo() {
        open(DecoderSubscription.ofParents(Map.of(SITE, TRAINED.sha256())));
        String reason = refusal(accept(records(1, factors(Form.UNTURNED))));
        assertTrue(reason.contains("subscribe with the trained decoder itself (DecoderSubscription.of)"), reason);
        assertTrue(reason.endsWith("adaptation.encoding: dense"), reason);
        assertInstanceOf(
                Step.Complete.class, accept(DecoderRecords.of("decoders", SITE, 2, TRAINED.sha256(), TRAINED)));
    }

    @Test
    void toListWhatIsThereTheManifestIsEnough() {
        open(DecoderSubscription.everything());
        List<ProducerRecord<byte[], byte[]>> records = records(1, factors(Form.TURNED));
        Step.Listed listed = assertInstanceOf(Step.Listed.class, accept(records));
        assertEquals(SITE, listed.manifest().explainedSite());
        byte[] flipped = records.get(0).value().clone();
        flipped[1_000] ^= 1;
        List<ProducerRecord<byte[], byte[]>> torn = new ArrayList<>(records(2, factors(Form.TURNED)));
        torn.set(0, new ProducerRecord<>("decoders", torn.get(0).key(), flipped));
        assertInstanceOf(Step.Refused.class, accept(torn));
    }

    @Test
    void anotherDecoderThanTheManifestNamesIsRefused() {
        DecoderFactors factors = factors(Form.OF_RANK);
        DecoderArtefact artefact = DecoderArtefact.of(factors, TRAINED, Map.of());
        String reason = refusal(publish(1, artefact));
        assertTrue(reason.startsWith("the decoder made of its factors has sha256 "), reason);
        assertTrue(reason.endsWith("its manifest says " + TRAINED.sha256()), reason);
    }

    @Test
    void factorsThatAreMoreThanTheDecoderAreRefusedUnread() {
        DecoderFactors large = MadeUpFactors.of(Form.UNTURNED, TRAINED, 1, 2 * FEATURES, 3);
        List<ProducerRecord<byte[], byte[]>> records = records(1, large);
        long cap = 4L * (FEATURES * WIDTH + WIDTH) + (1 << 20);
        String reason = refusal(accept(records));
        assertTrue(reason.contains("at most " + cap + " are taken for this site"), reason);
    }

    @Test
    void factorsThatAreNoneAreRefusedThoughTheirSha256Fits() {
        DecoderFactors good = factors(Form.UNTURNED);
        SparseCodes codes = good.codes();
        assertRefused("tensor \"b_dec\" is missing", blob -> {});
        assertRefused("it holds [W_dec]: factors are [b_dec, basis,", blob -> bias(blob)
                .addVector("W_dec", DType.F32, good.bias()));
        assertRefused("expected [32] of F32", blob -> blob.addVector("b_dec", DType.F32, new double[WIDTH - 1]));
        assertRefused("expected [32] of F32", blob -> blob.addVector("b_dec", DType.F64, good.bias()));
        assertRefused("tensor \"feature\" is missing", blob -> bias(blob).add("dual", DType.F32, good.dual()));
        assertRefused("tensor \"dual\" is missing", blob -> codes(bias(blob), codes));
        assertRefused(
                "tensor \"value\" [7] of F32: expected [1500]",
                blob -> addInts(
                        addInts(bias(blob).add("dual", DType.F32, good.dual()), "row_start", codes.rowStart())
                                .addVector("value", DType.F32, new double[7]),
                        "feature",
                        codes.feature()));
        assertRefused(
                "tensor \"dual\" [500, 31] of F32: expected [any, 32]",
                blob -> codes(bias(blob).add("dual", DType.F32, Matrix.zeros(ROWS, WIDTH - 1)), codes));
        assertRefused(
                "tensor \"row_start\" [501] of I32: expected [500]",
                blob -> codes(bias(blob).add("dual", DType.F32, Matrix.zeros(ROWS - 1, WIDTH)), codes));
        assertRefused("tensor \"turn\" [31, 2] of F32: expected [32, any]", blob -> bias(blob)
                .add("turn", DType.F32, Matrix.zeros(WIDTH - 1, 2)));
        assertRefused("turn Matrix[32 x 2] and basis null", blob -> bias(blob)
                .add("turn", DType.F32, Matrix.zeros(WIDTH, 2)));
        int[] beyond = codes.feature().clone();
        beyond[codes.rowStart()[1] - 1] = FEATURES;
        assertRefused("its codes hold feature 6000 after", blob -> with(blob, good, codes.rowStart(), beyond));
        int[] negative = codes.feature().clone();
        negative[0] = -7;
        assertRefused(
                "its codes hold feature -7 after -1 in row 0", blob -> with(blob, good, codes.rowStart(), negative));
        int[] falling = codes.rowStart().clone();
        falling[2] = 0;
        assertRefused("its codes begin row 1 at entry 3", blob -> with(blob, good, falling, codes.feature()));
        int[] huge = codes.rowStart().clone();
        huge[1] = Integer.MAX_VALUE;
        assertRefused("and the next at 2147483647, of", blob -> with(blob, good, huge, codes.feature()));
        Matrix nan = good.dual().copy();
        nan.set(1, 2, Double.NaN);
        assertRefused("its dual holds NaN at place 34", blob -> codes(bias(blob).add("dual", DType.F32, nan), codes));
        Matrix huger = Matrix.zeros(WIDTH, WIDTH);
        Arrays.fill(huger.values(), Float.MAX_VALUE);
        assertRefused("its factors make no decoder: weight 0 of feature", blob -> bias(blob)
                .add("turn", DType.F32, huger));
    }

    private static SafetensorsWriter bias(SafetensorsWriter blob) {
        return blob.addVector("b_dec", DType.F32, new double[WIDTH]);
    }

    private static void with(SafetensorsWriter blob, DecoderFactors good, int[] rowStart, int[] feature) {
        addInts(bias(blob).add("dual", DType.F32, good.dual()), "row_start", rowStart);
        addInts(blob, "feature", feature);
        blob.addVector("value", DType.F32, good.codes().value());
    }

    private static void codes(SafetensorsWriter blob, SparseCodes codes) {
        addInts(blob, "row_start", codes.rowStart());
        addInts(blob, "feature", codes.feature());
        blob.addVector("value", DType.F32, codes.value());
    }

    private static SafetensorsWriter addInts(SafetensorsWriter blob, String name, int[] values) {
        ByteBuffer bytes = ByteBuffer.allocate(4 * values.length).order(ByteOrder.LITTLE_ENDIAN);
        bytes.asIntBuffer().put(values);
        return blob.addRaw(name, DType.I32, new long[] {values.length}, bytes);
    }

    private void assertRefused(String words, Consumer<SafetensorsWriter> content) {
        SafetensorsWriter writer = SafetensorsWriter.create();
        content.accept(writer);
        byte[] blob = writer.toBytes();
        for (int index = 0; index < DecoderChunk.chunksOf(blob.length); index++) {
            int from = index * DecoderChunk.PAYLOAD_BYTES;
            int length = Math.min(DecoderChunk.PAYLOAD_BYTES, blob.length - from);
            byte[] chunk =
                    DecoderChunk.begin(1, index, length).put(blob, from, length).array();
            assertEquals(new Step.Taken(), assembler.accept(key(SITE + "#" + index), chunk));
        }
        DecoderManifest manifest = new DecoderManifest(
                DecoderManifest.SCHEMA,
                SITE,
                1,
                DecoderKind.ADAPTED,
                DecoderManifest.FACTORED,
                TRAINED.sha256(),
                "0".repeat(64),
                HexFormat.of().formatHex(DecoderArtefact.newSha256().digest(blob)),
                blob.length,
                DecoderChunk.chunksOf(blob.length),
                Map.of());
        String reason = refusal(assembler.accept(key(SITE), manifest.encode()));
        assertTrue(reason.contains(words), reason);
    }

    private Step publish(long version, DecoderArtefact artefact) {
        artefact.cut(version, (index, chunk) -> assembler.accept(key(SITE + "#" + index), chunk));
        return assembler.accept(
                key(SITE),
                artefact.manifest(SITE, version, DecoderKind.ADAPTED, TRAINED.sha256(), Map.of())
                        .encode());
    }

    private static DecoderFactors factors(Form form) {
        return MadeUpFactors.of(form, TRAINED, 4, ROWS, 3);
    }

    private static List<ProducerRecord<byte[], byte[]>> records(long version, DecoderFactors factors) {
        return DecoderRecords.of("decoders", SITE, version, TRAINED, factors);
    }

    private PublishedDecoder complete(List<ProducerRecord<byte[], byte[]>> records) {
        return assertInstanceOf(Step.Complete.class, accept(records)).decoder();
    }

    /** Returns what the last record, the manifest, came to. */
    private Step accept(List<ProducerRecord<byte[], byte[]>> records) {
        Step step = new Step.Taken();
        for (ProducerRecord<byte[], byte[]> record : records) {
            step = assembler.accept(record.key(), record.value());
        }
        return step;
    }

    private static Decoder served(Step step) {
        return assertInstanceOf(Step.Complete.class, step).decoder().decoder();
    }

    private void open(DecoderSubscription subscription) {
        open(subscription, new HeldDecoders());
    }

    private void open(DecoderSubscription subscription, HeldDecoders held) {
        if (assembler != null) {
            assembler.close();
        }
        assembler = new DecoderAssembler(subscription.spooledIn(folder), held);
    }

    private static String refusal(Step step) {
        return assertInstanceOf(Step.Refused.class, step).reason();
    }

    private static byte[] key(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
