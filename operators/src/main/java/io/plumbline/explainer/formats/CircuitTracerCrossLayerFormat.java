package io.plumbline.explainer.formats;

import io.plumbline.explainer.ExplainerFiles;
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
 * Cross-layer transcoders as circuit-tracer saves and loads them: two files for each layer s of L.
 *
 * <pre>
 * file                   tensor        shape            meaning
 * W_enc_s.safetensors    W_enc_s       [k, d]           row j = feature j
 *                        b_enc_s       [k]
 *                        b_dec_s       [d]              of what is written into layer s
 *                        threshold_s   [k]              optional: pre above it, also negative ones; without it relu
 * W_dec_s.safetensors    W_dec_s       [k, L - s, d]    what the features of layer s write into s, s + 1, ...
 * </pre>
 */
final class CircuitTracerCrossLayerFormat extends CrossLayerFormat {

    private static final String NAME = "circuit-tracer cross-layer transcoder";
    private static final Pattern LAYER_FILE = Pattern.compile("W_enc_(\\d{1,3})\\.safetensors");

    @Override
    public FormatFacts facts() {
        return new FormatFacts(
                NAME,
                "W_enc_N.safetensors and W_dec_N.safetensors",
                "circuit-tracer",
                "cross_layer_transcoder, jumprelu_cross_layer_transcoder",
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
        return "W_enc_%d.safetensors".formatted(layer);
    }

    @Override
    CrossLayer open(ExplainerFiles files, int layers, Map<String, Safetensors> opened) throws IOException {
        List<CrossLayer.Layer> all = new ArrayList<>();
        for (int s = 0; s < layers; s++) {
            String weights = "W_enc_" + s;
            String threshold = "threshold_" + s;
            Safetensors encoder = open(files, fileOf(s), opened);
            SafetensorsFiles.requireOnly(encoder, Set.of(weights, "b_enc_" + s, "b_dec_" + s, threshold));
            String decoderWeights = "W_dec_" + s;
            String decoderFile = decoderWeights + ".safetensors";
            Safetensors decoders = open(files, decoderFile, opened);
            SafetensorsFiles.requireOnly(decoders, Set.of(decoderWeights));
            int features = WeightTensors.size(encoder, "b_enc_" + s, 1, 0);
            Blueprint blueprint = new Blueprint(
                    encoder,
                    CrossLayer.ARCHITECTURE,
                    WeightTensors.size(encoder, weights, 2, 1),
                    features,
                    WeightTensors.size(encoder, "b_dec_" + s, 1, 0),
                    "of the tensors' shapes");
            blueprint.encoderWeights = new Blueprint.Part(weights, true);
            blueprint.encoderBias = "b_enc_" + s;
            blueprint.decoderBias = "b_dec_" + s;
            if (encoder.contains(threshold)) {
                blueprint.selection = layer -> new JumpReluEncoder(layer, blueprint.bias(threshold, features, "d_sae"));
            }
            all.add(new CrossLayer.Layer(
                    blueprint, encoder.contains(threshold), decoderFile, decoders, decoderWeights, s));
        }
        return new CrossLayer(opened, all, LayerNumbers.counted(layers), false, List.of());
    }
}
