package io.plumbline.topology.demo;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Comparator;
import java.util.stream.Stream;

/** A private folder in the system's temporary one; nothing of it is left behind when it is closed. */
public final class TemporaryFolder implements AutoCloseable {

    private final Path root;

    private TemporaryFolder(Path root) {
        this.root = root;
    }

    /** A new one whose name begins with {@code prefix}. */
    public static TemporaryFolder create(String prefix) throws IOException {
        return new TemporaryFolder(Files.createTempDirectory(prefix));
    }

    public Path root() {
        return root;
    }

    /** Removes it with everything in it. Safe to call twice. */
    @Override
    public void close() {
        if (!Files.exists(root)) {
            return;
        }
        try (Stream<Path> files = Files.walk(root)) {
            files.sorted(Comparator.reverseOrder()).forEach(TemporaryFolder::delete);
        } catch (IOException e) {
            throw new UncheckedIOException("the folder %s could not be removed".formatted(root), e);
        }
    }

    private static void delete(Path path) {
        try {
            Files.deleteIfExists(path);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
