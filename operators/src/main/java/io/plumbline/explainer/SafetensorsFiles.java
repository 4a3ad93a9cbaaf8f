package io.plumbline.explainer;

import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsException;
import io.plumbline.wire.TensorFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Set;
import java.util.TreeSet;

/** Opens weights with their names checked. */
final class SafetensorsFiles {

    private SafetensorsFiles() {}

    /** Opens a file; one that this program wrote is compared with its checksum. */
    static Safetensors open(Path file) throws IOException {
        if (!Files.isRegularFile(file)) {
            throw new ExplainerFormatException(file + " is missing");
        }
        try {
            Safetensors opened = Safetensors.open(file);
            if (opened.isSealed()) {
                opened.requireUnchanged();
            }
            return opened;
        } catch (SafetensorsException e) {
            throw new ExplainerFormatException(String.valueOf(e.getMessage()), e);
        }
    }

    /** Refuses tensors that a format does not have: they would change the arithmetic. */
    static void requireOnly(TensorFile tensors, Set<String> known) {
        for (String name : tensors.names()) {
            if (!known.contains(name)) {
                throw new ExplainerFormatException("tensor \"%s\" is not part of what is supported: %s"
                        .formatted(name, String.join(", ", new TreeSet<>(known))));
            }
        }
    }
}
