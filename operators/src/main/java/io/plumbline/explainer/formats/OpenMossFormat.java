package io.plumbline.explainer.formats;

import io.plumbline.explainer.ConfigFile;
import io.plumbline.explainer.ExplainerFiles;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.FormatFacts;
import io.plumbline.explainer.JumpReluEncoder;
import io.plumbline.explainer.ReluEncoder;
import io.plumbline.explainer.TopKEncoder;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsException;
import io.plumbline.wire.TensorFile;
import java.io.IOException;
import java.util.Set;

/**
 * Folders of OpenMOSS' library of today, and Llama Scope R1-Distill: {@code config.json} and {@code
 * sae_weights.safetensors}.
 *
 * <pre>
 * today                                          R1-Distill
 * W_E [d, k], b_E [k]                            encoder.weight [k, d], encoder.bias [k]
 * W_D [k, d], b_D [d]                            decoder.weight [d, k], decoder.bias [d]
 * activation_function.log_jumprelu_threshold     log_jumprelu_threshold
 * dataset_average_activation_norm.HOOK []        the norm is in no file: option norm
 * </pre>
 *
 * <p>Today's: {@code pre = (x s_in) W_E + b_E}, compared times the length of the decoder's row, and
 * {@code yhat = (z W_D + b_D) / s_out}. R1-Distill: as SAELens folds it, without the lengths.
 */
final class OpenMossFormat extends PublishedFormat {

    private static final String NAME = "OpenMOSS";
    static final String CONFIG_FILE = "config.json";
    static final String WEIGHTS_FILE = SaeLensFormat.WEIGHTS_FILE;
    static final String NORM = "dataset_average_activation_norm.";
    static final String THRESHOLD = "activation_function.log_jumprelu_threshold";
    private static final String DISTILL_THRESHOLD = "log_jumprelu_threshold";
    private static final Set<String> DISTILL_TENSORS =
            Set.of("encoder.weight", "encoder.bias", "decoder.weight", "decoder.bias", DISTILL_THRESHOLD);

    @Override
    public FormatFacts facts() {
        return new FormatFacts(
                NAME,
                CONFIG_FILE + " and " + WEIGHTS_FILE,
                "OpenMOSS' llamascopium; Llama Scope R1-Distill",
                "standard, topk, jumprelu, transcoder, topk_transcoder (watched, not refitted), jumprelu_transcoder",
                "SAELens",
                "norm, for R1-Distill: the norm_scaling_factor of its release",
                "gated linear units; normalisation by token or batch; sae_type lorsa and molt");
    }

    @Override
    public boolean recognises(ExplainerFiles files) {
        return files.has(CONFIG_FILE, WEIGHTS_FILE) && !files.names().contains(SaeLensConfig.FILE);
    }

    @Override
    Safetensors open(ExplainerFiles files, ExplainerOptions options) throws IOException {
        return SafetensorsFiles.open(files.file(WEIGHTS_FILE));
    }

    @Override
    Blueprint blueprint(ExplainerFiles files, TensorFile tensors, ExplainerOptions options) throws IOException {
        ConfigFile config = ConfigFile.json(files.file(CONFIG_FILE));
        String type = config.text("sae_type", "sae");
        if (!type.equals("sae")) {
            throw new ExplainerFormatException(
                    ("config.json: sae_type \"%s\" is not supported; supported: sae, crosscoder, clt. "
                                    + "Send what your library makes of the rows as reconstructions (`explainer: none`)")
                            .formatted(type));
        }
        refuseGatedLinearUnits(config);
        return tensors.contains("encoder.weight") ? distill(config, tensors, options) : today(config, tensors, options);
    }

    private static Blueprint today(ConfigFile config, TensorFile tensors, ExplainerOptions options) {
        options.requireOnly(NAME);
        for (String name : tensors.names()) {
            if (!name.startsWith(NORM)
                    && !Set.of("W_E", "b_E", "W_D", "b_D", THRESHOLD).contains(name)) {
                throw new ExplainerFormatException(
                        "tensor \"%s\" is not part of what is supported: W_E, b_E, W_D, b_D, %s, %sHOOK"
                                .formatted(name, THRESHOLD, NORM));
            }
        }
        int width = config.size("d_model");
        int features = WeightTensors.size(tensors, "b_E", 1, 0);
        boolean transcoder = isTranscoder(config);
        String activation = config.text("act_fn", "");
        String word = activation.equals("relu") ? transcoder ? "" : "standard" : activation;
        String architecture = transcoder ? word + (word.isEmpty() ? "" : "_") + "transcoder" : word;
        Blueprint blueprint = new Blueprint(tensors, architecture, width, features, width, "of config.json");
        blueprint.encoderWeights = new Blueprint.Part("W_E", false);
        blueprint.encoderBias = "b_E";
        blueprint.decoderWeights = new Blueprint.Part("W_D", true);
        blueprint.decoderBias = config.flag("use_decoder_bias", true) ? "b_D" : null;
        if (isScaled(config)) {
            double in = Math.sqrt(width) / norm(tensors, config.text("hook_point_in", ""));
            double out = Math.sqrt(width) / norm(tensors, config.text("hook_point_out", ""));
            blueprint.encoderFactor = in;
            blueprint.decoderFactorAfterNorms = 1.0 / out;
            blueprint.decoderBiasFactor = 1.0 / out;
            blueprint.notes.add(
                    "dataset_average_activation_norm: the scales of input and output folded into encoder and decoder");
        }
        rescale(config, blueprint);
        select(config, activation, blueprint);
        if (architecture.equals("topk_transcoder")) {
            blueprint.notRefitted =
                    "no format that an adapted decoder is written in has TopK transcoders whose decoder can change"
                            + " without the codes; save it as EleutherAI's sparsify does, or watch only"
                            + " (`adaptation: {mode: observe}`)";
        }
        return blueprint;
    }

