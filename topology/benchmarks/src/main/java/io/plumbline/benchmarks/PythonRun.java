package io.plumbline.benchmarks;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Runs a consumer in Python with confluent-kafka and NumPy. The interpreter is that of the environment variable
 * {@value #INTERPRETER}, otherwise {@code python3}.
 */
final class PythonRun {

    private static final String INTERPRETER = "PLUMBLINE_PYTHON";
    private static final long GIVE_UP_SECONDS = 120;

    private PythonRun() {}

    private static String interpreter() {
        String named = System.getenv(INTERPRETER);
        return named == null || named.isBlank() ? "python3" : named;
    }

    /** Returns why it cannot be run here, in one sentence; or null. */
    static @Nullable String missing() {
        String what = "%s with confluent-kafka and NumPy".formatted(interpreter());
        try {
            Process process = new ProcessBuilder(interpreter(), "-c", "import numpy, confluent_kafka")
                    .redirectOutput(Redirect.DISCARD)
                    .redirectError(Redirect.DISCARD)
                    .start();
            return process.waitFor() == 0
                    ? null
                    : "the consumer in Python: no %s; name an interpreter that has both in %s"
                            .formatted(what, INTERPRETER);
        } catch (IOException e) {
            return "the consumer in Python: %s; name an interpreter in %s".formatted(e.getMessage(), INTERPRETER);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            return "the consumer in Python: interrupted";
        }
    }

    /**
     * Rows a second, without warm-up, in the first {@code seconds} or until the topic's end.
     *
     * @param oneThread whether NumPy may multiply by one thread only, as a worker per partition would
     */
    static double rate(String bootstrapServers, ActivationsTopic topic, Path folder, boolean oneThread, double seconds)
            throws IOException, InterruptedException {
        Path script = folder.resolve("consumer.py");
        try (InputStream in = PythonRun.class.getResourceAsStream("consumer.py")) {
            if (in == null) {
                throw new IllegalStateException("consumer.py is missing from the jar");
            }
            Files.write(script, in.readAllBytes());
        }
        Path errors = folder.resolve("consumer.log");
        ProcessBuilder builder = new ProcessBuilder(List.of(
                        interpreter(),
                        script.toString(),
                        bootstrapServers,
                        topic.name(),
                        Integer.toString(topic.d()),
                        Long.toString(topic.records()),
                        String.format(Locale.ROOT, "%.3f", seconds)))
                .redirectError(Redirect.to(errors.toFile()));
        if (oneThread) {
            builder.environment().put("OPENBLAS_NUM_THREADS", "1");
        }
        Process process = builder.start();
        try {
            RateMeter meter = read(process);
            if (!process.waitFor(GIVE_UP_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IOException("the consumer in Python failed: %s".formatted(Files.readString(errors)));
            }
            return meter.hotRate();
        } finally {
            process.destroyForcibly();
        }
    }

    private static RateMeter read(Process process) {
        RateMeter meter = new RateMeter();
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            String line;
            while ((line = out.readLine()) != null && Character.isDigit(line.charAt(0))) {
                int blank = line.indexOf(' ');
                meter.at(
                        (long) (1e9 * Double.parseDouble(line.substring(0, blank))),
                        Double.parseDouble(line.substring(blank + 1)));
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        return meter;
    }
}
