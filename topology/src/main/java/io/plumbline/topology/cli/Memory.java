package io.plumbline.topology.cli;

import io.plumbline.judgement.Amounts;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.panes.StoreKind;
import io.plumbline.topology.runtime.CapacityEstimate;
import io.plumbline.topology.runtime.CapacityEstimate.Deployment;
import io.plumbline.topology.runtime.CapacityEstimate.Part;
import io.plumbline.topology.runtime.CapacityEstimate.Written;
import java.io.PrintWriter;
import java.util.Comparator;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.apache.kafka.streams.StreamsConfig;

/** Shows a {@link CapacityEstimate} beside the heap there is, and says what to change where it does not fit. */
public final class Memory {

    private static final String ROW = "  %-60s  %10s%n";
    private static final Pattern SIZE = Pattern.compile("([0-9]{1,12})([kmgtKMGT]?)");
    private static final String UNITS = "kmgt";

    private Memory() {}

    /** Returns the bytes of a size as Java takes it: 512m, 4g. */
    public static long size(String option, String text) {
        Matcher matcher = SIZE.matcher(text.strip());
        if (!matcher.matches()) {
            throw new UsageException(
                    "%s = %s: expected a size as Java's -Xmx takes it, such as 512m or 4g".formatted(option, text));
        }
        int power = UNITS.indexOf(matcher.group(2).toLowerCase(Locale.ROOT)) + 1;
        long bytes = Long.parseLong(matcher.group(1)) << (matcher.group(2).isEmpty() ? 0 : 10 * power);
        if (bytes <= 0) {
            throw new UsageException("%s = %s: expected more than 0".formatted(option, text));
        }
        return bytes;
    }

    public static Deployment deployment(int partitions, int instances, boolean spread, int standbys) {
        try {
            return new Deployment(partitions, instances, spread, standbys);
        } catch (IllegalArgumentException refused) {
            throw new UsageException("--partitions and --instances: " + refused.getMessage());
        }
    }

    /** Prints what one instance needs, and what the application writes. */
    public static void print(PrintWriter out, MonitorConfig config, CapacityEstimate estimate, long heap) {
        Deployment deployment = estimate.deployment();
        out.println("memory: set -Xmx to %s (PLUMBLINE_JAVA_OPTS=-Xmx%dm) for the monitor%s; there are %s"
                .formatted(
                        text(estimate.enoughHeapBytes()),
                        mebibytes(estimate.enoughHeapBytes()),
                        adapter(estimate) > 0
                                ? ", and to %s with the adapter beside it (--role all), without its refits"
                                        .formatted(text(estimate.enoughHeapBytes() + adapter(estimate)))
                                : "",
                        text(heap)));
        out.println("in detail, one monitor of %d, %s, %s, rows of a site %s:"
                .formatted(
                        deployment.instances(),
                        Amounts.count(deployment.partitions(), "partition"),
                        Amounts.count(deployment.standbys(), "standby replica"),
                        deployment.spread() ? "spread over all of them" : "in one of them (see --spread)"));
        rows(out, estimate.held());
        rows(out, estimate.working());
        out.printf(ROW, "least heap", text(estimate.leastHeapBytes()));
        rows(out, estimate.buffers());
        out.printf(ROW, "heap in which it also works off a backlog of such records", text(estimate.ampleHeapBytes()));
        out.printf(ROW, "heap there is", text(heap));
        if (deployment.partitions() > 1) {
            out.println(
                    config.waitingPanes() == null
                            ? "  The panes that wait are a bound: half of the heap that is left; "
                                    + "state.waiting_panes sets another."
                            : "  The panes that wait are a bound: state.waiting_panes.");
        }
        if (!estimate.outside().isEmpty()) {
            out.println("outside of the heap, at most:");
            rows(out, estimate.outside());
        }
        if (adapter(estimate) > 0) {
            out.println("in the adapter, beside its refits (role adapter, or in this process with role all), at most:");
            rows(out, estimate.adapter());
        }
        out.println("written to Kafka, all instances, before replication:");
        for (Written written : estimate.written()) {
            out.printf(
                    ROW,
                    written.topic() + ", a day"
                            + (written.bytesPerCommit() > 0
                                    ? " (%s a commit)".formatted(text(written.bytesPerCommit()))
                                    : ""),
                    text(written.bytesPerDay()));
        }
        out.print("""
                  This is the most, of rows of float32. It is mostly sampled rows, each written when it enters the sample:
                  rows of bfloat16 or float16 take half. Two keys turn it down:
                    sample.rows (%d): half of them write half of it
                    kafka: monitor.commit.interval.ms (%s): a longer one writes less of rows that leave the sample again
                """.formatted(
                config.sampleRows(), StreamsSettings.monitor(config).get(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG)));
    }

    private static long adapter(CapacityEstimate estimate) {
        return estimate.adapter().stream().mapToLong(Part::bytes).sum();
    }

    /** Rounds up: what is printed must do when it is typed. */
    private static long mebibytes(long bytes) {
        return (bytes + (1L << 20) - 1) >> 20;
    }

    private static void rows(PrintWriter out, List<Part> parts) {
        for (Part part : parts) {
            if (part.bytes() > 0) {
                out.printf(ROW, part.what(), text(part.bytes()));
            }
        }
    }

    /** Returns why the configuration cannot run in so much heap, with what to change; empty: it can. */
    public static Optional<String> refusal(MonitorConfig config, CapacityEstimate estimate, long heap) {
        if (estimate.leastHeapBytes() <= heap) {
            return Optional.empty();
        }
        Part largest = estimate.held().stream()
                .max(Comparator.comparingLong(Part::bytes))
                .orElseThrow();
        return Optional.of(("memory: %s %s a heap of at least %s in this monitor, and it has %s; set"
                        + " PLUMBLINE_JAVA_OPTS=-Xmx%dm or more,"
                        + " or lower sample.rows (%d), or%s watch some of the sites under another"
                        + " application_id; the largest part"
                        + " is \"%s\" with %s")
                .formatted(
                        Amounts.count(config.sites().size(), "site"),
                        config.sites().size() == 1 ? "needs" : "need",
                        text(estimate.leastHeapBytes()),
                        text(heap),
                        (estimate.leastHeapBytes() >> 20) + 1,
                        config.sampleRows(),
                        config.store() == StoreKind.MEMORY ? " set state.store: rocksdb, or" : "",
                        largest.what(),
                        text(largest.bytes())));
    }

    static String text(long bytes) {
        double mebi = bytes / (double) (1 << 20);
        return mebi < 10
                ? String.format(Locale.ROOT, "%.1f MiB", mebi)
                : mebi < 10_240
                        ? String.format(Locale.ROOT, "%.0f MiB", mebi)
                        : String.format(Locale.ROOT, "%.1f GiB", mebi / 1024);
    }
}
