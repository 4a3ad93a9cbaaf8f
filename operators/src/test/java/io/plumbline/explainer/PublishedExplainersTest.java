package io.plumbline.explainer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.formats.Formats;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Compares explainers with what each one's own library computed in float64. */
class PublishedExplainersTest {

    @TempDir
    Path scratch;

    static List<PublishedCase> read() {
        return PublishedCase.all().stream().filter(PublishedCase::isRead).toList();
    }

    static List<PublishedCase> refused() {
        return PublishedCase.all().stream()
                .filter(published -> !published.isRead())
                .toList();
    }

    @ParameterizedTest
    @MethodSource("read")
    void codesReconstructionsAndFvuAreThoseOfTheLibrary(PublishedCase published) throws IOException {
        Explainer explainer = Formats.read(published.explainer(), published.options());
        Matrix activations = published.activations();
        SparseCodes codes = explainer.encoder().encode(activations);
        assertCodes(published, codes.toDense());
        Matrix reconstructions =
                explainer.space().toTargets(activations, explainer.decoder().reconstruct(codes));
        assertClose(Objects.requireNonNull(published.io("reconstructions")), reconstructions, 1e-6);
        double fvu = fvu(reconstructions, published.targets());
        assertEquals(published.fvu(), fvu, published.tolerance("fvu_relative") * published.fvu());
        assertEquals(published.json().get("transcoder").asBoolean(), explainer.isTranscoder());
    }

    @ParameterizedTest
    @MethodSource("read")
    void sizesAreKnownBeforeWeightsAreRead(PublishedCase published) throws IOException {
        Explainer explainer = Formats.read(published.explainer(), published.options());
        ExplainerShape shape = Formats.shape(published.explainer(), published.options());
        assertEquals(explainer.inputWidth(), shape.inputWidth());
        assertEquals(explainer.targetWidth(), shape.targetWidth());
        assertEquals(explainer.features(), shape.features());
        assertEquals(explainer.isTranscoder(), shape.transcoder());
        SparseCodes codes = explainer.encoder().encode(published.activations());
        for (int row = 0; row < codes.rows(); row++) {
            assertTrue(codes.rowStart()[row + 1] - codes.rowStart()[row] <= shape.mostActive());
        }
        if (shape.floats()) {
            assertTrue(explainer.decoder().weights().areFloats());
        }
    }

    /** Tests hashes that the Python client computes, too, by the same order of sums. */
    @ParameterizedTest
    @CsvSource({
        "saelens_trained_topk, 3adec992e91e0e30cdd037882aa4f72d3b6e8597c83baaea86beb61dfa0af8a8",
        "saelens_topk_rescaled, fa1ca5049ebcdbeb9e39a148424763fcb82cc0da1b6874e32a7fcb64dbf1d3f7",
        "saelens_topk, 99444e2f37a6e315c87c8b419591b90ce7f4f82b082ab061e12640a572247d9c"
    })
    void theIdentityOfADecoderIsTheOneThatClientsCompute(String name, String sha256) throws IOException {
        PublishedCase published = PublishedCase.named(name);
        Decoder decoder =
                Formats.read(published.explainer(), published.options()).decoder();
        assertEquals(sha256, decoder.sha256());
    }

