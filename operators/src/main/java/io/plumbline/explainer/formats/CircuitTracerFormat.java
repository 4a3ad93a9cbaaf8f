package io.plumbline.explainer.formats;

import com.fasterxml.jackson.databind.JsonNode;
import io.plumbline.explainer.ConfigFile;
import io.plumbline.explainer.ExplainerFiles;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.FormatFacts;
import io.plumbline.explainer.JumpReluEncoder;
import io.plumbline.explainer.ReluEncoder;
import io.plumbline.explainer.SignedTopKEncoder;
import io.plumbline.wire.TensorFile;
import java.io.IOException;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Sets of transcoders as circuit-tracer saves and loads them, mwhanna's among them: {@code config.yaml} and a
 * {@code layer_N.safetensors} for each layer.
 *
 * <pre>
 * tensor                          shape                          meaning
 * W_enc                           [k, d]                         row j = feature j
 * W_dec                           [k, d]; before August 2025     told by the shape
 *                                 [d, k]
 * b_enc, b_dec                    [k], [d]
 * activation_function.threshold   [k]                            pre above it, also negative ones
 * W_skip                          [d_out, d_in]                  x W_skip^T is added
 * k                               []                             of TopK sets, as config.yaml has it
 * </pre>
 *
 * <p>TopK keeps the k largest pre-activations with their signs: there is no relu.
 */
final class CircuitTracerFormat extends SafetensorsFormat {

    private static final String NAME = "circuit-tracer";
    private static final String CONFIG_FILE = "config.yaml";
    private static final String THRESHOLD = "activation_function.threshold";
    private static final Pattern LAYER_FILE = Pattern.compile("layer_(\\d{1,4})\\.safetensors");
    private static final Set<String> TENSORS = Set.of("W_enc", "W_dec", "b_enc", "b_dec", THRESHOLD, "W_skip", "k");

    @Override
    public FormatFacts facts() {
        return new FormatFacts(
                NAME,
                "config.yaml and layer_N.safetensors",
                "circuit-tracer (both layouts), mwhanna's transcoders for Qwen3",
                "transcoder, skip_transcoder, jumprelu_transcoder, jumprelu_skip_transcoder, topk_transcoder, "
                        + "topk_skip_transcoder",
                NAME,
                "layer, of a set; or give the path of the layer's file",
                "sets whose `transcoders` lie elsewhere (hf://)");
    }

    @Override
    public boolean recognises(ExplainerFiles files) {
        return !files.matching(LAYER_FILE).isEmpty();
    }

    @Override
    String weights(ExplainerFiles files, ExplainerOptions options) {
        List<String> layers = files.matching(LAYER_FILE);
        Integer wanted = options.layer();
        if (wanted != null) {
            String name = "layer_%d.safetensors".formatted(wanted);
            if (!layers.contains(name)) {
                throw new ExplainerFormatException(
                        "option layer = %d: there is no %s; the folder has %s".formatted(wanted, name, layers));
            }
            return name;
        }
        if (layers.size() > 1) {
            throw new ExplainerFormatException(
                    "a set of %d transcoders, one for each layer: give the path of one of %s, or %s"
                            .formatted(layers.size(), layers, ExplainerOptions.howTo(ExplainerOptions.LAYER, "N")));
        }
        return layers.get(0);
    }

    @Override
    List<String> companions() {
        return List.of(CONFIG_FILE);
    }

