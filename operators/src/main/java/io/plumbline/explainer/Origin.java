package io.plumbline.explainer;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Says where an explainer was read from, and what was made of it.
 *
 * @param format the name of its format; empty where it was not read
 * @param path the folder or file
 * @param options what the user told besides
 * @param notes what was folded, what was left out and what names of folders decided, one sentence each
 * @param decidedByPath those of the notes that say what names of folders decided, which no file says
 * @param notRefitted why its decoder cannot be replaced; null where it can
 */
public record Origin(
        String format,
        Path path,
        ExplainerOptions options,
        List<String> notes,
        List<String> decidedByPath,
        @Nullable String notRefitted) {

    public Origin {
        notes = List.copyOf(notes);
        decidedByPath = List.copyOf(decidedByPath);
    }

    /** Returns the origin of an explainer that was put together otherwise than from a file. */
    static Origin of(Path folder) {
        return new Origin("", folder, ExplainerOptions.NONE, List.of(), List.of(), null);
    }

    /** Returns the folder that holds it. */
    public Path folder() {
        Path parent = path.toAbsolutePath().getParent();
        return Files.isRegularFile(path) && parent != null ? parent : path;
    }
}
