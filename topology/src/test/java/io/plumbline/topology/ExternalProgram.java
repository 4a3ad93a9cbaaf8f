package io.plumbline.topology;

import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Stream;
import org.opentest4j.TestAbortedException;

/**
 * A program of another project that tests drive. On a build server, which sets {@code CI=true}, one that is missing is
 * a failure; on a person's machine the tests that need it are left out and say what to install.
 */
public final class ExternalProgram {
    private ExternalProgram() {}

    /** The path of {@code name}, which Debian has in {@code debianPackage}; looked for on the PATH. */
    public static Path require(String name, String debianPackage) {
        return Stream.of(System.getenv().getOrDefault("PATH", "").split(File.pathSeparator))
                .map(folder -> Path.of(folder, name))
                .filter(Files::isExecutable)
                .findFirst()
                .orElseThrow(() ->
                        missing(name + " is not on the PATH: on Debian, `apt-get install " + debianPackage + "`"));
    }

    /**
     * Returns what to throw when something a test needs is not there: a failure where {@code CI} is set, a reason to
     * leave the test out elsewhere.
     */
    public static RuntimeException missing(String sentence) {
        return "true".equals(System.getenv("CI"))
                ? new IllegalStateException(sentence)
                : new TestAbortedException(sentence);
    }
}
