package io.plumbline.explainer.formats;

import io.plumbline.explainer.ConfigFile;
import io.plumbline.explainer.ExplainerFiles;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.JumpReluEncoder;
import io.plumbline.explainer.TopKEncoder;
import io.plumbline.wire.TensorFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.Set;

/**
 * The classes of dictionary_learning, as its training saves them: {@code ae.pt} and {@code config.json}.
 *
 * <pre>
 * class                     bias subtracted   encoder, decoder                           selection
 * AutoEncoder               bias              encoder.weight [k, d], decoder.weight      relu
 * AutoEncoderNew            -                 the same, decoder.bias                     relu
 * GatedAutoEncoder          decoder_bias      the same                                   gated: r_mag, gate, mag
 * JumpReluAutoEncoder       -                 W_enc [d, k], W_dec [k, d]                 threshold [k]
 * AutoEncoderTopK           b_dec             encoder.weight, decoder.weight             k
 * BatchTopKSAE              b_dec             the same                                   one threshold; -1: relu
 * MatryoshkaBatchTopKSAE    b_dec             W_enc [d, k], W_dec [k, d]                 the same
 * </pre>
 */
final class DictionaryLearning {

    private static final String NAME = "dictionary_learning";
    private static final String CONFIG_FILE = "config.json";
    private static final String FOLDED = "the decoder's bias is subtracted from the input: folded into the encoder's";

    private DictionaryLearning() {}

    static boolean isOne(ExplainerFiles files, Set<String> names) {
        return names.contains("bias")
                || names.contains("gate_bias")
                || names.contains("threshold")
                || (names.contains("encoder.weight") && names.contains("b_dec"))
                || (files.names().contains(CONFIG_FILE) && names.contains("encoder.weight"));
    }

    static Blueprint blueprint(ExplainerFiles files, TensorFile tensors, ExplainerOptions options) throws IOException {
        options.requireOnly(NAME);
        String type = type(files, tensors.names());
        return switch (type) {
            case "AutoEncoder" -> {
                Blueprint blueprint = torch(
                        tensors,
                        "standard",
                        "encoder.bias",
                        "bias",
                        "bias",
                        "encoder.weight",
                        "encoder.bias",
                        "decoder.weight");
                subtract(blueprint);
                yield blueprint;
            }
            case "AutoEncoderNew" ->
                torch(
                        tensors,
                        "standard",
                        "encoder.bias",
                        "decoder.bias",
                        "decoder.bias",
                        "encoder.weight",
                        "encoder.bias",
                        "decoder.weight");
            case "GatedAutoEncoder" -> gated(tensors);
            case "JumpReluAutoEncoder" -> {
                Blueprint blueprint = square(tensors, Set.of("W_enc", "W_dec", "b_enc", "b_dec", "threshold"));
                blueprint.selection = layer -> new JumpReluEncoder(
                        layer, SaeLensFormat.atLeastZero(blueprint.bias("threshold", blueprint.features, "d_sae")));
                yield blueprint;
            }
            case "AutoEncoderTopK" -> topK(tensors);
            case "BatchTopKSAE" -> {
                Blueprint blueprint = torch(
                        tensors,
                        "jumprelu",
                        "encoder.bias",
                        "b_dec",
                        "b_dec",
                        "encoder.weight",
                        "encoder.bias",
                        "decoder.weight",
                        "k",
                        "threshold");
                oneThreshold(blueprint);
                yield blueprint;
            }
            case "MatryoshkaBatchTopKSAE" -> {
                Blueprint blueprint =
                        square(tensors, Set.of("W_enc", "W_dec", "b_enc", "b_dec", "k", "threshold", "group_sizes"));
                oneThreshold(blueprint);
                yield blueprint;
            }
            default ->
                throw new ExplainerFormatException(
                        ("config.json: dict_class \"%s\" is not supported; supported: AutoEncoder, AutoEncoderNew, "
                                        + "GatedAutoEncoder, JumpReluAutoEncoder, AutoEncoderTopK, BatchTopKSAE, "
                                        + "MatryoshkaBatchTopKSAE")
                                .formatted(type));
        };
    }

    private static String type(ExplainerFiles files, Set<String> names) throws IOException {
        Path config = files.file(CONFIG_FILE);
        if (Files.isRegularFile(config)) {
            return ConfigFile.json(config).nested("trainer").text("dict_class", "(absent)");
        }
        if (names.contains("bias")) {
            return "AutoEncoder";
        }
        if (names.contains("gate_bias")) {
            return "GatedAutoEncoder";
        }
        if (names.contains("group_sizes")) {
            return "MatryoshkaBatchTopKSAE";
        }
        if (names.contains("W_enc")) {
            return "JumpReluAutoEncoder";
        }
        throw new ExplainerFormatException(
                "config.json is missing: it says whether this is an AutoEncoderTopK or a BatchTopKSAE, whose tensors"
                        + " are the same; copy it from where the file was");
    }

    /** Returns the blueprint of layers of torch: {@code encoder.weight [k, d]} and {@code decoder.weight [d, k]}. */
    private static Blueprint torch(
            TensorFile tensors, String architecture, String encoderBias, String decoderBias, String... known) {
        SafetensorsFiles.requireOnly(tensors, Set.of(known));
        Blueprint blueprint = TorchFormat.blueprint(tensors, architecture, encoderBias, decoderBias);
        blueprint.encoderWeights = new Blueprint.Part("encoder.weight", true);
        blueprint.encoderBias = encoderBias;
        blueprint.decoderWeights = new Blueprint.Part("decoder.weight", false);
        blueprint.decoderBias = decoderBias;
        return blueprint;
    }

    private static Blueprint gated(TensorFile tensors) {
        Blueprint blueprint = torch(
                tensors,
                "gated",
                "gate_bias",
                "decoder_bias",
                "decoder_bias",
                "encoder.weight",
                "decoder.weight",
                "r_mag",
                "gate_bias",
                "mag_bias");
        blueprint.selection = layer -> SaeLensFormat.gated(layer, blueprint, "r_mag", "mag_bias", "gate_bias");
        subtract(blueprint);
        return blueprint;
    }

    private static Blueprint topK(TensorFile tensors) {
        Blueprint blueprint = torch(
                tensors,
                "topk",
                "encoder.bias",
                "b_dec",
                "b_dec",
                "encoder.weight",
                "encoder.bias",
                "decoder.weight",
                "k",
                "threshold");
        long k = tensors.tensor("k").toLongs().length == 1 ? tensors.tensor("k").toLongs()[0] : 0;
        int checked = TorchFormat.checkedK(k, blueprint.features);
        blueprint.mostActive = checked;
        blueprint.selection = layer -> new TopKEncoder(layer, checked);
        subtract(blueprint);
        return blueprint;
    }

    /** Returns the blueprint for the names and orientations of SAELens. */
    private static Blueprint square(TensorFile tensors, Set<String> known) {
        SafetensorsFiles.requireOnly(tensors, known);
        return TorchFormat.blueprint(tensors, "jumprelu", "b_enc", "b_dec");
    }

    private static void oneThreshold(Blueprint blueprint) {
        double[] thresholds = new double[blueprint.features];
        // Below 0: never set, which is plain relu.
        Arrays.fill(thresholds, Math.max(0.0, WeightTensors.scalar(blueprint.tensors, "threshold")));
        blueprint.selection = layer -> new JumpReluEncoder(layer, thresholds);
        subtract(blueprint);
    }

    private static void subtract(Blueprint blueprint) {
        blueprint.subtractsDecoderBias = true;
        blueprint.notes.add(FOLDED);
    }
}
