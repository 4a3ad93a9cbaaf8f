package io.plumbline.explainer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import com.fasterxml.jackson.databind.json.JsonMapper;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.plumbline.explainer.formats.AdaptedFolder;
import io.plumbline.explainer.formats.CrossLayerTest;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.wire.DType;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsWriter;
import io.plumbline.wire.Tensor;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Damaged dictionaries of several layers are refused by the name of what is wrong, before anything is computed. */
class CrosscoderRefusalTest {

    private static final String WEIGHTS = "sae_weights.safetensors";
    private static final ExplainerOptions ONE = ExplainerOptions.NONE.ofTarget(5);

    @TempDir
    Path scratch;

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "act_fn         | \"batchtopk\"          | act_fn \"batchtopk\" is not supported: "
                        + "it chooses among the features of several",
                "act_fn         | \"topk\"               | top_k = 50: expected at most 32, the number of features",
                "d_model        | 17                     | tensor \"W_E\": shape [3, 16, 32], expected [layers, 17, "
                        + "features]",
                "hook_points    | [\"blocks.5.x\"]       | hook_points names 1 hooks, but tensor \"W_E\" has 3 layers",
                "hook_points    | [1, 2, 3]              | hook_points = [1,2,3]: expected a list of strings",
                "hook_points    | [\"a.5.\",\"a.9.\",\"a.12.\"] | hook \"a.5.\" has no tensor",
                "norm_activation | \"token-wise\"        | norm_activation \"token-wise\" is not supported",
                "use_glu_encoder | true                  | use_glu_encoder = true is not supported",
                "sae_type       | \"lorsa\"              | sae_type \"lorsa\" is not supported; supported: sae, "
                        + "crosscoder, clt",
            })
    void aConfigurationThatIsNotSupportedIsRefused(String key, String value, String message) throws IOException {
        Path folder = copy("openmoss_crosscoder_jumprelu");
        JsonMapper mapper = new JsonMapper();
        ObjectNode config =
                (ObjectNode) mapper.readTree(folder.resolve("config.json").toFile());
        config.set(key, mapper.readTree(value));
        Files.writeString(folder.resolve("config.json"), config.toString());
        // An explainer of one layer takes no target.
        CrossLayerTest.assertMessage(folder, key.equals("sae_type") ? ExplainerOptions.NONE : ONE, message);
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "openmoss_crosscoder_jumprelu | W_D   | 3,32,15 | expected [3, 32, 16]",
                "openmoss_crosscoder_jumprelu | W_D   | 2,32,16 | expected [3, 32, 16]",
                "openmoss_crosscoder_jumprelu | W_E   | 3,16    | expected [layers, 16, features]",
                "openmoss_crosscoder_jumprelu | b_E   | 32      | expected [3, 32]",
                "openmoss_crosscoder_jumprelu | b_D   | 3,1     | expected [3, 16]",
                "openmoss_crosscoder_jumprelu | activation_function.log_jumprelu_threshold | 3,32 | expected [32]",
                "openmoss_crosscoder_jumprelu | W_X   | 4       | tensor \"W_X\" is not part of what is supported",
                "openmoss_clt_jumprelu        | W_D.1 | 3,32,16 | expected [2, 32, 16]",
                "openmoss_clt_jumprelu        | b_D.2 | 15      | expected [16]",
                "openmoss_clt_jumprelu        | W_D.3 | 4,32,16 | tensor \"W_D.3\" is not part of what is supported",
                "openmoss_clt_jumprelu        | activation_function.log_jumprelu_threshold | 32 | expected [3, 32]",
            })
    void aTensorOfAnotherShapeIsRefused(String name, String tensor, String shape, String message) throws IOException {
        Path folder = copy(name);
        long[] sizes =
                Stream.of(shape.split(",", -1)).mapToLong(Long::parseLong).toArray();
        long values = 1;
        for (long size : sizes) {
            values *= size;
        }
        ByteBuffer zeros = ByteBuffer.allocate((int) values * 4);
        rewrite(folder.resolve(WEIGHTS), tensor, writer -> writer.addRaw(tensor, DType.F32, sizes, zeros));
        CrossLayerTest.assertMessage(folder, ONE, message);
    }

    @ParameterizedTest
    @CsvSource({
        "openmoss_crosscoder_jumprelu,W_D",
        "openmoss_crosscoder_jumprelu,b_E",
        "openmoss_clt_jumprelu,W_D.2",
        "openmoss_clt_jumprelu,W_E",
        "openmoss_clt_jumprelu,activation_function.log_jumprelu_threshold"
    })
    void aMissingTensorIsNamed(String name, String tensor) throws IOException {
        Path folder = copy(name);
        rewrite(folder.resolve(WEIGHTS), tensor, writer -> {});
        CrossLayerTest.assertMessage(folder, ONE, "tensor \"%s\" is missing".formatted(tensor));
    }

    @ParameterizedTest
    @CsvSource({"openmoss_crosscoder_relu,W_D", "openmoss_crosscoder_relu,W_E", "openmoss_clt_topk,W_D.2"})
    void aWeightThatIsNotFiniteIsRefused(String name, String tensor) throws IOException {
        Path folder = copy(name);
        Path file = folder.resolve(WEIGHTS);
        ByteBuffer values;
        long[] shape;
        try (Safetensors weights = Safetensors.open(file)) {
            Tensor stored = weights.tensor(tensor);
            shape = stored.shape().stream().mapToLong(Long::longValue).toArray();
            values = ByteBuffer.allocate(stored.bytes().remaining()).order(ByteOrder.LITTLE_ENDIAN);
            values.put(stored.bytes()).flip();
        }
        values.putFloat(8, Float.NaN);
        rewrite(file, tensor, writer -> writer.addRaw(tensor, DType.F32, shape, values));
        CrossLayerTest.assertMessage(folder, ONE, "tensor \"%s\": row 0, column 2 is NaN".formatted(tensor));
    }

    @Test
    void aCrosscoderOfGemmaScopeThatWritesIntoALowerLayerIsRefused() throws IOException {
        Path folder = copy("gemma_scope_2_crosscoder");
        Path file = folder.resolve("params_layer_2.safetensors");
        ByteBuffer values;
        try (Safetensors weights = Safetensors.open(file)) {
            values = ByteBuffer.allocate(32 * 3 * 16 * 4).order(ByteOrder.LITTLE_ENDIAN);
            values.put(weights.tensor("w_dec").bytes()).flip();
        }
        // Feature 1 of layer 12, of what it writes into layer 9.
        values.putFloat(((1 * 3 + 1) * 16 + 4) * 4, 0.5f);
        rewrite(file, "w_dec", writer -> writer.addRaw("w_dec", DType.F32, new long[] {32, 3, 16}, values));
        CrossLayerTest.assertMessage(
                folder,
                ExplainerOptions.NONE.ofTarget(9),
                "params_layer_2.safetensors: tensor \"w_dec\": feature 1 of layer 12 writes 0.5 into layer 9 below it");
        Formats.read(folder, ONE);
    }

    @Test
    void aFolderWithoutALayerIsRefused() throws IOException {
        Path folder = copy("gemma_scope_2_crosscoder");
        Files.delete(folder.resolve("params_layer_1.safetensors"));
        CrossLayerTest.assertMessage(folder, ONE, "params_layer_1.safetensors is missing");
    }

    @Test
    void whatAFileForEachLayerHoldsIsSaidByTheConfigurationOrThePath() throws IOException {
        Path unknown = copy("gemma_scope_2_crosscoder");
        Files.writeString(unknown.resolve("config.json"), "{\"type\": \"sae\"}");
        CrossLayerTest.assertMessage(
                unknown, ONE, "type \"sae\" is not supported with a file for each layer; supported: clt, crosscoder");
        Path byPath = Files.createDirectories(scratch.resolve("crosscoder")).resolve("layer_7_13_17_width_65k_l0_big");
        Files.move(unknown, byPath);
        Files.delete(byPath.resolve("config.json"));
        Explainer block = Formats.read(byPath, ExplainerOptions.NONE.ofTarget(13));
        assertEquals("jumprelu_crosscoder", block.architecture());
    }

    private Path copy(String name) throws IOException {
        Path out = Files.createDirectory(scratch.resolve(name));
        try (Stream<Path> files = Files.list(CrossLayerTest.folder(name).resolve("explainer"))) {
            for (Path file : files.toList()) {
                Files.copy(file, out.resolve(file.getFileName()));
            }
        }
        return out;
    }

    /** Writes a file with one tensor left out, and what takes its place. */
    private static void rewrite(Path file, String without, Consumer<SafetensorsWriter> instead) throws IOException {
        SafetensorsWriter writer = SafetensorsWriter.create();
        try (Safetensors weights = Safetensors.open(file)) {
            for (Map.Entry<String, String> entry : weights.metadata().entrySet()) {
                writer.metadata(entry.getKey(), entry.getValue());
            }
            for (String name : weights.names()) {
                if (!name.equals(without)) {
                    AdaptedFolder.addUntouched(writer, weights.tensor(name));
                }
            }
            instead.accept(writer);
            byte[] bytes = writer.toBytes();
            Files.delete(file);
            Files.write(file, bytes);
        }
    }
}
