package io.plumbline.explainer.formats;

import io.plumbline.explainer.ConfigFile;
import io.plumbline.explainer.ExplainerFiles;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.FormatFacts;
import io.plumbline.explainer.JumpReluEncoder;
import io.plumbline.wire.TensorFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Gemma Scope 2: {@code params.safetensors}, nearly always with a {@code config.json}.
 *
 * <pre>
 * tensor                   shape          meaning
 * w_enc                    [d_in, k]
 * w_dec                    [k, d_out]
 * b_enc, threshold         [k]            pre where pre is above both the threshold and 0
 * b_dec                    [d_out]
 * affine_skip_connection   [d_in, d_out]  optional: x affine is added
 * </pre>
 */
final class GemmaScope2Format extends SafetensorsFormat {

    private static final String NAME = "Gemma Scope 2";
    private static final String WEIGHTS_FILE = "params.safetensors";
    private static final String CONFIG_FILE = "config.json";
    static final Pattern REPOSITORY = Pattern.compile("(?:.*[-_])?gemma[-_]scope[-_]2[-_][0-9a-z]+(?:[-_](?:pt|it))?");
    static final Pattern LAYOUT = Pattern.compile("[^/]+/(?:layer_[^/]+_)?width_[^/]+");
    private static final Pattern SITE = Pattern.compile("(?:transcoder|resid_post|attn_out|mlp_out)(?:_all)?");
    private static final String AFFINE = "affine_skip_connection";
    private static final Set<String> TENSORS = Set.of("w_enc", "w_dec", "b_enc", "b_dec", "threshold", AFFINE);

    @Override
    public FormatFacts facts() {
        return new FormatFacts(
                NAME,
                WEIGHTS_FILE,
                "Google DeepMind",
                "jumprelu, jumprelu_transcoder, jumprelu_skip_transcoder",
                NAME,
                "kind, where neither config.json nor the path says whether it is a transcoder",
                "architectures other than jump_relu");
    }

    @Override
    public boolean recognises(ExplainerFiles files) {
        return files.has(WEIGHTS_FILE);
    }

    @Override
    String weights(ExplainerFiles files, ExplainerOptions options) {
        return WEIGHTS_FILE;
    }

    @Override
    List<String> companions() {
        return List.of(CONFIG_FILE);
    }

    @Override
    Blueprint blueprint(ExplainerFiles files, TensorFile tensors, ExplainerOptions options) throws IOException {
        options.requireOnly(NAME, ExplainerOptions.KIND);
        SafetensorsFiles.requireOnly(tensors, TENSORS);
        Path configFile = files.file(CONFIG_FILE);
        ConfigFile config = Files.isRegularFile(configFile) ? ConfigFile.json(configFile) : null;
        if (config != null && !config.text("architecture", "jump_relu").equals("jump_relu")) {
            throw new ExplainerFormatException("config.json: architecture \"%s\" is not supported; supported: jump_relu"
                    .formatted(config.text("architecture", "")));
        }
        int inputWidth = WeightTensors.size(tensors, "w_enc", 2, 0);
        int features = WeightTensors.size(tensors, "w_enc", 2, 1);
        int targetWidth = WeightTensors.size(tensors, "b_dec", 1, 0);
        boolean affine = tensors.contains(AFFINE);
        if (config != null && config.flag("affine_connection", affine) != affine) {
            throw new ExplainerFormatException("config.json: affine_connection = %s, but the file has %s tensor \"%s\""
                    .formatted(!affine, affine ? "a" : "no", AFFINE));
        }
        Boolean told = told(config, options, affine || inputWidth != targetWidth);
        String site = told == null ? site(files) : "";
        boolean transcoder = told == null ? site.startsWith("transcoder") : told;
        Blueprint blueprint = new Blueprint(
                tensors,
                transcoder ? affine ? "jumprelu_skip_transcoder" : "jumprelu_transcoder" : "jumprelu",
                inputWidth,
                features,
                targetWidth,
                "of the tensors' shapes");
        blueprint.encoderWeights = new Blueprint.Part("w_enc", false);
        blueprint.decoderWeights = new Blueprint.Part("w_dec", true);
        blueprint.selection = layer ->
                new JumpReluEncoder(layer, SaeLensFormat.atLeastZero(blueprint.bias("threshold", features, "d_sae")));
        if (told == null) {
            blueprint.decidedByPath("the folder \"%s\" says that it is kind = %s; %s says otherwise"
                    .formatted(
                            site,
                            transcoder ? "transcoder" : "sae",
                            ExplainerOptions.howTo(ExplainerOptions.KIND, transcoder ? "sae" : "transcoder")));
        }
        if (affine) {
            blueprint.skip = new Blueprint.Part(AFFINE, false);
        }
        return blueprint;
    }

    /** Returns whether it is a transcoder; null where the path has to say. */
    private static @Nullable Boolean told(@Nullable ConfigFile config, ExplainerOptions options, boolean byTensors) {
        Boolean told = options.transcoder();
        if (told != null) {
            return told;
        }
        String type = config == null ? "" : config.text("type", "");
        switch (type) {
            case "transcoder" -> {
                return true;
            }
            case "sae" -> {
                return false;
            }
            case "" -> {}
            default ->
                throw new ExplainerFormatException(
                        "config.json: type \"%s\" is not supported; supported: sae, transcoder".formatted(type));
        }
        if (byTensors || (config != null && !config.isNull("hf_hook_point_out"))) {
            return true;
        }
        return null;
    }

    /** Returns the folder of the repository that says which of the two it is. */
    private static String site(ExplainerFiles files) {
        String site = PublishedPath.of(files, REPOSITORY, LAYOUT).folder(SITE);
        if (!site.isEmpty()) {
            return site;
        }
        throw new ExplainerFormatException(
                "neither config.json nor the path says whether this is an autoencoder or a transcoder; give %s or %s"
                        .formatted(
                                ExplainerOptions.howTo(ExplainerOptions.KIND, "sae"),
                                ExplainerOptions.howTo(ExplainerOptions.KIND, "transcoder")));
    }
}
