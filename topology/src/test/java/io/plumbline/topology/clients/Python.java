package io.plumbline.topology.clients;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.ExternalProgram;
import io.plumbline.topology.Repository;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;

/** A Python that has what the clients import, and where the clients are. */
public record Python(String program, Path folder, Path clients) {

    static final Path CLIENTS =
            Repository.path("clients", "python", "src").toAbsolutePath().normalize();

    private static final long PATIENCE_SECONDS = 120;

    /** A Python that runs the clients from their sources. */
    Python(String program, Path folder) {
        this(program, folder, CLIENTS);
    }

    /**
     * Builds the wheel, installs it as a user would and returns a Python that imports the clients from there alone.
     * Empty where this Python has no hatchling, which builds it.
     */
    Optional<Python> withWheel() throws IOException, InterruptedException {
        if (run("-c", "import hatchling").exitCode() != 0) {
            return Optional.empty();
        }
        Path wheels = folder.resolve("wheels");
        Path installed = folder.resolve("installed");
        Run built = run(
                "-m",
                "pip",
                "wheel",
                "--quiet",
                "--no-deps",
                "--no-build-isolation",
                "-w",
                wheels,
                CLIENTS.getParent());
        assertEquals(0, built.exitCode(), built.err());
        try (Stream<Path> found = Files.list(wheels)) {
            Path wheel = found.findFirst().orElseThrow();
            Run installs =
                    run("-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", installed, wheel);
            assertEquals(0, installs.exitCode(), installs.err());
        }
        return Optional.of(new Python(program, folder, installed));
    }

    /** The result of a run. */
    public record Run(int exitCode, String out, String err) {}

    /**
     * Returns {@code PLUMBLINE_PYTHON}, or else {@code python3} of the PATH.
     *
     * @param folder where it writes what it prints
     */
    public static Python ofMachine(Path folder) throws Exception {
        Python python = new Python(System.getenv().getOrDefault("PLUMBLINE_PYTHON", "python3"), folder);
        Run imports;
        try {
            imports = python.run("-c", "import numpy, safetensors.numpy, confluent_kafka");
        } catch (IOException notThere) {
            imports = new Run(1, "", String.valueOf(notThere.getMessage()));
        }
        if (imports.exitCode() != 0) {
            throw ExternalProgram.missing(
                    """
                    %s cannot run the clients (%s): `python3 -m venv venv && venv/bin/pip install numpy safetensors \
                    confluent-kafka`, then set PLUMBLINE_PYTHON to venv/bin/python""".formatted(python.program(), imports.err().lines().reduce("", (before, line) -> line)));
        }
        return python;
    }

    public Run run(Object... arguments) throws IOException, InterruptedException {
        Path out = Files.createTempFile(folder, "python", ".out");
        Path err = Files.createTempFile(folder, "python", ".err");
        Process process = process(arguments)
                .redirectOutput(out.toFile())
                .redirectError(err.toFile())
                .start();
        boolean ended = process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS);
        process.destroyForcibly();
        assertTrue(ended, () -> "does not end: " + Arrays.toString(arguments));
        return new Run(process.exitValue(), Files.readString(out), Files.readString(err));
    }

    /** Returns what starts it, for a process that does not end by itself. */
    public ProcessBuilder process(Object... arguments) {
        List<String> command = new ArrayList<>(List.of(program, "-B"));
        Arrays.stream(arguments).map(Object::toString).forEach(command::add);
        ProcessBuilder builder = new ProcessBuilder(command);
        builder.environment().put("PYTHONPATH", clients.toString());
        return builder;
    }

    /** A command of the package, which runs from its sources: nothing is installed. */
    Run client(String command, Object... arguments) throws IOException, InterruptedException {
        List<Object> words = new ArrayList<>(List.of("-m", "plumbline_sae", command));
        words.addAll(List.of(arguments));
        return run(words.toArray());
    }
}
