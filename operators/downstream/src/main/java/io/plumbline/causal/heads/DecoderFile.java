package io.plumbline.causal.heads;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.linalg.Weights;
import io.plumbline.wire.Safetensors;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/** A decoder to compare with the trained one. */
public final class DecoderFile {

    private static final String WEIGHTS = "W_dec";
    private static final String BIAS = "b_dec";

    private DecoderFile() {}

    /**
     * Reads a folder that {@code plumbline adapt} wrote, or a safetensors file with {@code W_dec} [features, d] and
     * {@code b_dec} [d]. One with {@code b_dec} alone keeps the trained weights.
     *
     * @throws IllegalArgumentException when it does not fit the explainer
     */
    public static Decoder read(Path path, Explainer trained, ExplainerOptions options) throws IOException {
        Decoder decoder = Files.isDirectory(path)
                ? Formats.read(path, options).decoder()
                : tensors(path, trained.decoder().weights());
        if (decoder.features() != trained.features() || decoder.dimension() != trained.targetWidth()) {
            throw new IllegalArgumentException("%s: a decoder of %d features x %d, the trained one has %d x %d"
                    .formatted(
                            path, decoder.features(), decoder.dimension(), trained.features(), trained.targetWidth()));
        }
        return decoder;
    }

    private static Decoder tensors(Path file, Weights trained) throws IOException {
        try (Safetensors tensors = Safetensors.open(file)) {
            if (!tensors.contains(BIAS)) {
                throw new IllegalArgumentException(
                        "%s: tensors %s, expected W_dec and b_dec, or b_dec alone".formatted(file, tensors.names()));
            }
            return new Decoder(
                    tensors.contains(WEIGHTS) ? tensors.tensor(WEIGHTS).toWeights() : trained,
                    tensors.tensor(BIAS).toDoubles());
        }
    }
}
