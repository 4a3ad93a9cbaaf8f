package io.plumbline.explainer.formats;

import io.plumbline.explainer.DeadLink;
import io.plumbline.explainer.ExplainerFormatException;
import io.plumbline.wire.Safetensors;
import io.plumbline.wire.SafetensorsException;
import io.plumbline.wire.TensorFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.LinkOption;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Opens weights, which lie in one file or in several with an index, with their names checked. */
final class SafetensorsFiles {

    /** The end of an index's name, behind the name of the file that it stands for. */
    static final String INDEX = ".index.json";

    private SafetensorsFiles() {}

    /** Opens a file; one that this program wrote is compared with its checksum. */
    static Safetensors open(Path file) throws IOException {
        Safetensors opened = openUnchecked(file);
        try {
            if (opened.isSealed()) {
                opened.requireUnchanged();
            }
            return opened;
        } catch (SafetensorsException e) {
            opened.close();
            throw new ExplainerFormatException(String.valueOf(e.getMessage()), e);
        }
    }

    /** Opens a file, or the files of an index in its place, and compares nothing with a checksum. */
    static Safetensors openUnchecked(Path file) throws IOException {
        try {
            if (Files.isRegularFile(file)) {
                return Safetensors.open(file);
            }
            DeadLink.refuse(file);
            Path index = index(file);
            if (index != null) {
                return Safetensors.openShards(index);
            }
        } catch (SafetensorsException e) {
            throw new ExplainerFormatException(String.valueOf(e.getMessage()), e);
        }
        throw new ExplainerFormatException("%s is missing%s".formatted(file, shardsWithoutIndex(file)));
    }

    /** Returns the index of several files in the place of one: under its name, or the only one of the folder. */
    private static @Nullable Path index(Path file) throws IOException {
        Path itself = file.resolveSibling(file.getFileName() + INDEX);
        if (Files.exists(itself, LinkOption.NOFOLLOW_LINKS)) {
            DeadLink.refuse(itself);
            return itself;
        }
        List<Path> all = beside(file, ".*\\.safetensors\\.index\\.json");
        if (all.size() == 1) {
            DeadLink.refuse(all.get(0));
            return all.get(0);
        }
        return null;
    }

    private static String shardsWithoutIndex(Path file) throws IOException {
        List<Path> shards = beside(file, ".*-\\d{5}-of-\\d{5}\\.safetensors");
        return shards.isEmpty()
                ? ""
                : ", and so is the index of %s and the others, which ends with %s; copy it too"
                        .formatted(shards.get(0).getFileName(), ".safetensors" + INDEX);
    }

    private static List<Path> beside(Path file, String pattern) throws IOException {
        Path folder = file.toAbsolutePath().getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            return List.of();
        }
        try (Stream<Path> entries = Files.list(folder)) {
            return entries.filter(entry -> String.valueOf(entry.getFileName()).matches(pattern))
                    .sorted()
                    .toList();
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
