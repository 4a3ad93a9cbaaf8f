package io.plumbline.explainer;

import io.plumbline.wire.DType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/**
 * A trained explainer: an encoder that turns activations into sparse codes and a decoder that turns codes into what
 * the model computed there. Autoencoders decode to their own input, transcoders to another width or place.
 *
 * <p>{@code architecture} is the format's own word: {@code standard}, {@code topk}, {@code jumprelu},
 * {@code transcoder}, {@code jumprelu_transcoder}.
 */
public record Explainer(String architecture, Encoder encoder, Decoder decoder, Path directory) {

    private static final String TRANSCODER = "transcoder";
    private static final List<ExplainerFormat> FORMATS = List.of(new SaeLensFormat());

    public Explainer {
        if (encoder.features() != decoder.features()) {
            throw new IllegalArgumentException(
                    "the encoder has %d features, the decoder %d".formatted(encoder.features(), decoder.features()));
        }
        if (!isTranscoder(architecture) && encoder.inputWidth() != decoder.dimension()) {
            throw new IllegalArgumentException("an autoencoder (%s) reads rows of %d and writes rows of %d"
                    .formatted(architecture, encoder.inputWidth(), decoder.dimension()));
        }
    }

    /**
     * Reads an explainer from a folder in any format known.
     *
     * @throws ExplainerFormatException saying what is wrong with the folder and what is supported
     */
    public static Explainer read(Path directory) throws IOException {
        return format(directory).read(directory);
    }

    /**
     * The sizes of the explainer in a folder, without reading its weights.
     *
     * @throws ExplainerFormatException as {@link #read}, for what its configuration tells
     */
    public static ExplainerShape shape(Path directory) throws IOException {
        return format(directory).shape(directory);
    }

    /** Whether batches must bring targets of their own. */
    public boolean isTranscoder() {
        return isTranscoder(architecture);
    }

    static boolean isTranscoder(String architecture) {
        return architecture.endsWith(TRANSCODER);
    }

    public int inputWidth() {
        return encoder.inputWidth();
    }

    public int targetWidth() {
        return decoder.dimension();
    }

    public int features() {
        return decoder.features();
    }

    /** Writes this explainer with another decoder, in the format it came in; see {@link ExplainerFormat#writeAdapted}. */
    public void writeAdapted(Decoder adapted, DType dtype, Map<String, String> lineage, Path outDirectory)
            throws IOException {
        format(directory).writeAdapted(this, adapted, dtype, lineage, outDirectory);
    }

    private static ExplainerFormat format(Path directory) {
        if (!Files.isDirectory(directory)) {
            throw new ExplainerFormatException(directory + " is not a folder; expected the folder of an explainer");
        }
        for (ExplainerFormat format : FORMATS) {
            if (format.recognises(directory)) {
                return format;
            }
        }
        throw new ExplainerFormatException("%s holds no explainer; supported: %s"
                .formatted(
                        directory,
                        String.join(
                                ", ",
                                FORMATS.stream()
                                        .map(ExplainerFormat::description)
                                        .toList())));
    }
}
