package io.plumbline.benchmarks.operators;

import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.stream.Stream;

/**
 * The machine and the program that figures are of.
 *
 * @param load average of the last minute when the run began; negative where the system does not say
 * @param version of Plumbline; {@code unpackaged} where its classes do not come from a jar
 */
record Machine(String processor, int cores, String java, String system, String date, double load, String version) {

    /** Load of each core on an idle machine; what is above it did not wait for us. */
    private static final double IDLE_LOAD = 0.25;

    private static final Path PROCESSORS = Path.of("/proc/cpuinfo");

    /** Returns this machine as it is when the run begins. */
    static Machine here() {
        String version = Machine.class.getPackage().getImplementationVersion();
        return new Machine(
                processor("model name"),
                Runtime.getRuntime().availableProcessors(),
                System.getProperty("java.vendor") + " " + Runtime.version(),
                System.getProperty("os.name") + " " + System.getProperty("os.arch"),
                Instant.now().truncatedTo(ChronoUnit.MINUTES).toString(),
                ManagementFactory.getOperatingSystemMXBean().getSystemLoadAverage(),
                version == null ? "unpackaged" : version);
    }

    /** Returns whether something else was running: absolute figures are then too low. */
    boolean wasBusy() {
        return load > IDLE_LOAD * cores;
    }

    /** Returns what Linux says of the first processor under a name; {@code unknown} where it says nothing. */
    static String processor(String name) {
        if (!Files.isReadable(PROCESSORS)) {
            return "unknown";
        }
        try (Stream<String> lines = Files.lines(PROCESSORS)) {
            return lines.filter(line -> line.startsWith(name))
                    .map(line -> line.substring(line.indexOf(':') + 1).strip())
                    .findFirst()
                    .orElse("unknown");
        } catch (IOException e) {
            return "unknown";
        }
    }
}
