package io.plumbline.explainer;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.formats.Formats;
import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import java.io.IOException;
import java.io.RandomAccessFile;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests that what changes the arithmetic and is not supported is refused by its name. */
class SaeLensRefusalTest {

    private static final String SUPPORTED =
            "supported: standard, topk, jumprelu, gated, abstopk, matching_pursuit, transcoder, skip_transcoder, "
                    + "jumprelu_transcoder, jumprelu_skip_transcoder";

    @TempDir
    Path folder;

    @ParameterizedTest
    @ValueSource(strings = {"crosscoder", "skip"})
    void otherArchitecturesAreRefusedByName(String architecture) throws IOException {
        refused(
                SaeLensFolder.autoencoder(architecture).with("d_out", "3"),
                "cfg.json: architecture \"" + architecture + "\" is not supported; " + SUPPORTED);
    }

    @Test
    void whatIsNoFunctionOfOneRowAndCheckpointsAreRefusedWithWhatToDo() throws IOException {
        refused(standard().with("architecture", "\"temporal\""), "depend on the rows before a row in its sequence");
        refused(standard().with("architecture", "\"batchtopk\""), "save it with SAELens' save_inference_model");
        refused(standard().with("architecture", "\"matryoshka_batchtopk\""), "save_inference_model");
        refused(
                SaeLensFolder.transcoder(4)
                        .with("activation_fn", "\"topk\"")
                        .with("activation_fn_kwargs", "{\"k\": 2}"),
                "SAELens has no TopK transcoder; write the weights as EleutherAI's sparsify does");
    }

    @ParameterizedTest
    @ValueSource(strings = {"\"covariance_whitening\"", "\"constant_scalar_rescale\"", "\"new\""})
    void otherNormalisationsAreRefusedByName(String normalisation) throws IOException {
        refused(
                standard().with("normalize_activations", normalisation),
                "normalize_activations = " + normalisation
                        + " is not supported; supported: none, constant_norm_rescale");
    }

    @Test
    void factorsAreRefusedByName() throws IOException {
        String key = "finetuning_scaling_factor";
        refused(standard().with(key, "true"), key + " = true is not supported");
        refused(standard().with(key, "\"yes\""), key + " = \"yes\": expected true or false");
        refused(
                SaeLensFolder.autoencoder("topk").with("k", "2").with("rescale_acts_by_decoder_norm", "1"),
                "rescale_acts_by_decoder_norm = 1: expected true or false");
    }

    @Test
    void otherActivationsAndShapesAreRefusedByName() throws IOException {
        refused(standard().with("activation_fn", "\"tanh-relu\""), "activation_fn \"tanh-relu\" is not supported");
        refused(standard().with("reshape_activations", "\"fold\""), "reshape_activations = \"fold\" is not supported");
        refused(standard().with("architecture", "3"), "architecture = 3: expected a string");
    }

    @Test
    void kMustBeAWholeNumberOfFeatures() throws IOException {
        for (String k : new String[] {"0", "6", "1.5", "\"2\"", "99999999999"}) {
            refused(
                    SaeLensFolder.autoencoder("topk").with("k", k),
                    "k = " + k + ": expected a whole number in 1 .. d_sae = 5");
        }
        refused(SaeLensFolder.autoencoder("topk"), "k = 100: expected a whole number in 1 .. d_sae = 5");
    }

    @Test
    void widthsMustBeThereAndFit() throws IOException {
        refused(standard().without("d_in"), "d_in = (absent): expected a width, a whole number from 1 to 2147483647");
        refused(standard().with("d_sae", "0"), "d_sae = 0: expected a width, a whole number from 1 to 2147483647");
        refused(
                standard().with("d_sae", "99999999999"),
                "d_sae = 99999999999: expected a width, a whole number from 1 to 2147483647");
        refused(
                SaeLensFolder.transcoder(4).without("d_out"),
                "tensor \"W_dec\": shape [5, 4], expected [5, 768] (d_sae x d_out of cfg.json)");
        refused(standard().with("d_out", "4"), "d_out = 4 and d_in = 3 differ; expected architecture \"transcoder\"");
    }

    @Test
    void decoderBiasOfAnotherWidthCannotBeSubtractedFromTheInput() throws IOException {
        refused(
                SaeLensFolder.transcoder(4).with("apply_b_dec_to_input", "true"),
                "cfg.json: apply_b_dec_to_input = true for a transcoder: b_dec is of the output");
    }

    @Test
    void tensorsMustBeThereInTheirShapes() throws IOException {
        refused(
                standard().tensor("W_enc", Matrix.zeros(3, 4)),
                "tensor \"W_enc\": shape [3, 4], expected [3, 5] (d_in x d_sae of cfg.json) or its transpose");
        refused(standard().tensor("b_enc", Matrix.zeros(1, 4)), "tensor \"b_enc\": shape [4], expected [5]");
        refused(standard().tensor("W_dec", Matrix.zeros(5, 4)), "tensor \"W_dec\": shape [5, 4], expected [5, 3]");
        refused(standard().tensor("b_dec", Matrix.zeros(1, 4)), "tensor \"b_dec\": shape [4], expected [3]");
        SaeLensFolder missing = standard();
        missing.tensors.remove("b_dec");
        refused(missing, "tensor \"b_dec\" is missing");
        refused(SaeLensFolder.autoencoder("jumprelu"), "tensor \"threshold\" is missing");
    }

