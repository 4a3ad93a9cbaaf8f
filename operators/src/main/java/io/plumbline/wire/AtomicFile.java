package io.plumbline.wire;

import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.channels.FileChannel;
import java.nio.channels.WritableByteChannel;
import java.nio.file.FileSystemException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import java.nio.file.StandardOpenOption;
import java.util.Comparator;
import java.util.UUID;
import java.util.stream.Stream;

/**
 * Writes files and folders that are either whole or not there.
 *
 * <p>The content goes to a hidden temporary file in the same folder, is flushed to the disk, and takes the place of the
 * target in one step of the file system. When anything fails the temporary file is removed and what was there before is
 * untouched.
 */
public final class AtomicFile {

    private AtomicFile() {}

    /** Writes the content of one file. */
    @FunctionalInterface
    public interface Content {
        void writeTo(WritableByteChannel channel) throws IOException;
    }

    /**
     * Writes {@code target}.
     *
     * @throws IOException naming the target and the reason
     */
    public static void write(Path target, Content content) throws IOException {
        Path absolute = target.toAbsolutePath();
        Path folder = absolute.getParent();
        if (folder == null || !Files.isDirectory(folder)) {
            throw new IOException(target + " was not written: the folder " + folder + " does not exist");
        }
        Path temporary = folder.resolve("." + absolute.getFileName() + "." + UUID.randomUUID() + ".tmp");
        try {
            try (FileChannel channel =
                    FileChannel.open(temporary, StandardOpenOption.CREATE_NEW, StandardOpenOption.WRITE)) {
                content.writeTo(channel);
                channel.force(true);
            }
            Files.move(temporary, absolute, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException | RuntimeException e) {
            throw abandoned(target, temporary, e);
        }
        flushFolder(folder);
    }

    /** Writes these bytes, as {@link #write(Path, Content)} does. */
    public static void write(Path target, byte[] bytes) throws IOException {
        write(target, channel -> SafetensorsWriter.writeFully(channel, ByteBuffer.wrap(bytes)));
    }

    /** Fills a fresh folder. */
    @FunctionalInterface
    public interface FolderContent {
        void writeInto(Path folder) throws IOException;
    }

    /**
     * Writes a whole folder: {@code content} fills a hidden one beside {@code target}, which then takes its name.
     * An existing {@code target} must be an empty folder; replacing a full one cannot be done in one step.
     *
     * @throws IOException naming the target and the reason
     */
    public static void writeFolder(Path target, FolderContent content) throws IOException {
        Path absolute = target.toAbsolutePath();
        Path parent = absolute.getParent();
        if (parent == null) {
            throw new IOException(target + " was not written: it has no parent folder");
        }
        Files.createDirectories(parent);
        Path temporary = parent.resolve("." + absolute.getFileName() + "." + UUID.randomUUID() + ".tmp");
        try {
            requireFree(absolute);
            Files.createDirectory(temporary);
            content.writeInto(temporary);
            flushFolder(temporary);
            Files.move(temporary, absolute, StandardCopyOption.ATOMIC_MOVE);
        } catch (IOException | RuntimeException e) {
            throw abandoned(target, temporary, e);
        }
        flushFolder(parent);
    }

    private static void requireFree(Path target) throws IOException {
        if (!Files.exists(target)) {
            return;
        }
        if (!Files.isDirectory(target)) {
            throw new IOException("a file of that name exists");
        }
        try (Stream<Path> entries = Files.list(target)) {
            if (entries.findAny().isPresent()) {
                throw new IOException("the folder exists and is not empty; choose another, or remove it first");
            }
        }
    }

    private static void flushFolder(Path folder) {
        // Not every platform can open a folder; there the operating system makes the name durable in its own time.
        try (FileChannel channel = FileChannel.open(folder, StandardOpenOption.READ)) {
            channel.force(true);
        } catch (IOException e) {
            return;
        }
    }

    private static IOException abandoned(Path target, Path temporary, Exception cause) {
        try {
            removeTree(temporary);
        } catch (IOException e) {
            cause.addSuppressed(e);
        }
        // A file inside the abandoned folder has told its own story; what matters of it is the first reason.
        Exception first = cause instanceof NotWrittenException inner ? inner.first : cause;
        return new NotWrittenException(target, first, cause);
    }

    /** Says that nothing was written, and why in the first place. */
    private static final class NotWrittenException extends IOException {
        private static final long serialVersionUID = 1L;

        private final transient Exception first;

        NotWrittenException(Path target, Exception first, Exception cause) {
            super(target + " was not written: " + reason(first) + "; nothing was left behind", cause);
            this.first = first;
        }
    }

    /**
     * Returns the reason of a failure: a {@code FileSystemException} without one has only a path as its message; its
     * class says what happened.
     */
    private static String reason(Exception cause) {
        return cause instanceof FileSystemException system && system.getReason() == null
                ? cause.toString()
                : String.valueOf(cause.getMessage());
    }

    private static void removeTree(Path path) throws IOException {
        if (!Files.exists(path)) {
            return;
        }
        try (Stream<Path> tree = Files.walk(path)) {
            for (Path entry : tree.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(entry);
            }
        }
    }
}
