package io.plumbline.causal.commands;

import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.plumbline.topology.clients.Python;
import java.io.BufferedReader;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** A worker of the Python package that says where it listens, and ends with its test. */
record PythonWorker(Process process, String address) implements AutoCloseable {

    static PythonWorker start(Python python, Path folder, Object... head) throws IOException {
        List<Object> words = new ArrayList<>(List.of("-m", "plumbline_sae", "downstream-worker", "--listen"));
        words.addAll(List.of(head));
        Process process = python.process(words.toArray())
                .directory(folder.toFile())
                .redirectError(folder.resolve("worker.err").toFile())
                .start();
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        String line = out.readLine();
        assertNotNull(line, () -> said(folder));
        return new PythonWorker(process, line.substring("listening on ".length()));
    }

    private static String said(Path folder) {
        try {
            return Files.readString(folder.resolve("worker.err"));
        } catch (IOException none) {
            return none.toString();
        }
    }

    /** Ends it as `kill -9` does: it says no word and closes nothing. */
    void kill() {
        process.destroyForcibly();
        await();
    }

    @Override
    public void close() {
        process.destroy();
        await();
    }

    private void await() {
        assertFalse(process.onExit().orTimeout(60, TimeUnit.SECONDS).join().isAlive());
    }
}
