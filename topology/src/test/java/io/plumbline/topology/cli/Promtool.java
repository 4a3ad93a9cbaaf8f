package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.File;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Assumptions;

/** Prometheus' own tool, as the machine has it. Where it has none its tests are left out. */
record Promtool(Path program) {

    private static final int PATIENCE_SECONDS = 60;

    /** What a run came to. */
    record Run(int exitCode, String output) {}

    static Promtool ofMachine() {
        List<Path> found = Stream.of(System.getenv("PATH").split(File.pathSeparator))
                .map(folder -> Path.of(folder, "promtool"))
                .filter(Files::isExecutable)
                .toList();
        if (found.isEmpty()) {
            Assumptions.abort(
                    "promtool is not on the PATH: it comes with Prometheus, on Debian `apt-get install prometheus`");
        }
        return new Promtool(found.get(0));
    }

    /** Runs it with {@code input} as its standard input. */
    Run run(Path folder, String input, Object... arguments) throws IOException, InterruptedException {
        List<String> command = Stream.concat(Stream.of(program), Stream.of(arguments))
                .map(Object::toString)
                .toList();
        Path stdin = Files.writeString(Files.createTempFile(folder, "promtool", ".in"), input);
        Path output = Files.createTempFile(folder, "promtool", ".out");
        Process process = new ProcessBuilder(command)
                .directory(folder.toFile())
                .redirectInput(stdin.toFile())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        assertTrue(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS), () -> "promtool does not end: " + command);
        return new Run(process.exitValue(), Files.readString(output, StandardCharsets.UTF_8));
    }
}
