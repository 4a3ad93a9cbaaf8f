package io.plumbline.explainer.formats;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerFiles;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.ExplainerShape;
import io.plumbline.explainer.FormatFacts;
import io.plumbline.wire.DType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;

/** One way people publish explainers. A further format is one class and one line in {@link Formats}. */
interface ExplainerFormat {

    /** Returns this format's line in the table of formats. */
    FormatFacts facts();

    /** Returns whether the files look like this format; reads names, and contents only where names do not decide. */
    boolean recognises(ExplainerFiles files) throws IOException;

    /**
     * Returns the sizes that the configuration and the headers of the files give; reads no weights, which may not fit
     * in memory.
     */
    ExplainerShape shape(ExplainerFiles files, ExplainerOptions options) throws IOException;

    /**
     * Reads an explainer.
     *
     * @throws ExplainerFormatException when it is broken, or holds something not supported, by name
     */
    Explainer read(ExplainerFiles files, ExplainerOptions options) throws IOException;

    /** Returns the layers that it writes into, each a block; none for an explainer with one decoder. */
    default List<Integer> targets(ExplainerFiles files, ExplainerOptions options) throws IOException {
        return List.of();
    }

    /** Reads all its blocks, or the one of the option, with encoders that are shared; itself where it has no blocks. */
    default List<Explainer> readBlocks(ExplainerFiles files, ExplainerOptions options) throws IOException {
        return List.of(read(files, options));
    }

    /** Writes blocks of one explainer with other decoders as one folder, as the method for a single one does. */
    default void writeAdapted(
            List<Explainer> originals,
            List<Decoder> adapted,
            DType dtype,
            Map<String, String> lineage,
            Path outDirectory)
            throws IOException {
        if (originals.size() != 1) {
            throw new IllegalArgumentException(originals.size() + " explainers are not blocks of one");
        }
        writeAdapted(originals.get(0), adapted.get(0), dtype, lineage, outDirectory);
    }

    /**
     * Writes {@code original} with another decoder as a folder. What the encoder answers changes by no more than what
     * rounding to the folder's type forces. The folder appears whole or not at all.
     *
     * @param dtype F32 or F64, of the decoder
     * @param lineage string metadata of the weights file
     */
    void writeAdapted(Explainer original, Decoder adapted, DType dtype, Map<String, String> lineage, Path outDirectory)
            throws IOException;
}
