package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.TargetBlock;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * A trained explainer: an encoder that turns activations into sparse codes and a decoder that turns codes into what
 * the model computed there. Autoencoders decode to their own input, transcoders to another width or place.
 *
 * <pre>{@code
 * Explainer explainer = Explainer.read(Path.of("sae"));
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

    static final String CROSSCODER = "crosscoder";

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

    /**
     * Reads an explainer in any format known; see {@link #read(Path, ExplainerOptions)}.
     */
    public static Explainer read(Path path) throws IOException {
        return read(path, ExplainerOptions.NONE);
    }

    /**
     * Reads an explainer in any format known.
     *
     * @param path its folder, or its file
     * @param options what is in none of the files
     * @throws ExplainerFormatException saying what is wrong with it and what is supported, or which option is missing
     */
    public static Explainer read(Path path, ExplainerOptions options) throws IOException {
        ExplainerFiles files = ExplainerFiles.of(path);
        return Formats.of(files).read(files, options);
    }

    /**
     * Reads all blocks of an explainer with several target layers, which share their encoders; or the one block of the
     * option {@code target}; or an explainer with one decoder.
     *
     * @throws ExplainerFormatException as {@link #read(Path, ExplainerOptions)}
     */
    public static List<Explainer> readBlocks(Path path, ExplainerOptions options) throws IOException {
        ExplainerFiles files = ExplainerFiles.of(path);
        return Formats.of(files).readBlocks(files, options);
    }

    /**
     * Returns the layers that an explainer writes into where each is a block of its own; none for an explainer with
     * one decoder. Reads no weights.
     *
     * @throws ExplainerFormatException as {@link #read(Path, ExplainerOptions)}
     */
    public static List<Integer> targets(Path path, ExplainerOptions options) throws IOException {
        ExplainerFiles files = ExplainerFiles.of(path);
        return Formats.of(files).targets(files, options);
    }

    /**
     * Returns the sizes of an explainer, without reading its weights.
     *
     * @throws ExplainerFormatException as {@link #read}, for what its configuration tells
     */
    public static ExplainerShape shape(Path path, ExplainerOptions options) throws IOException {
        ExplainerFiles files = ExplainerFiles.of(path);
        return Formats.of(files).shape(files, options);
    }

    /**
     * Returns the hook that a SAELens folder says it was trained on, without control characters; null where it does not
     * say.
     */
    public static @Nullable String hookName(Path folder) throws IOException {
        ConfigFile config = ConfigFile.jsonIfThere(folder.resolve(SaeLensConfig.FILE));
        String hook = config.nested("metadata").text("hook_name", config.text("hook_name", ""));
        // The folder may be anyone's: what it calls its hook must not move a terminal's cursor or change its colours.
        return hook.isEmpty() ? null : hook.replaceAll("\\p{Cntrl}", "?");
    }

    /** Returns the table of formats: one line each. */
    public static List<FormatFacts> formats() {
        return Formats.facts();
    }

    /** Returns the folder it came from. */
    public Path directory() {
        return origin.folder();
    }

    /** Returns whether batches must bring targets of their own. */
    public boolean isTranscoder() {
        return isTranscoder(architecture);
    }

    static boolean isTranscoder(String architecture) {
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

    /**
     * Writes this explainer with another decoder, in the format it came in or as a SAELens folder.
     *
     * @param dtype F32 or F64, of the decoder
     * @param lineage string metadata of the weights file
     * @throws ExplainerFormatException where its decoder cannot be replaced, or the files are no longer those that were
     *     read
     */
    public void writeAdapted(Decoder adapted, DType dtype, Map<String, String> lineage, Path outDirectory)
            throws IOException {
        requireRefittable();
        Formats.of(ExplainerFiles.of(origin.path())).writeAdapted(this, adapted, dtype, lineage, outDirectory);
    }

    /**
     * Writes blocks of one explainer with other decoders as one folder in the format it came in; blocks that are not
     * named keep theirs.
     *
     * @param blocks of one explainer
     * @param adapted the decoder of each
     * @param dtype F32 or F64, of the decoders
     * @param lineage string metadata of the weights' files
     */
    public static void writeAdapted(
            List<Explainer> blocks, List<Decoder> adapted, DType dtype, Map<String, String> lineage, Path outDirectory)
            throws IOException {
        blocks.forEach(Explainer::requireRefittable);
        Formats.of(ExplainerFiles.of(blocks.get(0).origin().path()))
                .writeAdapted(blocks, adapted, dtype, lineage, outDirectory);
    }

    /** Returns which block this is. */
    TargetBlock requireBlock() {
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
