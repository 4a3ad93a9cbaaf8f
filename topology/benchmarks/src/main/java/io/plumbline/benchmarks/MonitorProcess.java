package io.plumbline.benchmarks;

import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.runtime.CapacityEstimate;
import io.plumbline.topology.runtime.CapacityEstimate.Deployment;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.lang.management.ManagementFactory;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Arrays;
import java.util.List;

/** A monitor with its adapter as a process of its own, as an operator runs it: it can be killed. */
final class MonitorProcess implements AutoCloseable {

    private static final String CONFIGURATION = "plumbline.yaml";

    private final ChildProcess process;
    private final URI metrics;

    private MonitorProcess(ChildProcess process) {
        this.process = process;
        this.metrics = URI.create("http://127.0.0.1:%s/metrics".formatted(process.said()));
    }

    /**
     * Starts one and waits until it serves its page.
     *
     * @param folder of the site's files
     * @param heap as {@code -Xmx} has it
     */
    static MonitorProcess start(Path folder, String yaml, String heap, Path log) throws IOException {
        Files.writeString(folder.resolve(CONFIGURATION), yaml);
        return new MonitorProcess(ChildProcess.start(MonitorProcess.class, heap, log, List.of(folder.toString())));
    }

    /**
     * The memory of the other process, in bytes.
     *
     * @param used in use after a collection
     * @param estimated what {@code plumbline check} says that it holds
     * @param least what it says is the smallest heap
     */
    record Heap(long used, long estimated, long least) {}

    Heap heap() throws IOException {
        long[] bytes = Arrays.stream(process.ask("heap").split(" ", -1))
                .mapToLong(Long::parseLong)
                .toArray();
        return new Heap(bytes[0], bytes[1], bytes[2]);
    }

    /** Returns where its metrics are. */
    URI metrics() {
        return metrics;
    }

    boolean isAlive() {
        return process.isAlive();
    }

    void kill() throws InterruptedException {
        process.kill();
    }

    @Override
    public void close() {
        process.close();
    }

    /** Runs the other process. */
    public static void main(String[] arguments) throws IOException, InterruptedException {
        Path folder = Path.of(arguments[0]);
        MonitorConfig config = MonitorConfig.load(folder.resolve(CONFIGURATION));
        try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.ALL)) {
            ChildProcess.up(Integer.toString(runtime.httpAddress().getPort()));
            BufferedReader questions = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            while (questions.readLine() != null) {
                System.gc();
                CapacityEstimate estimate = CapacityEstimate.of(
                        config,
                        new Deployment(1, 1, false, 0),
                        Runtime.getRuntime().maxMemory());
                System.out.printf(
                        "%d %d %d%n",
                        ManagementFactory.getMemoryMXBean().getHeapMemoryUsage().getUsed(),
                        estimate.heldBytes(),
                        estimate.leastHeapBytes());
                System.out.flush();
            }
        }
        Runtime.getRuntime().halt(0);
    }
}
