package io.plumbline.benchmarks;

import io.plumbline.linalg.kernel.UpdateKernels;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.stream.Stream;

/**
 * The machine that the figures were measured on.
 *
 * @param loadAverage of the last minute when the run began; negative where the system does not say
 * @param kernel what sums rows here, and why
 */
public record Machine(
        String processor, int cores, String java, String system, String date, double loadAverage, String kernel) {

    /** Load of each core on an idle machine; what is above it did not wait for us. */
    private static final double IDLE_LOAD = 0.25;

    private static final Path PROCESSORS = Path.of("/proc/cpuinfo");

    /** Returns this machine, as it is when the run begins. */
    public static Machine here() {
        double load = ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage();
        UpdateKernels.Choice choice = UpdateKernels.chosen();
        return new Machine(
                modelName(),
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("java.vendor") + " " + Runtime.version(),
                System.getProperty("os.name") + " " + System.getProperty("os.arch"),
                Instant.now().truncatedTo(ChronoUnit.MINUTES).toString(),
                load,
                "%s (%s)".formatted(choice.kernel().name(), choice.reason()));
    }

    /** Returns whether something else was running: absolute figures are then too low. */
    public boolean wasBusy() {
        return loadAverage > IDLE_LOAD * cores;
    }

    private static String modelName() {
        if (Files.isReadable(PROCESSORS)) {
            try (Stream<String> lines = Files.lines(PROCESSORS)) {
                return lines.filter(line -> line.startsWith("model name"))
                        .map(line -> line.substring(line.indexOf(':') + 1).strip())
                        .findFirst()
                        .orElse("unknown");
            } catch (IOException e) {
                return "unknown";
            }
        }
        return "unknown";
    }
}
