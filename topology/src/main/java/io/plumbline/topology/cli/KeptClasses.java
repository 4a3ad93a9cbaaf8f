package io.plumbline.topology.cli;

import java.io.IOException;
import java.io.PrintStream;
import java.lang.management.ManagementFactory;
import java.nio.file.DirectoryStream;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardCopyOption;
import javax.management.JMException;
import javax.management.JMRuntimeException;
import javax.management.ObjectName;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Keeps the classes of this process for the next one, as Java has read and checked them (class-data sharing): the
 * launcher names a file by {@value #PROPERTY} where there is none yet for this Java and these jars, and reads it where
 * there is.
 *
 * <p>Everything stands still while it is written, for some seconds: it is done when the work is over. The file has its
 * name only once it is whole, since Java ends by a signal at one that was cut short.
 */
public final class KeptClasses {

    static final String PROPERTY = "plumbline.classes";

    private static final Logger LOG = LoggerFactory.getLogger(KeptClasses.class);
    private static final String PART = ".part";

    private KeptClasses() {}

    /** Writes the file if the launcher asks for it, and removes those of the same command before it. */
    public static void keep() {
        String asked = System.getProperty(PROPERTY);
        if (asked == null) {
            return;
        }
        Path file = Path.of(asked).toAbsolutePath();
        try {
            Path folder = Files.createDirectories(file.resolveSibling(""));
            Path part = folder.resolve(
                    file.getFileName() + "." + ProcessHandle.current().pid() + PART);
            String said = dump(part);
            if (!Files.exists(part)) {
                LOG.info("Java did not keep its classes in {}: {}", file, said.strip());
                return;
            }
            Files.move(part, file, StandardCopyOption.ATOMIC_MOVE);
            removeOthers(folder, file);
        } catch (IOException | JMException | JMRuntimeException e) {
            LOG.info("the classes of Java are not kept in {}: {}", file, e.toString());
        }
    }

    private static String dump(Path file) throws JMException {
        System.err.println("keeping Java's classes for a faster start from now on: some seconds, once");
        PrintStream out = System.out;
        // Java tells of its file there, where results go.
        System.setOut(System.err);
        try {
            return String.valueOf(ManagementFactory.getPlatformMBeanServer()
                    .invoke(
                            new ObjectName("com.sun.management:type=DiagnosticCommand"),
                            "vmCds",
                            new Object[] {new String[] {"dynamic_dump", "\"" + file + "\""}},
                            new String[] {String[].class.getName()}));
        } finally {
            System.setOut(out);
        }
    }

    /** Removes what other jars or another Java left of the same command, the word before the dash. */
    private static void removeOthers(Path folder, Path file) throws IOException {
        String command = file.getFileName().toString().replaceFirst("-.*", "-");
        try (DirectoryStream<Path> files = Files.newDirectoryStream(folder, command + "*.jsa*")) {
            for (Path other : files) {
                if (!other.equals(file)) {
                    Files.deleteIfExists(other);
                }
            }
        }
    }
}