    @Test
    void tensorsThatWouldChangeTheArithmeticAreRefusedByName() throws IOException {
        refused(standard().tensor("W_skip", Matrix.zeros(3, 3)), "tensor \"W_skip\" beside architecture standard");
        refused(
                standard().tensor("threshold", Matrix.zeros(1, 5)),
                "tensor \"threshold\" beside architecture standard");
        refused(standard().tensor("scaling_factor", Matrix.zeros(1, 5)), "tensor \"scaling_factor\" holds 0.0");
    }

    @Test
    void weightsThatAreNotFiniteAreRefusedWithTheirPlace() throws IOException {
        SaeLensFolder made = standard();
        made.tensor("W_dec").set(1, 2, Double.NaN);
        refused(made, "tensor \"W_dec\": row 1, column 2 is NaN");
        SaeLensFolder narrow = standard().as(DType.F16);
        narrow.tensor("b_enc").set(0, 4, 1e6);
        refused(narrow, "tensor \"b_enc\": row 0, column 4 is Infinity");
    }

    @Test
    void foldersThatHoldNoExplainerAreRefused() throws IOException {
        refusedFolder(folder.resolve("nowhere"), "is not a folder");
        Path empty = Files.createDirectory(folder.resolve("empty"));
        refusedFolder(empty, "SAELens (cfg.json and sae_weights.safetensors)");
        Path half = standard().writeTo(folder.resolve("half"));
        Files.delete(half.resolve("sae_weights.safetensors"));
        refusedFolder(half, "sae_weights.safetensors is missing");
        Files.write(half.resolve("sae_weights.safetensors"), new byte[3]);
        refusedFolder(half, "3 bytes; a safetensors blob begins");
    }

    @Test
    void brokenConfigurationsAreRefused() throws IOException {
        Path directory = standard().writeTo(folder.resolve("broken"));
        Path config = directory.resolve("cfg.json");
        Files.writeString(config, "{\"d_in\": ");
        refusedFolder(directory, "cfg.json: line 1: not valid JSON: the text ends in the middle");
        Files.writeString(config, "[1]");
        refusedFolder(directory, "cfg.json: not a JSON object");
        Files.writeString(config, "{\"d_in\": 3,\n 'd_sae': 4}");
        refusedFolder(directory, "cfg.json: line 2: not valid JSON: expected keys and texts in double quotes");
        Files.write(config, "{\"d_in\": 3}".getBytes(StandardCharsets.UTF_16LE));
        refusedFolder(directory, "cfg.json: is text in UTF-16LE: expected UTF-8");
        Files.writeString(config, " ".repeat(2 << 20));
        refusedFolder(directory, "2097152 bytes, expected at most 1048576");
    }

    @Test
    void aConfigurationIsReadAsPythonReadsWhatItWrote() throws IOException {
        Path directory = standard().writeTo(folder.resolve("python"));
        Path config = directory.resolve("cfg.json");
        String written = Files.readString(config);
        Files.writeString(
                config,
                "\uFEFF"
                        + written.replaceFirst(
                                "\\{", "{\"final_mse\": NaN, \"l\": [Infinity, -Infinity], \"d_in\": 17,"));
        assertEquals(3, Formats.read(directory).inputWidth());
    }

    @Test
    void weightsThatTheHeapCannotHoldAreRefusedBeforeTheyAreReadWithTheHeapToGive() throws IOException {
        int width = 64;
        long features = Runtime.getRuntime().maxMemory() / 4 / 2 / width + 1;
        Path directory = Files.createDirectory(folder.resolve("large"));
        Files.writeString(
                directory.resolve("cfg.json"),
                "{\"architecture\": \"standard\", \"d_in\": %d, \"d_sae\": %d, \"apply_b_dec_to_input\": false}"
                        .formatted(width, features));
        long weights = 4L * width * features;
        String header = ("{\"W_enc\":{\"dtype\":\"F32\",\"shape\":[%d,%d],\"data_offsets\":[0,%d]},"
                        + "\"W_dec\":{\"dtype\":\"F32\",\"shape\":[%d,%d],\"data_offsets\":[%d,%d]}}")
                .formatted(width, features, weights, features, width, weights, 2 * weights);
        try (RandomAccessFile sparse = new RandomAccessFile(
                directory.resolve("sae_weights.safetensors").toFile(), "rw")) {
            sparse.writeLong(Long.reverseBytes(header.length()));
            sparse.write(header.getBytes(StandardCharsets.UTF_8));
            sparse.setLength(8 + header.length() + 2 * weights);
        }
        refusedFolder(directory, "give it more: PLUMBLINE_JAVA_OPTS=-Xmx");
    }

    private static SaeLensFolder standard() {
        return SaeLensFolder.autoencoder("standard");
    }

    private void refused(SaeLensFolder made, String message) throws IOException {
        refusedFolder(made.writeTo(folder.resolve("explainer")), message);
    }

    private static void refusedFolder(Path directory, String message) {
        ExplainerFormatException e = assertThrows(ExplainerFormatException.class, () -> Formats.read(directory));
        String said = String.valueOf(e.getMessage());
        assertTrue(said.startsWith(directory.toString()), said);
        assertTrue(said.contains(message), said);
    }
}
