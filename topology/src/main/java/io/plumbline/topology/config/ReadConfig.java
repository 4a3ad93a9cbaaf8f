package io.plumbline.topology.config;

import com.fasterxml.jackson.core.JsonProcessingException;
import com.fasterxml.jackson.databind.node.ObjectNode;
import io.plumbline.wire.Printable;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFileAttributeView;
import java.nio.file.attribute.PosixFilePermission;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A configuration file as it was read.
 *
 * @param config what it says, checked
 * @param effective the same as a tree with every default filled in and every secret hidden
 */
public record ReadConfig(MonitorConfig config, ObjectNode effective) {

    private static final Logger LOG = LoggerFactory.getLogger(ReadConfig.class);

    /**
     * Reads a file; paths in it are relative to its folder.
     *
     * @throws ConfigException listing every mistake in it
     * @throws IOException when it cannot be read
     */
    public static ReadConfig of(Path file) throws IOException {
        return of(file, log -> {});
    }

    /**
     * Reads a file as {@link #of(Path)} does.
     *
     * @param logs hears how the log is to be written before its first line
     */
    public static ReadConfig of(Path file, Consumer<LogSettings> logs) throws IOException {
        ReadConfig read = ConfigReader.read(MonitorConfig.content(file), file.toString(), folder(file));
        logs.accept(read.config.log());
        if (read.config.secrets().hasLiteral() && isReadableByAll(file)) {
            LOG.warn(
                    "the configuration holds a password and every user of this machine can read it: file={}\n"
                            + "chmod 600 it, or write ${env:NAME} or ${file:PATH} in place of the password",
                    Printable.value(file));
        }
        return read;
    }

    /** Returns the tree as YAML. */
    public String yaml() {
        try {
            return ConfigReader.YAML.writeValueAsString(effective);
        } catch (JsonProcessingException e) {
            throw new IllegalStateException("the configuration cannot be written as YAML", e);
        }
    }

    private static Path folder(Path file) {
        Path folder = file.toAbsolutePath().getParent();
        return folder == null ? Path.of("") : folder;
    }

    private static boolean isReadableByAll(Path file) throws IOException {
        PosixFileAttributeView view = Files.getFileAttributeView(file, PosixFileAttributeView.class);
        return view != null && view.readAttributes().permissions().contains(PosixFilePermission.OTHERS_READ);
    }
}
