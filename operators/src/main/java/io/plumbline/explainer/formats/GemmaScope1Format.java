package io.plumbline.explainer.formats;

import io.plumbline.explainer.ExplainerFiles;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.FormatFacts;
import io.plumbline.explainer.JumpReluEncoder;
import io.plumbline.wire.NpzFile;
import io.plumbline.wire.TensorFile;
import java.io.IOException;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * Gemma Scope 1: {@code params.npz} with {@code W_enc [d_in, k]}, {@code W_dec [k, d_out]}, {@code b_enc}, {@code
 * b_dec} and {@code threshold}, and no configuration at all.
 *
 * <p>The path decides two things, see {@link PublishedPath}. In the repository's folder {@code embedding} the encoder's
 * weights are divided by sqrt(d_in) and the decoder's multiplied by it. The repository's name says whether it is a
 * transcoder, unless an option does.
 */
final class GemmaScope1Format extends PublishedFormat {

    private static final String NAME = "Gemma Scope 1";
    private static final String FILE = "params.npz";
    private static final String SAE = "sae";
    private static final String TRANSCODER = "transcoder";
    private static final Pattern REPOSITORY = Pattern.compile(
            "(?:.*[-_])?gemma[-_]scope[-_][0-9a-z]+(?:[-_](?:pt|it))?[-_](res|mlp|att|transcoders?)(?:[-_]canonical)?");
    private static final Pattern LAYOUT = Pattern.compile("[^/]+/width_[^/]+/[^/]+");
    private static final Pattern EMBEDDING = Pattern.compile("embedding");
    private static final Set<String> TENSORS = Set.of("W_enc", "W_dec", "b_enc", "b_dec", "threshold");

    @Override
    public FormatFacts facts() {
        return new FormatFacts(
                NAME,
                FILE,
                "Google DeepMind",
                "jumprelu, jumprelu_transcoder",
                "SAELens",
                "kind: sae or transcoder, where both widths are equal; nothing in the file says",
                "");
    }

    @Override
    public boolean recognises(ExplainerFiles files) {
        return files.has(FILE);
    }

    @Override
    NpzFile open(ExplainerFiles files, ExplainerOptions options) throws IOException {
        return NpzFile.open(files.file(FILE));
    }

    @Override
    Blueprint blueprint(ExplainerFiles files, TensorFile tensors, ExplainerOptions options) {
        options.requireOnly(NAME, ExplainerOptions.KIND);
        SafetensorsFiles.requireOnly(tensors, TENSORS);
        int inputWidth = WeightTensors.size(tensors, "W_enc", 2, 0);
        int features = WeightTensors.size(tensors, "W_enc", 2, 1);
        int targetWidth = WeightTensors.size(tensors, "b_dec", 1, 0);
        PublishedPath path = PublishedPath.of(files, REPOSITORY, LAYOUT);
        boolean embedding = !path.folder(EMBEDDING).isEmpty();
        String kindByPath = options.transcoder() == null && inputWidth == targetWidth ? kind(path, embedding) : "";
        Blueprint blueprint = new Blueprint(
                tensors,
                isTranscoder(kindByPath, inputWidth, targetWidth, options) ? "jumprelu_transcoder" : "jumprelu",
                inputWidth,
                features,
                targetWidth,
                "of the arrays' shapes");
        blueprint.selection = layer ->
                new JumpReluEncoder(layer, SaeLensFormat.atLeastZero(blueprint.bias("threshold", features, "d_sae")));
        if (embedding) {
            blueprint.encoderFactor = 1.0 / Math.sqrt(inputWidth);
            blueprint.decoderFactor = Math.sqrt(inputWidth);
            blueprint.decidedByPath(
                    "the folder \"embedding\" says that it reads the embedding: W_enc divided by sqrt(d_in), "
                            + "W_dec multiplied by it; move the files to a folder of another name where they read a "
                            + "layer");
        }
        if (!kindByPath.isEmpty()) {
            blueprint.decidedByPath("the folder \"%s\" says that it is kind = %s; %s says otherwise"
                    .formatted(
                            embedding ? "embedding" : path.repository(),
                            kindByPath,
                            ExplainerOptions.howTo(ExplainerOptions.KIND, kindByPath.equals(SAE) ? TRANSCODER : SAE)));
        }
        return blueprint;
    }

    /** Returns what the path says; empty where it says nothing. */
    private static String kind(PublishedPath path, boolean embedding) {
        if (embedding) {
            return SAE;
        }
        Matcher repository = REPOSITORY.matcher(path.repository());
        if (!repository.matches()) {
            return "";
        }
        return repository.group(1).startsWith(TRANSCODER) ? TRANSCODER : SAE;
    }

    private static boolean isTranscoder(String kindByPath, int inputWidth, int targetWidth, ExplainerOptions options) {
        Boolean told = options.transcoder();
        if (told != null) {
            if (!told && inputWidth != targetWidth) {
                throw new ExplainerFormatException(
                        "option kind = sae: it reads rows of %d and writes rows of %d; expected transcoder"
                                .formatted(inputWidth, targetWidth));
            }
            return told;
        }
        if (inputWidth != targetWidth) {
            return true;
        }
        if (kindByPath.isEmpty()) {
            throw new ExplainerFormatException(
                    ("params.npz says nowhere whether it is an autoencoder or a transcoder, and both widths are %d; "
                                    + "give %s or %s")
                            .formatted(
                                    inputWidth,
                                    ExplainerOptions.howTo(ExplainerOptions.KIND, SAE),
                                    ExplainerOptions.howTo(ExplainerOptions.KIND, TRANSCODER)));
        }
        return kindByPath.equals(TRANSCODER);
    }
}
