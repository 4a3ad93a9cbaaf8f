package io.plumbline.explainer.formats;

import io.plumbline.explainer.ConfigFile;
import io.plumbline.explainer.ExplainerFiles;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.FormatFacts;
import io.plumbline.explainer.Normalisation;
import io.plumbline.explainer.TopKEncoder;
import io.plumbline.wire.TensorFile;
import io.plumbline.wire.TorchFile;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Dicts of tensors that {@code torch.save} wrote, told apart by the names of their tensors: dictionary_learning,
 * OpenAI's, Goodfire's, Qwen Scope, DeepSeek R1's, Connor and Rob's, Apollo's.
 *
 * <p>Only a dict of tensors is read, and nothing is executed; see {@link TorchFile}.
 */
final class TorchFormat extends PublishedFormat {

    private static final Pattern FILES = Pattern.compile(".*\\.(pt|pth|pkl|bin)");

    @Override
    public FormatFacts facts() {
        return new FormatFacts(
                "torch",
                "*.pt, *.pth, *.bin or *.pkl of torch.save",
                "dictionary_learning (ae.pt), OpenAI, Goodfire, Qwen Scope, DeepSeek R1 (qresearch), Connor and Rob,"
                        + " Apollo's e2e_sae",
                "standard, topk, jumprelu, gated; what BatchTopK and Matryoshka save",
                "SAELens",
                "k, for Qwen Scope: the number in its repository's name (L0_50 is 50)",
                "everything but a dict of tensors, by the name of the opcode, function or class; files of torch"
                        + " before 1.6");
    }

    @Override
    public boolean recognises(ExplainerFiles files) {
        return !files.matching(FILES).isEmpty();
    }

    private static String name(ExplainerFiles files) {
        List<String> found = files.matching(FILES);
        if (found.size() > 1) {
            throw new ExplainerFormatException(
                    "a folder of %d files of torch: give the path of one of %s".formatted(found.size(), found));
        }
        return found.get(0);
    }

    @Override
    TorchFile open(ExplainerFiles files, ExplainerOptions options) throws IOException {
        return TorchFile.open(files.file(name(files)));
    }

    @Override
    Blueprint blueprint(ExplainerFiles files, TensorFile tensors, ExplainerOptions options) throws IOException {
        Set<String> names = tensors.names();
        if (names.contains("encoder_linear.weight")) {
            return linear(
                    tensors,
                    options,
                    new Linear(
                            "Goodfire",
                            "encoder_linear.weight",
                            "encoder_linear.bias",
                            "decoder_linear.weight",
                            "decoder_linear.bias"));
        }
        if (names.contains("encoder.0.weight")) {
            Blueprint blueprint = linear(
                    tensors,
                    options,
                    new Linear("e2e_sae", "encoder.0.weight", "encoder.0.bias", "decoder.weight", "decoder.bias"));
            blueprint.norms = Blueprint.Norms.UNIT_ROWS;
            blueprint.notes.add("columns of decoder.weight brought to length 1, as the library does when it decodes");
            return blueprint;
        }
        if (names.contains("pre_bias")) {
            return openAi(tensors, options);
        }
        if (DictionaryLearning.isOne(files, names)) {
            return DictionaryLearning.blueprint(files, tensors, options);
        }
        if (names.contains("encoder.weight") && names.contains("decoder.bias")) {
            return linear(
                    tensors,
                    options,
                    new Linear("DeepSeek R1", "encoder.weight", "encoder.bias", "decoder.weight", "decoder.bias"));
        }
        if (names.contains("W_enc")) {
            return named(files, tensors, options);
        }
        throw new ExplainerFormatException(
                ("its tensors %s are of no dictionary known; supported: dictionary_learning, OpenAI, Goodfire, "
                                + "Qwen Scope, DeepSeek R1, Connor and Rob, e2e_sae. "
                                + "Others are read once SAELens has saved them (save_model)")
                        .formatted(names));
    }

    /** The names of the four tensors of two linear layers of torch: {@code [k, d]} and {@code [d, k]}. */
    private record Linear(
            String library, String encoderWeights, String encoderBias, String decoderWeights, String decoderBias) {}

    private static Blueprint linear(TensorFile tensors, ExplainerOptions options, Linear linear) {
        options.requireOnly(linear.library());
        SafetensorsFiles.requireOnly(
                tensors,
                Set.of(linear.encoderWeights(), linear.encoderBias(), linear.decoderWeights(), linear.decoderBias()));
        Blueprint blueprint = blueprint(tensors, "standard", linear.encoderBias(), linear.decoderBias());
        blueprint.encoderWeights = new Blueprint.Part(linear.encoderWeights(), true);
        blueprint.encoderBias = linear.encoderBias();
        blueprint.decoderWeights = new Blueprint.Part(linear.decoderWeights(), false);
        blueprint.decoderBias = linear.decoderBias();
        return blueprint;
    }

    /** Returns the blueprint of two layers, whose sizes are those of the biases. */
    static Blueprint blueprint(TensorFile tensors, String architecture, String encoderBias, String decoderBias) {
        int width = WeightTensors.size(tensors, decoderBias, 1, 0);
        int features = WeightTensors.size(tensors, encoderBias, 1, 0);
        return new Blueprint(tensors, architecture, width, features, width, "of the biases' lengths");
    }

