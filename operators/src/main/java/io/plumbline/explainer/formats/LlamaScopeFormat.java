package io.plumbline.explainer.formats;

import io.plumbline.explainer.ConfigFile;
import io.plumbline.explainer.ExplainerFiles;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.FormatFacts;
import io.plumbline.explainer.JumpReluEncoder;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.TensorFile;
import java.io.IOException;
import java.nio.file.Files;
import java.util.Arrays;
import java.util.Set;

/**
 * Reads Llama Scope as it was published: {@code hyperparams.json} and {@code checkpoints/final.safetensors}, read as
 * the authors' code of November 2024 did.
 *
 * <pre>
 * tensor           shape    folded; s = sqrt(d_model) / dataset_average_activation_norm, of input and output
 * encoder.weight   [k, d]
 * encoder.bias     [k]      / s_in
 * decoder.weight   [d, k]   * s_in / s_out
 * decoder.bias     [d]      / s_out
 * </pre>
 *
 * <p>Then, with {@code sparsity_include_decoder_norm}, the lengths of the decoder's columns go into the encoder, and
 * {@code z = pre} where it is above {@code jump_relu_threshold}, on rows as they come.
 */
final class LlamaScopeFormat extends PublishedFormat {

    private static final String NAME = "Llama Scope";
    private static final String CONFIG_FILE = "hyperparams.json";
    private static final String WEIGHTS_FILE = "checkpoints/final.safetensors";
    private static final String NORM = "dataset_average_activation_norm";
    private static final Set<String> TENSORS =
            Set.of("encoder.weight", "encoder.bias", "decoder.weight", "decoder.bias");

    @Override
    public FormatFacts facts() {
        return new FormatFacts(
                NAME,
                CONFIG_FILE + " and " + WEIGHTS_FILE,
                "OpenMOSS, November 2024",
                "jumprelu, jumprelu_transcoder",
                "SAELens",
                "",
                "gated linear units; normalisation by token or batch; topk without a jump_relu_threshold");
    }

    @Override
    public boolean recognises(ExplainerFiles files) throws IOException {
        return files.chosen() == null
                && files.names().contains(CONFIG_FILE)
                && Files.isRegularFile(files.file(WEIGHTS_FILE));
    }

    @Override
    Safetensors open(ExplainerFiles files, ExplainerOptions options) throws IOException {
        return SafetensorsFiles.open(files.file(WEIGHTS_FILE));
    }

    @Override
    Blueprint blueprint(ExplainerFiles files, TensorFile tensors, ExplainerOptions options) throws IOException {
        options.requireOnly(NAME);
        SafetensorsFiles.requireOnly(tensors, TENSORS);
        ConfigFile config = ConfigFile.json(files.file(CONFIG_FILE));
        OpenMossFormat.refuseGatedLinearUnits(config);
        if (config.flag("apply_decoder_bias_to_pre_encoder", false)) {
            throw new ExplainerFormatException(
                    "hyperparams.json: apply_decoder_bias_to_pre_encoder = true is not supported; none of the"
                            + " published ones has it");
        }
        double threshold = config.number("jump_relu_threshold", 0.0);
        String activation = config.text("act_fn", "");
        if (!activation.equals("jumprelu") && !(activation.equals("topk") && threshold > 0.0)) {
            throw new ExplainerFormatException(
                    ("hyperparams.json: act_fn \"%s\" with jump_relu_threshold = %s is not supported; supported: "
                                    + "jumprelu, or topk with a threshold above 0, which is jumprelu when it is used")
                            .formatted(activation, threshold));
        }
        int width = config.size("d_model");
        int features = WeightTensors.size(tensors, "encoder.bias", 1, 0);
        boolean transcoder = OpenMossFormat.isTranscoder(config);
        Blueprint blueprint = new Blueprint(
                tensors,
                transcoder ? "jumprelu_transcoder" : "jumprelu",
                width,
                features,
                width,
                "of hyperparams.json");
        blueprint.encoderWeights = new Blueprint.Part("encoder.weight", true);
        blueprint.encoderBias = "encoder.bias";
        blueprint.decoderWeights = new Blueprint.Part("decoder.weight", false);
        blueprint.decoderBias = config.flag("use_decoder_bias", true) ? "decoder.bias" : null;
        if (OpenMossFormat.isScaled(config)) {
            ConfigFile norms = config.nested(NORM);
            double in = Math.sqrt(width) / norms.positive("in");
            double out = transcoder ? Math.sqrt(width) / norms.positive("out") : in;
            blueprint.encoderBiasFactor = 1.0 / in;
            blueprint.decoderFactor = in / out;
            blueprint.decoderBiasFactor = 1.0 / out;
            blueprint.notes.add("%s: the scales of input and output folded into biases and decoder".formatted(NORM));
        }
        OpenMossFormat.rescale(config, blueprint);
        double[] thresholds = new double[features];
        Arrays.fill(thresholds, threshold);
        blueprint.selection = layer -> new JumpReluEncoder(layer, thresholds);
        return blueprint;
    }
}
