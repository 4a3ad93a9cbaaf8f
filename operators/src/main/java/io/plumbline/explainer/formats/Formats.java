package io.plumbline.explainer.formats;

import io.plumbline.explainer.ConfigFile;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerFiles;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.ExplainerShape;
import io.plumbline.explainer.FormatFacts;
import io.plumbline.wire.DType;
import io.plumbline.wire.Printable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reads explainers in any format known, and writes them with other decoders.
 *
 * <p>Formats are tried in the order of their list.
 */
public final class Formats {

    private static final List<ExplainerFormat> ALL = List.of(
            new SparsifyFormat(),
            new SaeLensFormat(),
            new GemmaScope1Format(),
            new GemmaScope2Format(),
            new CircuitTracerFormat(),
            new LlamaScopeFormat(),
            new OpenMossBlocksFormat(),
            new OpenMossFormat(),
            new CircuitTracerCrossLayerFormat(),
            new GemmaScope2CrossLayerFormat(),
            new TemporalFormat(),
            new TorchFormat());

    private Formats() {}

    /** Returns the table of formats: one line each. */
    public static List<FormatFacts> facts() {
        return ALL.stream().map(ExplainerFormat::facts).toList();
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
        return of(files).read(files, options);
    }

    /**
     * Reads all blocks of an explainer with several target layers, which share their encoders; or the one block of the
     * option {@code target}; or an explainer with one decoder.
     *
     * @throws ExplainerFormatException as {@link #read(Path, ExplainerOptions)}
     */
    public static List<Explainer> readBlocks(Path path, ExplainerOptions options) throws IOException {
        ExplainerFiles files = ExplainerFiles.of(path);
        return of(files).readBlocks(files, options);
    }

    /**
     * Returns the layers that an explainer writes into where each is a block of its own; none for an explainer with
     * one decoder. Reads no weights.
     *
     * @throws ExplainerFormatException as {@link #read(Path, ExplainerOptions)}
     */
    public static List<Integer> targets(Path path, ExplainerOptions options) throws IOException {
        ExplainerFiles files = ExplainerFiles.of(path);
        return of(files).targets(files, options);
    }

    /**
     * Returns the sizes of an explainer, without reading its weights.
     *
     * @throws ExplainerFormatException as {@link #read(Path)}, for what its configuration tells
     */
    public static ExplainerShape shape(Path path, ExplainerOptions options) throws IOException {
        ExplainerFiles files = ExplainerFiles.of(path);
        return of(files).shape(files, options);
    }

    /**
     * Returns the hook that a SAELens folder says it was trained on, without control characters; null where it does not
     * say.
     */
    public static @Nullable String hookName(Path folder) throws IOException {
        ConfigFile config = ConfigFile.jsonIfThere(folder.resolve(SaeLensConfig.FILE));
        String hook = config.nested("metadata").text("hook_name", config.text("hook_name", ""));
        // The folder may be anyone's: what it calls its hook must not move a terminal's cursor or change its colours.
        return hook.isEmpty() ? null : Printable.of(hook);
    }

    /**
     * Writes an explainer with another decoder, in the format it came in or as a SAELens folder.
     *
     * @param dtype F32 or F64, of the decoder
     * @param lineage string metadata of the weights file
     * @throws ExplainerFormatException where its decoder cannot be replaced, or the files are no longer those that were
     *     read
     */
    public static void writeAdapted(
            Explainer trained, Decoder adapted, DType dtype, Map<String, String> lineage, Path outDirectory)
            throws IOException {
        trained.requireRefittable();
        of(ExplainerFiles.of(trained.origin().path())).writeAdapted(trained, adapted, dtype, lineage, outDirectory);
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
        of(ExplainerFiles.of(blocks.get(0).origin().path()))
                .writeAdapted(blocks, adapted, dtype, lineage, outDirectory);
    }

    /**
     * Returns the format of some files.
     *
     * @throws ExplainerFormatException where it is none, naming all that are
     */
    static ExplainerFormat of(ExplainerFiles files) throws IOException {
        for (ExplainerFormat format : ALL) {
            if (format.recognises(files)) {
                return format;
            }
        }
        throw new ExplainerFormatException("%s holds no explainer%s; supported: %s"
                .formatted(
                        files.path(),
                        inside(files),
                        ALL.stream().map(format -> format.facts().description()).collect(Collectors.joining(", "))));
    }

    /** Says which explainers a folder holds: a folder of several is often given in the place of one. */
    private static String inside(ExplainerFiles files) throws IOException {
        if (files.chosen() != null) {
            return "";
        }
        try (Stream<Path> below = Files.list(files.folder())) {
            for (Path folder :
                    below.filter(Files::isDirectory).sorted().limit(50).toList()) {
                ExplainerFiles inner = ExplainerFiles.of(folder);
                for (ExplainerFormat format : ALL) {
                    if (format.recognises(inner)) {
                        return ", but its folder %s does (%s): give that one"
                                .formatted(folder.getFileName(), format.facts().name());
                    }
                }
            }
        }
        return "";
    }
}
