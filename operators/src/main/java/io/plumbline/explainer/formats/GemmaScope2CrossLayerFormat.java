package io.plumbline.explainer.formats;

import io.plumbline.explainer.ConfigFile;
import io.plumbline.explainer.ExplainerFiles;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.FormatFacts;
import io.plumbline.explainer.JumpReluEncoder;
import io.plumbline.wire.Safetensors;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Cross-layer transcoders and crosscoders of Gemma Scope 2: one {@code params_layer_s.safetensors} for each layer s of
 * L. {@code config.json} says which it is, or the repository's folder {@code crosscoder}, see {@link PublishedPath}.
 *
 * <pre>
 * tensor                   shape          meaning
 * w_enc                    [d_in, k]
 * w_dec                    [k, L, d_out]  what the features of layer s write; nothing is written into layers below s
 * b_enc, threshold         [k]            pre where pre is above both the threshold and 0
 * b_dec                    [d_out]        of what is written into layer s
 * affine_skip_connection   [d_in, d_out]  optional: x_s affine is added
 * </pre>
 *
 * <p>Transcoders are computed as circuit-tracer does, but with the last layer, which its loader of this format leaves
 * out. A crosscoder is weakly causal (Gemma Scope 2 technical report, section 2.6): a feature reads one of some layers
 * of the residual stream and writes into it and those above; each target layer is one of those that are read. The
 * published class adds what is stored for layers below, which is zero by that definition: anything else is refused.
 */
final class GemmaScope2CrossLayerFormat extends CrossLayerFormat {

    private static final String NAME = "Gemma Scope 2 cross-layer transcoder or crosscoder";
    private static final Pattern LAYER_FILE = Pattern.compile("params_layer_(\\d{1,3})\\.safetensors");
    private static final String CONFIG_FILE = "config.json";
    private static final Pattern CROSSCODER = Pattern.compile("crosscoder");
    private static final String AFFINE = "affine_skip_connection";
    private static final Set<String> TENSORS = Set.of("w_enc", "w_dec", "b_enc", "b_dec", "threshold", AFFINE);

    @Override
    public FormatFacts facts() {
        return new FormatFacts(
                NAME,
                "params_layer_N.safetensors",
                "Google DeepMind",
                "jumprelu_cross_layer_transcoder, jumprelu_skip_cross_layer_transcoder, jumprelu_crosscoder",
                NAME,
                "target, the layer that is written into: each is a block of its own",
                "a folder without the files of all layers; a crosscoder with features that write into layers below "
                        + "their own");
    }

    @Override
    Pattern layerFile() {
        return LAYER_FILE;
    }

    @Override
    String fileOf(int layer) {
        return "params_layer_%d.safetensors".formatted(layer);
    }

    @Override
    CrossLayer open(ExplainerFiles files, int layers, Map<String, Safetensors> opened) throws IOException {
        ConfigFile config = ConfigFile.jsonIfThere(files.file(CONFIG_FILE));
        String architecture = config.text("architecture", "jump_relu");
        if (!architecture.equals("jump_relu")) {
            throw new ExplainerFormatException(
                    "config.json: architecture \"%s\" is not supported; supported: jump_relu".formatted(architecture));
        }
        List<CrossLayer.Layer> all = new ArrayList<>();
        for (int s = 0; s < layers; s++) {
            Safetensors tensors = open(files, fileOf(s), opened);
            SafetensorsFiles.requireOnly(tensors, TENSORS);
            int features = WeightTensors.size(tensors, "w_enc", 2, 1);
            Blueprint blueprint = new Blueprint(
                    tensors,
                    CrossLayer.ARCHITECTURE,
                    WeightTensors.size(tensors, "w_enc", 2, 0),
                    features,
                    WeightTensors.size(tensors, "b_dec", 1, 0),
                    "of the tensors' shapes");
            blueprint.encoderWeights = new Blueprint.Part("w_enc", false);
            blueprint.selection = layer -> new JumpReluEncoder(
                    layer, SaeLensFormat.atLeastZero(blueprint.bias("threshold", features, "d_sae")));
            if (tensors.contains(AFFINE)) {
                blueprint.skip = new Blueprint.Part(AFFINE, false);
            }
            all.add(new CrossLayer.Layer(blueprint, true, fileOf(s), tensors, "w_dec", 0));
        }
        List<String> decidedByPath = new ArrayList<>();
        boolean crosscoder = isCrosscoder(files, config, decidedByPath);
        return new CrossLayer(
                opened,
                all,
                crosscoder ? numbers(files, config, layers, decidedByPath) : LayerNumbers.counted(layers),
                crosscoder,
                decidedByPath);
    }

    private static List<Integer> numbers(
            ExplainerFiles files, ConfigFile config, int layers, List<String> decidedByPath) {
        List<Integer> byHook = LayerNumbers.ofHook(config.text("hf_hook_point_in", ""), layers);
        if (!byHook.isEmpty()) {
            return byHook;
        }
        String folder =
                String.valueOf(files.folder().toAbsolutePath().normalize().getFileName());
        List<Integer> byFolder = LayerNumbers.ofFolder(folder, layers);
        if (byFolder.isEmpty()) {
            return LayerNumbers.counted(layers);
        }
        decidedByPath.add(
                "the folder \"%s\" says that it reads the layers %s".formatted(folder, LayerNumbers.words(byFolder)));
        return byFolder;
    }

    private static boolean isCrosscoder(ExplainerFiles files, ConfigFile config, List<String> decidedByPath) {
        String type = config.text("type", "");
        return switch (type) {
            case "crosscoder" -> true;
            case "clt" -> false;
            case "" -> {
                String folder = PublishedPath.of(files, GemmaScope2Format.REPOSITORY, GemmaScope2Format.LAYOUT)
                        .folder(CROSSCODER);
                decidedByPath.add(
                        folder.isEmpty()
                                ? "neither config.json nor a folder \"crosscoder\" of the repository says that it is "
                                        + "a crosscoder: read as a cross-layer transcoder"
                                : "the folder \"crosscoder\" says that it is a crosscoder; "
                                        + "a config.json with type says otherwise");
                yield !folder.isEmpty();
            }
            default ->
                throw new ExplainerFormatException(
                        ("config.json: type \"%s\" is not supported with a file for each layer; supported: clt, "
                                        + "crosscoder")
                                .formatted(type));
        };
    }
}
