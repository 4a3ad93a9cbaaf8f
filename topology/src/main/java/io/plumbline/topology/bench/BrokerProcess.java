package io.plumbline.topology.bench;

import io.plumbline.topology.demo.EmbeddedBroker;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.ProcessBuilder.Redirect;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.TimeUnit;

/**
 * A broker in a process of its own, as it is in production: it must not share heap, collector and compiler with what is measured.
 *
 * <p>It ends when its standard input does, and so with the process that started it, however that ends.
 */
final class BrokerProcess implements AutoCloseable {

    private static final String UP = "up ";
    private static final long STOP_SECONDS = 15;

    /** Records of 256 rows of 8,192 floats. */
    private static final Map<String, String> SETTINGS = Map.of(
            "message.max.bytes", "16000000",
            "replica.fetch.max.bytes", "16000000",
            "log.segment.delete.delay.ms", "0");

    private final Process process;
    private final String bootstrapServers;

    private BrokerProcess(Process process, String bootstrapServers) {
        this.process = process;
        this.bootstrapServers = bootstrapServers;
    }

    /** Starts one with this process's Java and class path; {@code folder} keeps its data. */
    static BrokerProcess start(Path folder) throws IOException {
        Path log = folder.resolveSibling("broker.log");
        Process process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Xmx1g",
                        "-cp",
                        System.getProperty("java.class.path"),
                        BrokerProcess.class.getName(),
                        folder.toString())
                .redirectError(Redirect.to(log.toFile()))
                .start();
        BufferedReader out = process.inputReader(StandardCharsets.UTF_8);
        String line = out.readLine();
        if (line == null || !line.startsWith(UP)) {
            process.destroyForcibly();
            throw new IOException(
                    "the broker's process did not start: %s".formatted(java.nio.file.Files.readString(log)));
        }
        return new BrokerProcess(process, line.substring(UP.length()));
    }

    String bootstrapServers() {
        return bootstrapServers;
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

    /** The other process. */
    public static void main(String[] arguments) throws IOException {
        EmbeddedBroker broker = EmbeddedBroker.start(Path.of(arguments[0]), EmbeddedBroker.freePort(), SETTINGS);
        System.out.println(UP + broker.bootstrapServers());
        System.out.flush();
        while (System.in.read() >= 0) {
            // Nobody writes: this returns when the other end is closed.
        }
        // Its data are thrown away: an orderly stop would only take longer.
        Runtime.getRuntime().halt(0);
    }
}