    @Override
    Blueprint blueprint(ExplainerFiles files, TensorFile tensors, ExplainerOptions options) throws IOException {
        options.requireOnly(NAME, ExplainerOptions.LAYER);
        if (!files.names().contains(CONFIG_FILE)) {
            throw new ExplainerFormatException(
                    "config.yaml is missing beside the layer's file; it says which activation the set has: "
                            + "copy it too");
        }
        SafetensorsFiles.requireOnly(tensors, TENSORS);
        ConfigFile config = ConfigFile.yaml(files.file(CONFIG_FILE));
        String kind = config.text("model_kind", "transcoder_set");
        if (!kind.equals("transcoder_set")) {
            throw new ExplainerFormatException(
                    ("config.yaml: model_kind \"%s\" is not supported in a file for each layer; supported: "
                                    + "transcoder_set")
                            .formatted(kind));
        }
        int features = WeightTensors.size(tensors, "b_enc", 1, 0);
        int targetWidth = WeightTensors.size(tensors, "b_dec", 1, 0);
        int rows = WeightTensors.size(tensors, "W_enc", 2, 0);
        int inputWidth = rows == features ? WeightTensors.size(tensors, "W_enc", 2, 1) : rows;
        boolean old = config.document().path("transcoders").isArray();
        if (old && features == targetWidth) {
            throw new ExplainerFormatException(
                    "W_dec is square, and this older format does not say whether its rows are features; "
                            + "save the set again with circuit-tracer of August 2025 or later");
        }
        String activation = activation(config, tensors);
        boolean skip = tensors.contains("W_skip");
        String prefix = activation.equals("relu") ? "" : activation + "_";
        Blueprint blueprint = new Blueprint(
                tensors,
                prefix + (skip ? "skip_transcoder" : "transcoder"),
                inputWidth,
                features,
                targetWidth,
                "of the tensors' shapes");
        blueprint.encoderWeights = new Blueprint.Part("W_enc", true);
        blueprint.decoderWeights = new Blueprint.Part("W_dec", !old);
        if (skip) {
            blueprint.skip = new Blueprint.Part("W_skip", true);
        }
        switch (activation) {
            case "jumprelu" ->
                blueprint.selection = layer -> new JumpReluEncoder(layer, blueprint.bias(THRESHOLD, features, "d_sae"));
            case "topk" -> {
                int k = k(config, tensors, features);
                blueprint.mostActive = k;
                blueprint.selection = layer -> new SignedTopKEncoder(layer, k, false);
            }
            default -> blueprint.selection = ReluEncoder::new;
        }
        return blueprint;
    }

    private static String activation(ConfigFile config, TensorFile tensors) {
        boolean thresholds = tensors.contains(THRESHOLD);
        String named = config.text("activation", thresholds ? "jumprelu" : "relu");
        if (!List.of("relu", "jumprelu", "topk").contains(named)) {
            throw new ExplainerFormatException(
                    "config.yaml: activation \"%s\" is not supported; supported: relu, jumprelu, topk"
                            .formatted(named));
        }
        if (thresholds != named.equals("jumprelu")) {
            throw new ExplainerFormatException("config.yaml: activation \"%s\", but the file has %s tensor \"%s\""
                    .formatted(named, thresholds ? "a" : "no", THRESHOLD));
        }
        if (named.equals("relu") && tensors.contains("k") && config.isNull("activation")) {
            throw new ExplainerFormatException(
                    "the file has a tensor \"k\", but config.yaml names no activation; write activation: "
                            + "topk and k there if that is meant");
        }
        return named;
    }

    private static int k(ConfigFile config, TensorFile tensors, int features) {
        @Nullable JsonNode stated = config.document().get("k");
        Integer inFile = tensors.contains("k") ? Integer.valueOf((int) WeightTensors.scalar(tensors, "k")) : null;
        if (stated == null && inFile == null) {
            throw new ExplainerFormatException(
                    "config.yaml: activation topk without k; write k: N there, as the set's authors say");
        }
        int k = stated == null ? inFile == null ? 0 : inFile : config.size("k");
        if (inFile != null && inFile != k) {
            throw new ExplainerFormatException(
                    "config.yaml says k = %d, the tensor \"k\" %d; which is meant?".formatted(k, inFile));
        }
        if (k < 1 || k > features) {
            throw new ExplainerFormatException(
                    "k = %d: expected 1 to %d, the number of features".formatted(k, features));
        }
        return k;
    }
}