    /** Tests the rows that the decoder should write, and back. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "saelens_layer_norm",
                "saelens_constant_norm_rescale",
                "saelens_skip_transcoder",
                "sparsify_skip_autoencoder",
                "gemma_scope_2_transcoder_affine"
            })
    void errorsAreThoseOfTheRowsThatTheDecoderWrites(String name) throws IOException {
        PublishedCase published = PublishedCase.named(name);
        Explainer explainer = Formats.read(published.explainer());
        Matrix activations = published.activations();
        DecoderSpace space = explainer.space();
        assertTrue(!space.isPlain() && !space.describe().isEmpty());
        Matrix rows = space.of(activations, published.targets());
        assertClose(published.targets(), space.targets(activations, rows), 1e-12);
        // The least squares problem of the decoder is solved near the trained one in its own space.
        Matrix decoded = explainer.decoder().reconstruct(explainer.encoder().encode(activations));
        assertTrue(fvu(decoded, rows) < 0.9, () -> "FVU of the rows that are decoded " + fvu(decoded, rows));
    }

    @ParameterizedTest
    @MethodSource("read")
    void anAdaptedDecoderIsReadBackAndNoCodeMoves(PublishedCase published) throws IOException {
        Explainer explainer = Formats.read(published.explainer(), published.options());
        if (explainer.origin().notRefitted() != null) {
            assertThrows(
                    ExplainerFormatException.class,
                    () -> Formats.writeAdapted(
                            explainer, explainer.decoder(), DType.F32, Map.of(), scratch.resolve("no")));
            return;
        }
        Decoder adapted = moved(explainer.decoder());
        Path out = scratch.resolve("adapted");
        Formats.writeAdapted(explainer, adapted, DType.F32, Map.of("plumbline.parent", "abc"), out);
        Explainer back = Formats.read(out);
        assertEquals(explainer.architecture(), back.architecture());
        Matrix activations = published.activations();
        Matrix expected = explainer.encoder().encode(activations).toDense();
        assertSameCodes(expected, back.encoder().encode(activations).toDense(), 1e-6 * largest(expected));
        assertClose(adapted.weights().toMatrix(), back.decoder().weights().toMatrix(), 1e-6);
        assertEquals(explainer.space().isPlain(), back.space().isPlain());
    }

    @ParameterizedTest
    @MethodSource("refused")
    void whatIsNoFunctionOfOneRowAtOneSiteIsRefusedWithWhatToDo(PublishedCase published) {
        String message = refusal(published.explainer(), ExplainerOptions.NONE);
        assertTrue(message.startsWith(published.explainer().toString()), message);
        assertTrue(message.contains("watch") || message.contains("save"), message);
    }

    @Test
    void aFactThatIsInNoFileIsAskedForByTheNameOfItsOption() {
        for (Map.Entry<String, String> asked : Map.of(
                        "gemma_scope_1_residual", "kind=sae",
                        "qwen_scope", "k=50",
                        "llama_scope_r1_distill", "norm=FACTOR",
                        "circuit_tracer_relu", "layer=N")
                .entrySet()) {
            PublishedCase published = PublishedCase.named(asked.getKey());
            String message = refusal(published.explainer(), ExplainerOptions.NONE);
            assertTrue(message.contains("--explainer-option " + asked.getValue()), message);
        }
    }

    @Test
    void anOptionWithoutMeaningIsRefused() {
        ExplainerOptions layer = new ExplainerOptions(Map.of("layer", "3"));
        String message = refusal(PublishedCase.named("saelens_topk").explainer(), layer);
        assertTrue(message.contains("option layer = 3 has no meaning for SAELens"), message);
        assertTrue(refusal(PublishedCase.named("circuit_tracer_relu").explainer(), layer)
                .contains(
                        "there is no layer_3.safetensors; the folder has [layer_0.safetensors, layer_1.safetensors]"));
        for (String wrong : List.of("k=0", "k=x", "kind=lora", "layer=-1", "norm=0", "norm=NaN", "size=3", "k")) {
            assertThrows(IllegalArgumentException.class, () -> ExplainerOptions.parse(List.of(wrong)), wrong);
        }
        assertThrows(IllegalArgumentException.class, () -> ExplainerOptions.parse(List.of("k=2", "k=3")));
    }

    @Test
    void theFileOfALayerStandsForItsSet() throws IOException {
        PublishedCase published = PublishedCase.named("circuit_tracer_topk");
        Explainer byPath = Formats.read(published.explainer().resolve("layer_1.safetensors"));
        Explainer byOption = Formats.read(published.explainer(), published.options());
        assertEquals(byOption.decoder(), byPath.decoder());
        Matrix rows = Matrix.identity(byOption.inputWidth());
        assertEquals(byOption.encoder().encode(rows), byPath.encoder().encode(rows));
    }

    @Test
    void aFolderOfFoldersNamesTheOneThatHoldsAnExplainer() throws IOException {
        Path parent = PublishedCase.named("sparsify_topk").explainer().getParent();
        String message = refusal(parent, ExplainerOptions.NONE);
        assertTrue(message.contains("but its folder layers.5 does (sparsify): give that one"), message);
        Path empty = Files.createDirectory(scratch.resolve("empty"));
        assertTrue(refusal(empty, ExplainerOptions.NONE).contains("holds no explainer; supported: "));
    }

    private static String refusal(Path path, ExplainerOptions options) {
        return String.valueOf(assertThrows(ExplainerFormatException.class, () -> Formats.read(path, options))
                .getMessage());
    }

    /** Returns another decoder that is exact in float32. */
    private static Decoder moved(Decoder decoder) {
        Matrix weights = decoder.weights().toMatrix();
        double[] bias = decoder.bias().clone();
        for (int i = 0; i < weights.values().length; i++) {
            weights.values()[i] = (float) (weights.values()[i] * 1.25 + 0.01);
        }
        for (int i = 0; i < bias.length; i++) {
            bias[i] = (float) (bias[i] + 0.5);
        }
        return new Decoder(weights, bias);
    }

