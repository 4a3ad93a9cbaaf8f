package io.plumbline.explainer;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;

/**
 * A link to a file that is gone. In a cache of Hugging Face every file is a link into a folder {@code blobs}, from
 * which files are deleted, or into which a download that was cut off never put them.
 */
public final class DeadLink {

    private DeadLink() {}

    /**
     * Refuses a path that is such a link: a file that is absent, or another one in its place, would be read otherwise.
     */
    public static void refuse(Path path) throws IOException {
        if (Files.isSymbolicLink(path) && !Files.exists(path)) {
            throw new ExplainerFormatException(("%s is a link to %s, which is gone; download the file again, "
                            + "for instance with `hf download --force-download`, "
                            + "or copy the folder with `cp -rL` from where it is whole")
                    .formatted(path, Files.readSymbolicLink(path)));
        }
    }
}
