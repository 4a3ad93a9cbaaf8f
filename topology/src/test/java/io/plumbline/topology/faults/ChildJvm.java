package io.plumbline.topology.faults;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.OutputStream;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.function.Predicate;

/**
 * A program of the test's class path in a JVM of its own, to be killed. What it prints goes to a file; lines that begin
 * with {@link #EVENT} are what it tells the test.
 */
public final class ChildJvm implements AutoCloseable {

    /** The begin of a line that a child prints for its parent. */
    public static final String EVENT = "event: ";

    private static final int KILLED = 128 + 9;
    private static final long PATIENCE_SECONDS = 120;

    private final Process process;
    private final Path log;

    private ChildJvm(Process process, Path log) {
        this.process = process;
        this.log = log;
    }

    /**
     * Starts {@code main} of {@code type}.
     *
     * @param properties system properties as {@code name=value}
     */
    public static ChildJvm start(Path log, Class<?> type, List<String> properties, List<String> arguments) {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Xmx384m",
                "-XX:TieredStopAtLevel=1",
                "-XX:+UseSerialGC"));
        properties.forEach(property -> command.add("-D" + property));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), type.getName()));
        command.addAll(arguments);
        try {
            Process process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(log.toFile())
                    .start();
            return new ChildJvm(process, log);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Lets passings of its point count from now on, where it was started with {@link KillPoint#WAITS}. */
    void arm() throws IOException {
        try (OutputStream toChild = process.getOutputStream()) {
            toChild.write('\n');
        }
    }

    /** Sends SIGKILL, now. */
    public void kill() throws InterruptedException {
        assertTrue(process.isAlive(), () -> "ended before it was killed: " + tail());
        process.destroyForcibly();
        assertTrue(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS));
        assertEquals(KILLED, process.exitValue());
    }

    /** Waits until it killed itself with SIGKILL at the point it was told. */
    public void awaitKilled() throws InterruptedException {
        assertTrue(
                process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS),
                () -> "did not come to the point where it kills itself: " + tail());
        assertEquals(KILLED, process.exitValue(), this::tail);
    }

    /** Sends SIGTERM: it closes what it has and leaves. */
    public void leave() throws InterruptedException {
        process.destroy();
        assertTrue(process.waitFor(PATIENCE_SECONDS, TimeUnit.SECONDS), () -> "did not leave: " + tail());
        assertTrue(events().contains("left"), () -> "it did not leave in good order, exit code %d: %s"
                .formatted(process.exitValue(), tail()));
    }

    /** Sends SIGSTOP: no thread of it runs, its connections stay open. */
    public void pause() throws Exception {
        signal("STOP");
    }

    /** Sends SIGCONT. */
    public void resume() throws Exception {
        signal("CONT");
    }

    private void signal(String name) throws Exception {
        Process sent = new ProcessBuilder("kill", "-" + name, Long.toString(process.pid()))
                .inheritIO()
                .start();
        assertEquals(0, sent.waitFor());
    }

    public boolean isAlive() {
        return process.isAlive();
    }

    /** Returns what it told so far. */
    public List<String> events() {
        try {
            return new String(Files.readAllBytes(log), StandardCharsets.UTF_8)
                    .lines()
                    .filter(line -> line.startsWith(EVENT))
                    .map(line -> line.substring(EVENT.length()))
                    .toList();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits until the events so far satisfy {@code enough}. */
    public void await(String what, Predicate<List<String>> enough) throws InterruptedException {
        CountDownLatch never = new CountDownLatch(1);
        long deadline = System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS);
        while (!enough.test(events()) && process.isAlive() && System.nanoTime() < deadline) {
            boolean unused = never.await(50, TimeUnit.MILLISECONDS);
        }
        assertTrue(enough.test(events()), () -> "waited %d s for: %s; %s".formatted(PATIENCE_SECONDS, what, tail()));
    }

    /** Returns whether it runs, and the end of what it said. */
    String state() {
        return "%s, %s:%n%s"
                .formatted(log.getFileName(), process.isAlive() ? "running" : "ended " + process.exitValue(), tail());
    }

    private String tail() {
        try {
            List<String> lines = new String(Files.readAllBytes(log), StandardCharsets.UTF_8)
                    .lines()
                    .toList();
            return String.join("\n", lines.subList(Math.max(0, lines.size() - 60), lines.size()));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
