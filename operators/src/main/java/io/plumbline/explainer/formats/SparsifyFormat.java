package io.plumbline.explainer.formats;

import io.plumbline.explainer.ConfigFile;
import io.plumbline.explainer.ExplainerFiles;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.FormatFacts;
import io.plumbline.explainer.GroupMaxEncoder;
import io.plumbline.explainer.TopKEncoder;
import io.plumbline.wire.TensorFile;
import java.io.IOException;
import java.util.List;
import java.util.Set;

/**
 * The folders EleutherAI's sparsify saves and loads, one for each hook: {@code cfg.json} and {@code sae.safetensors}.
 *
 * <pre>
 * tensor           shape       meaning
 * encoder.weight   [k, d]      row j = feature j
 * encoder.bias     [k]
 * W_dec            [k, d]      row j = feature j
 * b_dec            [d]         subtracted from the input too, unless transcode
 * W_skip           [d, d]      with skip_connection: x W_skip^T is added, x as it came
 * </pre>
 *
 * <p>Pre-activations go through relu; then {@code topk} keeps the k largest, {@code groupmax} the largest of each of k
 * groups. The number of features is {@code num_latents}, or {@code d_in} times {@code expansion_factor} where that is
 * 0.
 */
final class SparsifyFormat extends SafetensorsFormat {

    private static final String NAME = "sparsify";
    private static final String WEIGHTS_FILE = "sae.safetensors";
    private static final String SOURCE = "of cfg.json";
    private static final Set<String> TENSORS = Set.of("encoder.weight", "encoder.bias", "W_dec", "b_dec", "W_skip");

    @Override
    public FormatFacts facts() {
        return new FormatFacts(
                NAME,
                "cfg.json and " + WEIGHTS_FILE,
                "EleutherAI's sparsify 1.x",
                "topk, groupmax, topk_transcoder, groupmax_transcoder, each with or without a skip connection",
                NAME,
                "",
                "`signed: true` of versions before 1.0 (trained with negative codes, which the library drops today);"
                        + " other activations");
    }

    @Override
    public boolean recognises(ExplainerFiles files) {
        return files.has(SaeLensConfig.FILE, WEIGHTS_FILE);
    }

    @Override
    String weights(ExplainerFiles files, ExplainerOptions options) {
        return WEIGHTS_FILE;
    }

    @Override
    List<String> companions() {
        return List.of(SaeLensConfig.FILE);
    }

    @Override
    Blueprint blueprint(ExplainerFiles files, TensorFile weights, ExplainerOptions options) throws IOException {
        options.requireOnly(NAME);
        ConfigFile config = ConfigFile.json(files.file(SaeLensConfig.FILE));
        SafetensorsFiles.requireOnly(weights, TENSORS);
        if (config.flag("signed", false)) {
            throw new ExplainerFormatException(
                    "signed = true: trained with negative codes, which sparsify drops since 1.0; there is no library"
                            + " to agree with");
        }
        int width = config.size("d_in");
        long features = config.number("num_latents", 0) > 0
                ? config.size("num_latents")
                : (long) width * config.size("expansion_factor");
        if (features > Integer.MAX_VALUE) {
            throw new ExplainerFormatException("d_in = %d times expansion_factor = %d: more features than %d"
                    .formatted(width, config.size("expansion_factor"), Integer.MAX_VALUE));
        }
        boolean transcoder = config.flag("transcode", false);
        String activation = config.text("activation", "topk");
        int k = config.size("k");
        if (k > features) {
            throw new ExplainerFormatException(
                    "k = %d: expected at most %d, the number of features".formatted(k, features));
        }
        Blueprint blueprint = new Blueprint(
                weights, transcoder ? activation + "_transcoder" : activation, width, (int) features, width, SOURCE);
        blueprint.encoderWeights = new Blueprint.Part("encoder.weight", true);
        blueprint.encoderBias = "encoder.bias";
        blueprint.mostActive = k;
        blueprint.selection = switch (activation) {
            case "topk" -> layer -> new TopKEncoder(layer, k);
            case "groupmax" -> {
                if (features % k != 0) {
                    throw new ExplainerFormatException(
                            "k = %d: expected a divisor of %d, the number of features, for groupmax"
                                    .formatted(k, features));
                }
                yield layer -> new GroupMaxEncoder(layer, k);
            }
            default ->
                throw new ExplainerFormatException(
                        "activation \"%s\" is not supported; supported: topk, groupmax".formatted(activation));
        };
        if (!transcoder) {
            blueprint.subtractsDecoderBias = true;
            blueprint.notes.add("b_dec is subtracted from the input: folded into the encoder's bias");
        }
        if (config.flag("skip_connection", false)) {
            blueprint.skip = new Blueprint.Part("W_skip", true);
        } else if (weights.contains("W_skip")) {
            throw new ExplainerFormatException(
                    "tensor \"W_skip\" beside skip_connection = false; which of the two is meant?");
        }
        return blueprint;
    }
}