    /** Codes of OpenMOSS are those times the length of the decoder's row: one positive factor a feature. */
    private static void assertCodes(PublishedCase published, Matrix codes) throws IOException {
        Matrix expected = Objects.requireNonNull(published.io("codes")).copy();
        if (published.toString().startsWith("openmoss") || published.toString().startsWith("llama_scope")) {
            for (int j = 0; j < codes.columns(); j++) {
                double factor = factor(expected, codes, j);
                for (int i = 0; i < codes.rows(); i++) {
                    expected.set(i, j, expected.get(i, j) * factor);
                }
            }
        }
        assertSameCodes(expected, codes, published.tolerance("codes_relative_to_largest") * largest(expected));
    }

    private static double factor(Matrix expected, Matrix codes, int feature) {
        for (int i = 0; i < codes.rows(); i++) {
            if (expected.get(i, feature) != 0.0 && codes.get(i, feature) != 0.0) {
                double factor = codes.get(i, feature) / expected.get(i, feature);
                assertTrue(factor > 0.0, "feature " + feature);
                return factor;
            }
        }
        return 1.0;
    }

    /** Requires that the same features are active but where a code is within the tolerance of nothing. */
    private static void assertSameCodes(Matrix expected, Matrix actual, double tolerance) {
        assertClose(expected, actual, tolerance);
        for (int i = 0; i < expected.values().length; i++) {
            if (Math.abs(expected.values()[i]) > tolerance) {
                assertTrue(actual.values()[i] != 0.0, "code " + i);
            }
        }
    }

    private static void assertClose(Matrix expected, Matrix actual, double tolerance) {
        assertEquals(expected.rows(), actual.rows());
        assertEquals(expected.columns(), actual.columns());
        for (int i = 0; i < expected.values().length; i++) {
            int at = i;
            assertEquals(expected.values()[i], actual.values()[i], tolerance * 1.5 + 1e-6, () -> "entry " + at);
        }
    }

    private static double largest(Matrix matrix) {
        double largest = 0.0;
        for (double value : matrix.values()) {
            largest = Math.max(largest, Math.abs(value));
        }
        return largest;
    }

    private static double fvu(Matrix reconstructions, Matrix targets) {
        double[] mean = new double[targets.columns()];
        for (int i = 0; i < targets.values().length; i++) {
            mean[i % mean.length] += targets.values()[i] / targets.rows();
        }
        double errors = 0.0;
        double spread = 0.0;
        for (int i = 0; i < targets.values().length; i++) {
            double error = targets.values()[i] - reconstructions.values()[i];
            double distance = targets.values()[i] - mean[i % mean.length];
            errors += error * error;
            spread += distance * distance;
        }
        return errors / spread;
    }
}
