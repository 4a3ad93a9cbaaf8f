package io.plumbline.explainer;

import io.plumbline.wire.DType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.Map;

/** One way people publish explainers. A further format is one class and one line in {@link Explainer}. */
public interface ExplainerFormat {

    /** Names the format and its files, for the message of a folder that fits none. */
    String description();

    /** Whether the folder looks like this format; reads nothing but names. */
    boolean recognises(Path directory);

    /** What the folder's configuration and the headers of its files say of its sizes; reads no weights, which may not fit in memory. */
    ExplainerShape shape(Path directory) throws IOException;

    /**
     * Reads the folder.
     *
     * @throws ExplainerFormatException when it is broken, or holds something not supported, by name
     */
    Explainer read(Path directory) throws IOException;

    /**
     * Writes {@code original} with another decoder as a folder of this format. What the encoder answers does not
     * change by a bit. The folder appears whole or not at all.
     *
     * @param dtype F32 or F64, of the decoder
     * @param lineage string metadata of the weights file
     */
    void writeAdapted(Explainer original, Decoder adapted, DType dtype, Map<String, String> lineage, Path outDirectory)
            throws IOException;
}
