package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.ExternalProgram;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** Runs Prometheus' own tool, as the machine has it. */
record Promtool(Path program) {

    private static final int PATIENCE_SECONDS = 300;

    /** The result of a run. */
    record Run(int exitCode, String output) {}

    static Promtool ofMachine() {
        return new Promtool(ExternalProgram.require("promtool", "prometheus"));
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
