package io.plumbline.explainer;

import io.plumbline.wire.Safetensors;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;

/**
 * Cross-layer transcoders of Gemma Scope 2: one {@code params_layer_s.safetensors} for each layer s of L.
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
 * <p>As circuit-tracer computes them, but with the last layer, which its loader of this format leaves out.
 */
final class GemmaScope2CrossLayerFormat extends CrossLayerFormat {

    private static final String NAME = "Gemma Scope 2 cross-layer transcoder";
    private static final Pattern LAYER_FILE = Pattern.compile("params_layer_(\\d{1,3})\\.safetensors");
    private static final String AFFINE = "affine_skip_connection";
    private static final Set<String> TENSORS = Set.of("w_enc", "w_dec", "b_enc", "b_dec", "threshold", AFFINE);

    @Override
    public FormatFacts facts() {
        return new FormatFacts(
                NAME,
                "params_layer_N.safetensors",
                "Google DeepMind",
                "jumprelu_cross_layer_transcoder, jumprelu_skip_cross_layer_transcoder",
                NAME,
                "target, the layer that is written into: each is a block of its own",
                "a folder without the files of all layers");
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
    List<CrossLayer.Layer> layers(ExplainerFiles files, int layers, Map<String, Safetensors> opened)
            throws IOException {
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
        return all;
    }
}
