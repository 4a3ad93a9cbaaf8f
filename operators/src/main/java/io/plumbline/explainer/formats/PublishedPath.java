package io.plumbline.explainer.formats;

import io.plumbline.explainer.ExplainerFiles;
import java.nio.file.Path;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.StreamSupport;

/**
 * The part of a path that the publisher of an explainer chose: what stands below the folder with the repository's name,
 * or, without such a folder, the last folders where they are laid out as in the repository. All folders above are the
 * user's, and say nothing about what is read.
 *
 * @param repository the name of the repository's folder; empty where none is on the path
 * @param folders of the repository, from the outermost on
 */
record PublishedPath(String repository, List<String> folders) {

    /**
     * Finds it in the path of some files.
     *
     * @param repository the name of the repository's folder
     * @param layout of the repository's folders, divided by slashes
     */
    static PublishedPath of(ExplainerFiles files, Pattern repository, Pattern layout) {
        Path folder = files.folder().toAbsolutePath().normalize();
        List<String> all = StreamSupport.stream(folder.spliterator(), false)
                .map(Path::toString)
                .toList();
        for (int i = all.size() - 1; i >= 0; i--) {
            if (repository.matcher(all.get(i)).matches()) {
                return new PublishedPath(all.get(i), all.subList(i + 1, all.size()));
            }
        }
        Matcher last = Pattern.compile("(?:^|/)(" + layout + ")$").matcher(String.join("/", all));
        return new PublishedPath("", last.find() ? List.of(last.group(1).split("/", -1)) : List.of());
    }

    /** Returns the innermost folder of the repository whose whole name matches; empty where none does. */
    String folder(Pattern name) {
        for (int i = folders.size() - 1; i >= 0; i--) {
            if (name.matcher(folders.get(i)).matches()) {
                return folders.get(i);
            }
        }
        return "";
    }
}
