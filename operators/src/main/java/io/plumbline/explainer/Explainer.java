package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;
import io.plumbline.records.TargetBlock;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * A trained explainer: an encoder that turns activations into sparse codes and a decoder that turns codes into what
 * the model computed there. Autoencoders decode to their own input, transcoders to another width or place.
 *
 * <pre>{@code
 * Explainer explainer = Formats.read(Path.of("sae"));
 * Matrix rows = Matrix.zeros(2, explainer.inputWidth()); // two rows of activations
 * SparseCodes codes = explainer.encoder().encode(rows);
 * Matrix reconstructed = explainer.decoder().reconstruct(codes); // what the decoder writes, two rows of targetWidth()
 * }</pre>
 *
 * <p>{@code architecture} is SAELens' word for the kind: {@code standard}, {@code topk}, {@code jumprelu}, {@code
 * gated}, {@code abstopk}, {@code matching_pursuit}, {@code transcoder}, {@code skip_transcoder}, {@code
 * jumprelu_transcoder}, {@code jumprelu_skip_transcoder}; and, of other formats, {@code groupmax}, {@code
 * topk_transcoder}, {@code jumprelu_crosscoder} and the like.
 *
 * <p>What the decoder writes is the target itself, or stands to it as {@code space} says.
 *
 * <p>A dictionary that writes into several layers is several explainers, one for each target layer, which share their
 * encoders: {@code block} says which layers this one reads and writes. It is null for all others.
 */
public record Explainer(
        String architecture,
        Encoder encoder,
        Decoder decoder,
        DecoderSpace space,
        Origin origin,
        @Nullable TargetBlock block) {

    /** Ends the name of an architecture that reads and writes several layers. */
    public static final String CROSSCODER = "crosscoder";

    private static final String TRANSCODER = "transcoder";

    public Explainer {
        if (encoder.features() != decoder.features() && !architecture.equals(GivenReconstructions.ARCHITECTURE)) {
            throw new IllegalArgumentException(
                    "the encoder has %d features, the decoder %d".formatted(encoder.features(), decoder.features()));
        }
        if (!isTranscoder(architecture) && encoder.inputWidth() != decoder.dimension()) {
            throw new IllegalArgumentException("an autoencoder (%s) reads rows of %d and writes rows of %d"
                    .formatted(architecture, encoder.inputWidth(), decoder.dimension()));
        }
    }

    /** Puts one together that is no block of a larger one. */
    public Explainer(String architecture, Encoder encoder, Decoder decoder, DecoderSpace space, Origin origin) {
        this(architecture, encoder, decoder, space, origin, null);
    }

    /** Puts one together whose decoder writes targets as they come. */
    public Explainer(String architecture, Encoder encoder, Decoder decoder, Path directory) {
        this(architecture, encoder, decoder, DecoderSpace.PLAIN, Origin.of(directory));
    }

    /** Returns the folder it came from. */
    public Path directory() {
        return origin.folder();
    }

    /** Returns whether batches must bring targets of their own. */
    public boolean isTranscoder() {
        return isTranscoder(architecture);
    }

    /** Returns whether explainers of an architecture write other rows than they read. */
    public static boolean isTranscoder(String architecture) {
        return architecture.endsWith(TRANSCODER)
                || architecture.endsWith(CROSSCODER)
                || architecture.equals(GivenReconstructions.ARCHITECTURE);
    }

    /** Returns whether batches bring the reconstructions themselves, as their activations. */
    public boolean isGiven() {
        return architecture.equals(GivenReconstructions.ARCHITECTURE);
    }

    /** Returns whether the encoder gives codes of features: not so where records bring reconstructions alone. */
    public boolean hasCodes() {
        return !isGiven() || inputWidth() > targetWidth();
    }

    /** Returns what the explainer makes of rows that its encoder reads. */
    public Matrix reconstruct(Matrix activations) {
        if (!isGiven()) {
            return decoder.reconstruct(encoder.encode(activations));
        }
        return activations.columns() == targetWidth() ? activations : activations.leadingColumns(targetWidth());
    }

    public int inputWidth() {
        return encoder.inputWidth();
    }

    public int targetWidth() {
        return decoder.dimension();
    }

    public int features() {
        return encoder.features();
    }

    /** Returns which block this is. */
    public TargetBlock requireBlock() {
        if (block == null) {
            throw new IllegalArgumentException("%s is no block of a larger explainer".formatted(origin.path()));
        }
        return block;
    }

    /**
     * Refuses an explainer whose decoder cannot be replaced.
     *
     * @throws ExplainerFormatException saying why
     */
    public void requireRefittable() {
        String reason = origin.notRefitted();
        if (reason != null) {
            throw new ExplainerFormatException(
                    "%s: %s is watched and not refitted: %s".formatted(origin.path(), architecture, reason));
        }
    }
}
