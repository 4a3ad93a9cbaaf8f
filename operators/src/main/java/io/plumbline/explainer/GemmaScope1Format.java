package io.plumbline.explainer;

import io.plumbline.wire.NpzFile;
import io.plumbline.wire.TensorFile;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Set;

/**
 * Gemma Scope 1: {@code params.npz} with {@code W_enc [d_in, k]}, {@code W_dec [k, d_out]}, {@code b_enc}, {@code
 * b_dec} and {@code threshold}, and no configuration at all.
 *
 * <p>Of the path one part changes the arithmetic: in a folder {@code embedding} the encoder's weights are divided by
 * sqrt(d_in) and the decoder's multiplied by it. Whether it is a transcoder is told by the repository's name, where the
 * path has it, or an option.
 */
final class GemmaScope1Format extends PublishedFormat {

    private static final String NAME = "Gemma Scope 1";
    private static final String FILE = "params.npz";
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
        Blueprint blueprint = new Blueprint(
                tensors,
                isTranscoder(files, inputWidth, targetWidth, options) ? "jumprelu_transcoder" : "jumprelu",
                inputWidth,
                features,
                targetWidth,
                "of the arrays' shapes");
        blueprint.selection = layer ->
                new JumpReluEncoder(layer, SaeLensFormat.atLeastZero(blueprint.bias("threshold", features, "d_sae")));
        if (hasPart(files, "embedding")) {
            blueprint.encoderFactor = 1.0 / Math.sqrt(inputWidth);
            blueprint.decoderFactor = Math.sqrt(inputWidth);
            blueprint.notes.add("a folder \"embedding\": W_enc divided by sqrt(d_in), W_dec multiplied by it");
        }
        return blueprint;
    }

    private static boolean isTranscoder(
            ExplainerFiles files, int inputWidth, int targetWidth, ExplainerOptions options) {
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
        for (Path part : files.path().toAbsolutePath()) {
            String name = part.toString();
            if (name.contains("transcoder")) {
                return true;
            }
            if (name.equals("embedding") || name.matches(".*gemma-scope-.*-(res|mlp|att)(-.*)?")) {
                return false;
            }
        }
        throw new ExplainerFormatException(
                "params.npz says nowhere whether it is an autoencoder or a transcoder, and both widths are %d; give %s or %s"
                        .formatted(
                                inputWidth,
                                ExplainerOptions.howTo(ExplainerOptions.KIND, "sae"),
                                ExplainerOptions.howTo(ExplainerOptions.KIND, "transcoder")));
    }

    private static boolean hasPart(ExplainerFiles files, String wanted) {
        for (Path part : files.path().toAbsolutePath()) {
            if (part.toString().equals(wanted)) {
                return true;
            }
        }
        return false;
    }
}
