package io.plumbline.explainer.formats;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.ExplainerShape;
import io.plumbline.explainer.JumpReluEncoder;
import io.plumbline.explainer.ReluEncoder;
import io.plumbline.explainer.SaeLensFolder;
import io.plumbline.explainer.TopKEncoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import io.plumbline.wire.TensorEntry;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SplittableRandom;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SaeLensFormatTest {

    private static final Matrix ROWS = SaeLensFolder.random(new SplittableRandom(5), 20, SaeLensFolder.INPUTS);

    @TempDir
    Path folder;

    @Test
    void standardIsRelu() throws IOException {
        SaeLensFolder made = SaeLensFolder.autoencoder("standard");
        Explainer explainer = read(made);
        assertInstanceOf(ReluEncoder.class, explainer.encoder());
        assertFalse(explainer.isTranscoder());
        assertEquals(3, explainer.inputWidth());
        assertEquals(3, explainer.targetWidth());
        assertEquals(5, explainer.features());
        assertEquals(made.tensor("W_dec"), explainer.decoder().weights().toMatrix());
        assertArrayEquals(made.tensor("b_dec").values(), explainer.decoder().bias());
        assertEquals(plainRelu(made).encode(ROWS), explainer.encoder().encode(ROWS));
    }

    @Test
    void howMuchMemoryWeightsTakeIsKnownBeforeTheyAreRead() throws IOException {
        SaeLensFolder made = SaeLensFolder.autoencoder("standard");
        ExplainerShape narrow =
                Formats.shape(made.as(DType.BF16).writeTo(folder.resolve("narrow")), ExplainerOptions.NONE);
        assertEquals(Float.BYTES, narrow.decoderWeightBytes());
        assertEquals(Double.BYTES, narrow.encoderWeightBytes(), "small encoders are held in float64");
        ExplainerShape wide = Formats.shape(made.as(DType.F64).writeTo(folder.resolve("wide")), ExplainerOptions.NONE);
        assertEquals(Double.BYTES, wide.decoderWeightBytes());
        assertEquals(Float.BYTES, new ExplainerShape(1024, 8, 1024, false, 1024, true).encoderWeightBytes());
        assertEquals(Double.BYTES, new ExplainerShape(1024, 8, 1024, false, 1024, false).encoderWeightBytes());
        ExplainerShape layers = new ExplainerShape(12 * 768, 768, 12 * 1024, true, 12 * 1024, true).ofLayers(12);
        assertEquals(12L * 768 * 1024, layers.encoderWeights());
        assertEquals(Double.BYTES, layers.encoderWeightBytes(), "each layer of them is small");
        Files.writeString(folder.resolve("narrow/sae_weights.safetensors"), "no header");
        assertEquals(
                narrow,
                Formats.shape(folder.resolve("narrow"), ExplainerOptions.NONE),
                "what is broken is refused when it is read");
    }

    @Test
    void topKTakesKFromWhereverItStands() throws IOException {
        assertEquals(2, k(SaeLensFolder.autoencoder("topk").with("k", "2")));
        assertEquals(
                2,
                k(SaeLensFolder.autoencoder("standard")
                        .with("activation_fn_str", "\"topk\"")
                        .with("activation_fn_kwargs", "{\"k\": 2}")));
        assertEquals(2, k(SaeLensFolder.autoencoder("topk").with("k", "2.0")));
    }

    @Test
    void transcodersAreReluWhateverTheySayOfTopKAsInSaeLens() throws IOException {
        SaeLensFolder made = SaeLensFolder.transcoder(4).with("k", "2").with("activation_fn", "\"topk\"");
        Explainer explainer = read(made);
        assertInstanceOf(ReluEncoder.class, explainer.encoder());
        assertEquals(plainRelu(made).encode(ROWS), explainer.encoder().encode(ROWS));
        assertTrue(explainer.origin().notes().get(0).contains("ReLU is computed"), explainer.toString());
        assertInstanceOf(
                ReluEncoder.class,
                read(SaeLensFolder.transcoder(4).with("k", "2")).encoder());
    }

    @Test
    void aReluTranscoderKeepsTheLargestWhereTheUserSaysThatItWasTrainedSo() throws IOException {
        SaeLensFolder made = SaeLensFolder.transcoder(4).with("activation_fn", "\"topk\"");
        Path source = made.writeTo(folder.resolve("trained"));
        ExplainerOptions two = new ExplainerOptions(Map.of(ExplainerOptions.K, "2"));
        Explainer explainer = Formats.read(source, two);
        assertEquals(2, assertInstanceOf(TopKEncoder.class, explainer.encoder()).k());
        assertTrue(explainer.isTranscoder());
        assertEquals(2, Formats.shape(source, two).mostActive());
        Path out = folder.resolve("adapted");
        Formats.writeAdapted(explainer, otherDecoder(5, 4), DType.F32, Map.of(), out);
        assertEquals(
                explainer.encoder().encode(ROWS),
                Formats.read(out, two).encoder().encode(ROWS));
        assertThrows(ExplainerFormatException.class, () -> Formats.read(out), "without the option it is another");
        ExplainerOptions many = new ExplainerOptions(Map.of(ExplainerOptions.K, "6"));
        assertThrows(ExplainerFormatException.class, () -> Formats.read(source, many));
        Path standard = SaeLensFolder.autoencoder("standard").writeTo(folder.resolve("standard"));
        assertThrows(ExplainerFormatException.class, () -> Formats.read(standard, two));
    }

    @Test
    void keysThatSaeLensDoesNotKnowForAKindChangeNothing() throws IOException {
        SaeLensFolder made = SaeLensFolder.autoencoder("standard")
                .with("rescale_acts_by_decoder_norm", "true")
                .with("k", "2");
        assertEquals(plainRelu(made).encode(ROWS), read(made).encoder().encode(ROWS));
        SaeLensFolder newer = SaeLensFolder.autoencoder("standard")
                .with("metadata", "{\"sae_lens_version\": \"6.1.0\"}")
                .with("activation_fn", "\"topk\"")
                .with("activation_fn_kwargs", "{\"k\": 2}");
        assertInstanceOf(ReluEncoder.class, read(newer).encoder(), "the rule for old folders ends with version 6");
    }

    @Test
    void rescaledTopKIsFoldedAndItsFlagClearedWhenItIsAdapted() throws IOException {
        Path source = SaeLensFolder.autoencoder("topk")
                .with("k", "2")
                .with("rescale_acts_by_decoder_norm", "true")
                .with("dtype", "\"float16\"")
                .as(DType.F16)
                .writeTo(folder.resolve("trained"));
        Explainer original = Formats.read(source);
        Path out = folder.resolve("adapted");
        Formats.writeAdapted(original, otherDecoder(5, 3), DType.F32, Map.of(), out);
        assertEquals(
                original.encoder().encode(ROWS), Formats.read(out).encoder().encode(ROWS), "not a code has moved");
        String config = Files.readString(out.resolve("cfg.json"));
        assertTrue(config.contains("\"rescale_acts_by_decoder_norm\" : false"), config);
        assertTrue(config.contains("\"dtype\" : \"float32\""), config);
    }

    @Test
    void aTensorThatLiesInPiecesIsCopiedAsItIs() {
        ByteBuffer values = ByteBuffer.allocate(24).order(ByteOrder.LITTLE_ENDIAN);
        for (int i = 0; i < 6; i++) {
            values.putFloat(4 * i, i);
        }
        List<ByteBuffer> pieces = List.of(values.slice(0, 16), values.slice(16, 8));
        Tensor large = new Tensor(new TensorEntry("W_enc", DType.F32, List.of(3L, 2L), 0, 24, 0), () -> pieces);
        SafetensorsWriter writer = SafetensorsWriter.create();
        AdaptedFolder.addUntouched(writer, large);
        Tensor copied = Safetensors.parse(writer.toBytes()).tensor("W_enc");
        assertEquals(new Matrix(3, 2, new double[] {0, 1, 2, 3, 4, 5}), copied.toMatrix());
        List<ByteBuffer> half = pieces.subList(0, 1);
        long[] shape = {3, 2};
        assertThrows(IllegalArgumentException.class, () -> writer.addRaw("half", DType.F32, shape, half));
    }

    @Test
    void transcoderDecodesToItsOwnWidth() throws IOException {
        SaeLensFolder made = SaeLensFolder.transcoder(4);
        Explainer explainer = read(made);
        assertInstanceOf(ReluEncoder.class, explainer.encoder());
        assertTrue(explainer.isTranscoder());
        assertEquals(3, explainer.inputWidth());
        assertEquals(4, explainer.targetWidth());
        assertInstanceOf(
                ReluEncoder.class,
                read(SaeLensFolder.transcoder(4)
                                .with("activation_fn", "\"relu\"")
                                .with("k", "2"))
                        .encoder());
    }

    @Test
    void jumpReluReadsItsThresholdAndTakesNegativeOnesForZero() throws IOException {
        Matrix threshold = new Matrix(1, 5, new double[] {0.25, 0, -1, 0.5, 0.125});
        SaeLensFolder made = SaeLensFolder.autoencoder("jumprelu").tensor("threshold", threshold);
        double[] clamped = {0.25, 0, 0, 0.5, 0.125};
        Encoder expected = JumpReluEncoder.of(
                made.tensor("W_enc").transpose(), made.tensor("b_enc").values(), clamped);
        assertEquals(expected.encode(ROWS), read(made).encoder().encode(ROWS));
        SaeLensFolder transcoder = SaeLensFolder.transcoder(4)
                .with("architecture", "\"jumprelu_transcoder\"")
                .tensor("threshold", threshold);
        assertEquals(expected.encode(ROWS), read(transcoder).encoder().encode(ROWS));
        assertTrue(read(transcoder).isTranscoder());
    }

    @Test
    void decoderBiasSubtractedFromTheInputIsFolded() throws IOException {
        SaeLensFolder made = SaeLensFolder.autoencoder("standard").with("apply_b_dec_to_input", "true");
        Matrix shifted = ROWS.copy();
        for (int i = 0; i < shifted.values().length; i++) {
            shifted.values()[i] -= made.tensor("b_dec").values()[i % SaeLensFolder.INPUTS];
        }
        double[] expected = plainRelu(made).encode(shifted).toDense().values();
        assertArrayEquals(expected, read(made).encoder().encode(ROWS).toDense().values(), 1e-14);
        // What SAELens takes when the key is absent.
        assertArrayEquals(
                expected,
                read(made.without("apply_b_dec_to_input"))
                        .encoder()
                        .encode(ROWS)
                        .toDense()
                        .values(),
                1e-14);
    }

    @Test
    void transcoderWithoutTheFlagSubtractsNothing() throws IOException {
        SaeLensFolder made = SaeLensFolder.transcoder(3).without("apply_b_dec_to_input");
        assertEquals(plainRelu(made).encode(ROWS), read(made).encoder().encode(ROWS));
    }

    @Test
    void orientationIsToldByTheShapes() throws IOException {
        SaeLensFolder made = SaeLensFolder.transcoder(4);
        Explainer expected = read(made);
        made.tensor("W_enc", made.tensor("W_enc").transpose())
                .tensor("W_dec", made.tensor("W_dec").transpose());
        Explainer turned = read(made);
        assertEquals(expected.decoder(), turned.decoder());
        assertEquals(expected.encoder().encode(ROWS), turned.encoder().encode(ROWS));
    }

    @Test
    void squareMatricesAreTakenAsSaeLensStoresThem() throws IOException {
        SplittableRandom random = new SplittableRandom(9);
        Matrix square = SaeLensFolder.random(random, 3, 3);
        SaeLensFolder made = SaeLensFolder.autoencoder("standard")
                .with("d_sae", "3")
                .tensor("W_enc", square)
                .tensor("W_dec", square)
                .tensor("b_enc", Matrix.zeros(1, 3));
        Explainer explainer = read(made);
        assertEquals(square, explainer.decoder().weights().toMatrix());
        assertEquals(plainRelu(made).encode(ROWS), explainer.encoder().encode(ROWS));
    }

    @Test
    void nestedAndOldConfigurationsAreUnderstood() throws IOException {
        SaeLensFolder made = SaeLensFolder.autoencoder("standard")
                .without("architecture")
                .with("normalize_activations", "false")
                .with("activation_fn_str", "\"relu\"")
                .with("finetuning_scaling_factor", "false")
                .with("hook_point", "\"blocks.7\"")
                .tensor("scaling_factor", new Matrix(1, 5, new double[] {1, 1, 1, 1, 1}));
        assertEquals("standard", read(made).architecture());
        Path nested = SaeLensFolder.autoencoder("standard").writeTo(folder.resolve("nested"));
        String inner = Files.readString(nested.resolve("cfg.json"));
        Files.writeString(nested.resolve("cfg.json"), "{\"lr\": 0.1, \"sae\": " + inner + "}");
        assertEquals(5, Formats.read(nested).features());
    }

    @ParameterizedTest
    @ValueSource(strings = {"F64", "F32"})
    void adaptedFolderHasTheNewDecoderAndTheOldEncoderBytes(String dtype) throws IOException {
        Path source =
                SaeLensFolder.autoencoder("topk").with("k", "2").as(DType.F16).writeTo(folder.resolve("trained"));
        Explainer original = Formats.read(source);
        Decoder adapted = otherDecoder(5, 3);
        Path out = folder.resolve("adapted");
        Formats.writeAdapted(original, adapted, DType.valueOf(dtype), Map.of("plumbline.parent", "abc"), out);
        Explainer back = Formats.read(out);
        assertEquals(adapted, back.decoder());
        assertEquals(original.encoder().encode(ROWS), back.encoder().encode(ROWS));
        assertArrayEquals(Files.readAllBytes(source.resolve("cfg.json")), Files.readAllBytes(out.resolve("cfg.json")));
        try (Safetensors before = weights(source);
                Safetensors after = weights(out)) {
            for (String name : List.of("W_enc", "b_enc")) {
                assertEquals(before.tensor(name).dtype(), after.tensor(name).dtype());
                assertEquals(before.tensor(name).shape(), after.tensor(name).shape());
                assertEquals(before.tensor(name).bytes(), after.tensor(name).bytes());
            }
            assertEquals(DType.valueOf(dtype), after.tensor("W_dec").dtype());
            assertEquals("pt", after.metadata().get("format"));
            assertEquals("abc", after.metadata().get("plumbline.parent"));
            assertEquals(before.names(), Set.copyOf(after.names()));
        }
        assertEquals(Set.of(source, out), entries(folder));
    }

    @Test
    void foldedEncoderAnswersTheSameAfterTheDecoderIsSwapped() throws IOException {
        Path source = SaeLensFolder.autoencoder("standard")
                .with("apply_b_dec_to_input", "true")
                .with("metadata", "{\"hook_name\": \"blocks.7\"}")
                .writeTo(folder.resolve("trained"));
        Explainer original = Formats.read(source);
        Path out = folder.resolve("adapted");
        Formats.writeAdapted(original, otherDecoder(5, 3), DType.F32, Map.of(), out);
        Explainer back = Formats.read(out);
        assertEquals(original.encoder().encode(ROWS), back.encoder().encode(ROWS));
        String config = Files.readString(out.resolve("cfg.json"));
        assertTrue(config.contains("\"apply_b_dec_to_input\" : false"), config);
        assertTrue(config.contains("blocks.7"), config);
        try (Safetensors before = weights(source);
                Safetensors after = weights(out)) {
            assertEquals(before.tensor("W_enc").bytes(), after.tensor("W_enc").bytes());
        }
        // Once more from the adapted folder: nothing is folded twice.
        Formats.writeAdapted(back, otherDecoder(5, 3), DType.F32, Map.of(), folder.resolve("again"));
        assertEquals(
                original.encoder().encode(ROWS),
                Formats.read(folder.resolve("again")).encoder().encode(ROWS));
    }

    @Test
    void adaptedDecoderIsStoredTheWayTheOriginalWas() throws IOException {
        SaeLensFolder made = SaeLensFolder.transcoder(4);
        made.tensor("W_dec", made.tensor("W_dec").transpose());
        Explainer original = read(made);
        Decoder adapted = otherDecoder(5, 4);
        Path out = folder.resolve("out");
        Formats.writeAdapted(original, adapted, DType.F64, Map.of(), out);
        assertEquals(adapted, Formats.read(out).decoder());
        try (Safetensors after = weights(out)) {
            assertEquals(List.of(4L, 5L), after.tensor("W_dec").shape());
        }
    }

    @Test
    void nothingIsWrittenForADecoderThatDoesNotFit() throws IOException {
        Explainer original = read(SaeLensFolder.autoencoder("standard"));
        Path out = folder.resolve("out");
        Decoder broken = otherDecoder(5, 3);
        broken.bias()[1] = Double.NaN;
        Matrix large = broken.weights().toMatrix();
        large.values()[2] = 1e39;
        Decoder beyondFloat = new Decoder(large, new double[3]);
        Decoder wide = otherDecoder(5, 4);
        Map<String, String> lineage = Map.of();
        assertThrows(
                IllegalArgumentException.class, () -> Formats.writeAdapted(original, broken, DType.F64, lineage, out));
        assertThrows(
                IllegalArgumentException.class,
                () -> Formats.writeAdapted(original, beyondFloat, DType.F32, lineage, out));
        assertThrows(
                IllegalArgumentException.class, () -> Formats.writeAdapted(original, wide, DType.F64, lineage, out));
        Decoder sound = otherDecoder(5, 3);
        assertThrows(
                IllegalArgumentException.class, () -> Formats.writeAdapted(original, sound, DType.F16, lineage, out));
        read(SaeLensFolder.autoencoder("standard").tensor("b_dec", Matrix.zeros(1, 3)));
        ExplainerFormatException e = assertThrows(
                ExplainerFormatException.class, () -> Formats.writeAdapted(original, sound, DType.F32, lineage, out));
        assertTrue(String.valueOf(e.getMessage()).contains("no longer the one that was read"), e.getMessage());
        assertFalse(Files.exists(out));
    }

    private Explainer read(SaeLensFolder made) throws IOException {
        return Formats.read(made.writeTo(folder.resolve("explainer")));
    }

    private int k(SaeLensFolder made) throws IOException {
        return assertInstanceOf(TopKEncoder.class, read(made).encoder()).k();
    }

    private static Encoder plainRelu(SaeLensFolder made) {
        return ReluEncoder.of(
                made.tensor("W_enc").transpose(), made.tensor("b_enc").values());
    }

    private static Decoder otherDecoder(int features, int dimension) {
        SplittableRandom random = new SplittableRandom(77);
        return new Decoder(
                SaeLensFolder.random(random, features, dimension),
                SaeLensFolder.random(random, 1, dimension).values());
    }

    private static Safetensors weights(Path directory) throws IOException {
        return Safetensors.open(directory.resolve("sae_weights.safetensors"));
    }

    private static Set<Path> entries(Path directory) throws IOException {
        try (Stream<Path> entries = Files.list(directory)) {
            return entries.collect(Collectors.toSet());
        }
    }
}
