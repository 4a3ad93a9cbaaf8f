package io.plumbline.topology;

import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Objects;

/** The checkout that the tests run in, from whichever module. */
public final class Repository {

    /** The first folder of the checkout. */
    public static final Path ROOT = root();

    private Repository() {}

    /** Returns a file or folder of it. */
    public static Path path(String first, String... more) {
        return ROOT.resolve(Path.of(first, more));
    }

    private static Path root() {
        Path folder = Path.of("").toAbsolutePath();
        while (!Files.exists(folder.resolve("mvnw"))) {
            folder = Objects.requireNonNull(folder.getParent(), "these tests run within a checkout");
        }
        return folder;
    }
}
