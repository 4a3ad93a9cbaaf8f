package io.plumbline.topology.reload;

import io.plumbline.topology.config.LogSettings;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.config.ReadConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Consumer;

/**
 * A configuration as a process starts with it. It is read before the files that it names, so that a change of one of
 * them while the process starts is seen as a change.
 *
 * @param prints of those files
 * @param seen shows a change of the file or of one of those
 */
public record FirstRead(Path file, ReadConfig read, Fingerprints prints, List<String> seen) {

    public FirstRead {
        seen = List.copyOf(seen);
    }

    /**
     * Reads a file.
     *
     * @param logs hears how the log is to be written before its first line
     */
    public static FirstRead of(Path file, Consumer<LogSettings> logs) throws IOException {
        String own = state(file);
        ReadConfig read = ReadConfig.of(file, logs);
        List<String> seen = new ArrayList<>(List.of(own));
        Fingerprints.files(read.config()).forEach(one -> seen.add(state(one)));
        return new FirstRead(file, read, Fingerprints.of(read), seen);
    }

    public MonitorConfig config() {
        return read.config();
    }

    /** Returns what tells a file from what it is after a change. */
    static String state(Path one) {
        try {
            return "%s %s %d".formatted(one, Files.getLastModifiedTime(one), Files.size(one));
        } catch (IOException gone) {
            return one + " is not there";
        }
    }
}