    private static void select(ConfigFile config, String activation, Blueprint blueprint) {
        switch (activation) {
            case "relu" -> blueprint.selection = ReluEncoder::new;
            case "jumprelu" ->
                blueprint.selection = layer -> new JumpReluEncoder(layer, exponentials(blueprint, THRESHOLD));
            case "topk" -> {
                int k = config.size("top_k");
                if (k > blueprint.features) {
                    throw new ExplainerFormatException(
                            "config.json: top_k = %d: expected at most %d, the number of features"
                                    .formatted(k, blueprint.features));
                }
                blueprint.mostActive = k;
                blueprint.selection = layer -> new TopKEncoder(layer, k);
            }
            default ->
                throw new ExplainerFormatException(
                        "config.json: act_fn \"%s\" is not supported; supported: relu, jumprelu, topk"
                                .formatted(activation));
        }
    }

    private static Blueprint distill(ConfigFile config, TensorFile tensors, ExplainerOptions options) {
        options.requireOnly("Llama Scope R1-Distill", ExplainerOptions.NORM);
        SafetensorsFiles.requireOnly(tensors, DISTILL_TENSORS);
        Double factor = options.norm();
        if (factor == null) {
            throw new ExplainerFormatException(
                    ("Llama Scope R1-Distill: the factor that rows are multiplied with is in none of its files; "
                                    + "take norm_scaling_factor of SAELens' release list and give %s")
                            .formatted(ExplainerOptions.howTo(ExplainerOptions.NORM, "FACTOR")));
        }
        int width = config.size("d_model");
        int features = WeightTensors.size(tensors, "encoder.bias", 1, 0);
        Blueprint blueprint = new Blueprint(tensors, "jumprelu", width, features, width, "of config.json");
        blueprint.encoderWeights = new Blueprint.Part("encoder.weight", true);
        blueprint.encoderBias = "encoder.bias";
        blueprint.decoderWeights = new Blueprint.Part("decoder.weight", false);
        blueprint.decoderBias = "decoder.bias";
        blueprint.encoderFactor = factor;
        blueprint.decoderFactor = 1.0 / factor;
        blueprint.decoderBiasFactor = 1.0 / factor;
        blueprint.notes.add("norm = %s folded into encoder and decoder".formatted(factor));
        blueprint.selection = layer -> new JumpReluEncoder(layer, exponentials(blueprint, DISTILL_THRESHOLD));
        return blueprint;
    }

    private static double[] exponentials(Blueprint blueprint, String tensor) {
        double[] values = blueprint.bias(tensor, blueprint.features, "d_sae");
        for (int j = 0; j < values.length; j++) {
            values[j] = Math.exp(values[j]);
        }
        return values;
    }

    static double norm(TensorFile tensors, String hook) {
        try {
            double norm = WeightTensors.scalar(tensors, NORM + hook);
            if (norm > 0.0) {
                return norm;
            }
            throw new ExplainerFormatException(
                    "tensor \"%s%s\" is %s: expected a norm above 0".formatted(NORM, hook, norm));
        } catch (SafetensorsException missing) {
            throw new ExplainerFormatException(
                    "config.json: hook \"%s\" has no tensor \"%s%s\" in the weights".formatted(hook, NORM, hook),
                    missing);
        }
    }

    /** Returns whether rows are scaled by the average norm of the data set; false: not at all. */
    static boolean isScaled(ConfigFile config) {
        String norm = config.text("norm_activation", "dataset-wise");
        return switch (norm) {
            case "dataset-wise" -> true;
            case "inference" -> false;
            default ->
                throw new ExplainerFormatException(
                        ("norm_activation \"%s\" is not supported: rows are scaled each by itself; supported: "
                                        + "dataset-wise, inference")
                                .formatted(norm));
        };
    }

    static boolean isTranscoder(ConfigFile config) {
        return !config.text("hook_point_in", "").equals(config.text("hook_point_out", ""));
    }

    static void rescale(ConfigFile config, Blueprint blueprint) {
        if (config.flag("sparsity_include_decoder_norm", true)) {
            blueprint.norms = Blueprint.Norms.RESCALE;
            blueprint.notes.add(
                    "sparsity_include_decoder_norm: lengths of the decoder's rows folded into encoder and decoder;"
                            + " codes are those times the length");
        }
    }

    static void refuseGatedLinearUnits(ConfigFile config) {
        if (config.flag("use_glu_encoder", false)) {
            throw new ExplainerFormatException(
                    "use_glu_encoder = true is not supported; supported: an encoder without gated linear units");
        }
    }
}
