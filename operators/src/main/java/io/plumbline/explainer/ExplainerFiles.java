package io.plumbline.explainer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The path that a user points at: a folder, or one file of it.
 *
 * @param path as given
 * @param folder the folder, or that of the file
 * @param chosen the name of the file; null where a folder was given
 * @param names of everything in the folder; for files of one set of tensors, and for their index, the name of the file
 *     that they stand for
 */
public record ExplainerFiles(
        Path path, Path folder, @Nullable String chosen, Set<String> names) {

    private static final Pattern SHARD =
            Pattern.compile("(.+?)(?:-\\d{5}-of-\\d{5}\\.safetensors|\\.safetensors\\.index\\.json)");

    public static ExplainerFiles of(Path path) throws IOException {
        DeadLink.refuse(path);
        if (!Files.exists(path)) {
            throw new ExplainerFormatException(
                    path + " is not a folder; expected the folder of an explainer, or its file");
        }
        boolean isFile = !Files.isDirectory(path);
        Path parent = path.getParent();
        Path folder = !isFile ? path : parent == null ? Path.of("") : parent;
        Set<String> names = new TreeSet<>();
        try (Stream<Path> entries = Files.list(folder)) {
            entries.forEach(entry -> names.add(wholeName(String.valueOf(entry.getFileName()))));
        }
        return new ExplainerFiles(path, folder, isFile ? wholeName(String.valueOf(path.getFileName())) : null, names);
    }

    /** Returns whether all these files are there, and one of them was pointed at, or the folder. */
    public boolean has(String... files) {
        return names.containsAll(List.of(files))
                && (chosen == null || List.of(files).contains(chosen));
    }

    /** Returns the names of the folder that match; the chosen one alone where a file was pointed at. */
    public List<String> matching(Pattern pattern) {
        return names.stream()
                .filter(name -> (chosen == null || name.equals(chosen))
                        && pattern.matcher(name).matches())
                .toList();
    }

    /** Returns {@code NAME.safetensors} for {@code NAME-00001-of-00002.safetensors} and their index. */
    private static String wholeName(String name) {
        Matcher shard = SHARD.matcher(name);
        return shard.matches() ? shard.group(1) + ".safetensors" : name;
    }

    /** Returns the path of a file in the folder, which need not be there; a link to a file that is gone is refused. */
    public Path file(String name) throws IOException {
        Path file = folder.resolve(name);
        DeadLink.refuse(file);
        return file;
    }
}
