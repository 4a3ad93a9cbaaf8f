package io.plumbline.benchmarks;

import java.io.BufferedReader;
import java.io.BufferedWriter;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.lang.management.ManagementFactory;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;

/**
 * A main class in a process of its own: it must not share heap, collector and compiler with what is measured.
 *
 * <p>It says when it is up, and ends when its standard input does: so with the process that started it, however that
 * ends.
 */
final class ChildProcess implements AutoCloseable {

    private static final String UP = "up ";
    private static final String VECTORS = "jdk.incubator.vector";
    private static final long STOP_SECONDS = 15;

    private static final Pattern VECTOR_OPTION = Pattern.compile("-XX:(UseAVX|UseSVE|MaxVectorSize)=\\d+");

    private final Process process;
    private final BufferedReader answers;
    private final String said;

    private ChildProcess(Process process, BufferedReader answers, String said) {
        this.process = process;
        this.answers = answers;
        this.said = said;
    }

    /**
     * Starts one with this process's Java and class path, and waits until it is up.
     *
     * @param heap as {@code -Xmx} has it
     * @param log what it says on standard error
     */
    static ChildProcess start(Class<?> main, String heap, Path log, List<String> arguments) throws IOException {
        List<String> command = new ArrayList<>();
        command.add(Path.of(System.getProperty("java.home"), "bin", "java").toString());
        command.add("-Xmx" + heap);
        // As the launcher has them: the one for arrays of megabytes, the other to end rather than to live on in part.
        command.addAll(List.of("-XX:G1HeapRegionSize=8m", "-XX:+ExitOnOutOfMemoryError"));
        if (ModuleLayer.boot().findModule(VECTORS).isPresent()) {
            command.addAll(List.of("--add-modules", VECTORS));
        }
        command.addAll(vectorOptions(ManagementFactory.getRuntimeMXBean().getInputArguments()));
        command.addAll(List.of("-cp", System.getProperty("java.class.path"), main.getName()));
        command.addAll(arguments);
        Process process = new ProcessBuilder(command)
                .redirectError(Redirect.to(log.toFile()))
                .start();
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        String line = out.readLine();
        if (line == null || !line.startsWith(UP)) {
            process.destroyForcibly();
            throw new IOException(
                    "the process of %s did not start: %s".formatted(main.getName(), Files.readString(log)));
        }
        return new ChildProcess(process, out, line.substring(UP.length()));
    }

    /** Returns the options that say which vectors there are: what runs beside this process has those of this one. */
    static List<String> vectorOptions(List<String> options) {
        return options.stream().filter(VECTOR_OPTION.asMatchPredicate()).toList();
    }

    boolean isAlive() {
        return process.isAlive();
    }

    /** Returns what it said when it was up. */
    String said() {
        return said;
    }

    /** Returns the processor time that it has used so far; none where the system does not say. */
    Duration processorTime() {
        return process.toHandle().info().totalCpuDuration().orElse(Duration.ZERO);
    }

    /** Returns what the other process answers to a line; it reads one after the other. */
    String ask(String question) throws IOException {
        BufferedWriter questions = process.outputWriter(StandardCharsets.UTF_8);
        questions.write(question);
        questions.newLine();
        questions.flush();
        String answer = answers.readLine();
        if (answer == null) {
            throw new IOException("the process ended before it answered");
        }
        return answer;
    }

    /** Ends it as a lost machine does: nothing in it runs any more. */
    void kill() throws InterruptedException {
        process.destroyForcibly().waitFor();
    }

    /** Says in the other process that it is up. */
    static void up(String what) {
        System.out.println(UP + what);
        System.out.flush();
    }

    /** Waits in the other process until the first one closes it, or is gone. */
    static void awaitTheEnd() throws IOException {
        while (System.in.read() >= 0) {
            // Nobody writes: this returns when the other end is closed.
        }
    }

    @Override
    public void close() {
        try {
            process.getOutputStream().close();
            if (!process.waitFor(STOP_SECONDS, TimeUnit.SECONDS)) {
                process.destroyForcibly().waitFor();
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            process.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }
}