    private static Blueprint openAi(TensorFile tensors, ExplainerOptions options) {
        options.requireOnly("OpenAI");
        for (String name : tensors.names()) {
            if (!Set.of("pre_bias", "latent_bias", "encoder.weight", "decoder.weight")
                            .contains(name)
                    && !name.startsWith("stats_")
                    && !name.startsWith("latents_")) {
                throw new ExplainerFormatException("tensor \"%s\" is not part of what is supported".formatted(name));
            }
        }
        Map<String, Object> values = tensors instanceof TorchFile file ? file.values() : Map.of();
        String activation = String.valueOf(values.get("activation"));
        boolean topK = activation.equals("TopK");
        if (!topK && !activation.equals("ReLU")) {
            throw new ExplainerFormatException(
                    "activation %s is not supported; supported: TopK, ReLU".formatted(activation));
        }
        Blueprint blueprint = blueprint(tensors, topK ? "topk" : "standard", "latent_bias", "pre_bias");
        blueprint.encoderWeights = new Blueprint.Part("encoder.weight", true);
        blueprint.encoderBias = "latent_bias";
        blueprint.decoderWeights = new Blueprint.Part("decoder.weight", false);
        blueprint.decoderBias = "pre_bias";
        blueprint.subtractsDecoderBias = true;
        blueprint.notes.add("pre_bias is subtracted from the input: folded into the encoder's bias");
        if (topK) {
            Object after = values.get("activation_state_dict.postact_fn");
            if (after != null && !after.equals("ReLU")) {
                throw new ExplainerFormatException("postact_fn %s is not supported; supported: ReLU".formatted(after));
            }
            int k = checkedK(values.get("activation_state_dict.k"), blueprint.features);
            blueprint.mostActive = k;
            blueprint.selection = layer -> new TopKEncoder(layer, k);
            blueprint.normalisation = Normalisation.LAYER_NORM;
            blueprint.normalisationIsUndone = true;
        }
        return blueprint;
    }

    static int checkedK(@Nullable Object k, int features) {
        if (!(k instanceof Long number) || number < 1 || number > features) {
            throw new ExplainerFormatException(
                    "k = %s: expected 1 to %d, the number of features".formatted(k, features));
        }
        return number.intValue();
    }

    /**
     * Returns the blueprint of Connor and Rob's dictionaries, which have a configuration beside them; Qwen Scope's are
     * the other way round, and say k nowhere.
     */
    private static Blueprint named(ExplainerFiles files, TensorFile tensors, ExplainerOptions options)
            throws IOException {
        SafetensorsFiles.requireOnly(tensors, Set.of("W_enc", "W_dec", "b_enc", "b_dec"));
        String configName = name(files).replaceFirst("\\.[a-z]+$", "_cfg.json");
        if (files.names().contains(configName)) {
            return connorAndRob(ConfigFile.json(files.file(configName)), tensors, options);
        }
        Blueprint blueprint = blueprint(tensors, "topk", "b_enc", "b_dec");
        boolean featureFirst = tensors.tensor("W_enc").shape().get(0) == blueprint.features;
        if (!featureFirst) {
            throw new ExplainerFormatException(
                    "W_enc is [d, k], as Connor and Rob's are: then %s must lie beside it; copy it too"
                            .formatted(configName));
        }
        options.requireOnly("Qwen Scope", ExplainerOptions.K);
        Integer k = options.k();
        if (k == null) {
            throw new ExplainerFormatException(("Qwen Scope: how many features are active is in no file; "
                            + "it is the number in the repository's name (L0_50 is 50): give %s")
                    .formatted(ExplainerOptions.howTo(ExplainerOptions.K, "50")));
        }
        if (k > blueprint.features) {
            throw new ExplainerFormatException(
                    "option k = %d: expected at most %d, the number of features".formatted(k, blueprint.features));
        }
        blueprint.encoderWeights = new Blueprint.Part("W_enc", true);
        blueprint.decoderWeights = new Blueprint.Part("W_dec", false);
        blueprint.mostActive = k;
        blueprint.selection = layer -> new TopKEncoder(layer, k);
        return blueprint;
    }

    private static Blueprint connorAndRob(ConfigFile config, TensorFile tensors, ExplainerOptions options) {
        options.requireOnly("Connor and Rob's");
        Blueprint blueprint = blueprint(tensors, "standard", "b_enc", "b_dec");
        if (config.size("act_size") != blueprint.inputWidth || config.size("dict_size") != blueprint.features) {
            throw new ExplainerFormatException(
                    "act_size = %d and dict_size = %d of its configuration are not %d and %d, the lengths of the biases"
                            .formatted(
                                    config.size("act_size"),
                                    config.size("dict_size"),
                                    blueprint.inputWidth,
                                    blueprint.features));
        }
        blueprint.subtractsDecoderBias = true;
        blueprint.notes.add("b_dec is subtracted from the input: folded into the encoder's bias");
        return blueprint;
    }
}
