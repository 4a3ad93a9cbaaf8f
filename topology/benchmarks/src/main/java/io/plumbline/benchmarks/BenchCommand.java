package io.plumbline.benchmarks;

import io.plumbline.benchmarks.BenchPlan.Part;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.Narration;
import io.plumbline.topology.cli.UsageException;
import java.io.IOException;
import java.nio.file.Path;
import java.util.EnumSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline bench}: how fast this machine does the work. */
@Command(
        name = "bench",
        mixinStandardHelpOptions = true,
        description = {
            "Measures the kernels and the whole pipeline on this machine and prints ratios. Without --kernels,"
                    + " --pipeline, --scaling and --swap: the first two.",
            "",
            "The pipeline is the real monitor, exactly-once with a commit every 5 s, on a Kafka broker in a process"
                    + " of its own, which is started"
                    + " for it; topics of 2 GB lie in the temporary folder while it runs. With --rivals other"
                    + " libraries and programs take turns with ours"
                    + " on the same rows; the launcher builds what that needs. Use an idle machine, and read ratios"
                    + " rather than figures.",
            ""
        },
        footer = {
            "",
            "Examples:",
            "  plumbline bench --rivals --json bench.json       everything beside its rivals, about ten minutes",
            "  plumbline bench --scaling                        how costs grow with each size, some minutes",
            "  plumbline bench --swap                           from a drift verdict to the new decoder in a"
                    + " subscriber, two minutes",
            "  plumbline bench --kernels --quick                whether it runs, in seconds",
            "  PLUMBLINE_PYTHON=venv/bin/python plumbline bench --pipeline --rivals"
        })
final class BenchCommand implements Callable<Integer> {

    private static final long TOPIC_ROWS = 600_000;
    private static final long QUICK_TOPIC_ROWS = 60_000;
    private static final int ROUNDS = 3;
    private static final int WIDEST = 8_192;

    @Option(names = "--kernels", description = "Linear algebra: updates, encoders, decompositions.")
    boolean kernels;

    @Option(names = "--pipeline", description = "Rows a second from a topic to the moments.")
    boolean pipeline;

    @Option(
            names = "--scaling",
            description = "How costs grow with d, k, N, r, sites and panes, with fitted exponents.")
    boolean scaling;

    @Option(
            names = "--swap",
            description =
                    "From the verdict that a site of 768 x 24,576 has drifted to the verified decoder in a subscriber.")
    boolean swap;

    @Option(names = "--rivals", description = "Beside other libraries and programs.")
    boolean rivals;

    @Option(
            names = "--large-refit",
            description = "With --pipeline, watch ingestion beside a refit at 2,048 x 65,536 too; with --swap, swap at"
                    + " that size too: some minutes and 14 GB of memory.")
    boolean largeRefit;

    @Option(names = "--quick", description = "Small sizes, one round: whether it runs, not how fast.")
    boolean quick;

    @Option(
            names = "--widths",
            split = ",",
            paramLabel = "D",
            defaultValue = "768,2048",
            description = "Widths of the rows; most is measured at the first. Default: ${DEFAULT-VALUE}.")
    List<Integer> widths;

    @Option(
            names = "--rows",
            paramLabel = "N",
            description = "Rows of a topic, at the first width. Default: 600000; with --quick 60000.")
    @Nullable
    Long rows;

    @Option(names = "--rounds", paramLabel = "N", description = "Of the pipeline. Default: 3; with --quick 1.")
    @Nullable
    Integer rounds;

    @Option(names = "--json", paramLabel = "FILE", description = "Write everything to this file too.")
    @Nullable
    Path json;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        BenchPlan plan = plan();
        BenchReport report = measure(plan);
        report.print(spec.commandLine().getOut());
        if (json != null) {
            report.writeJson(json);
        }
        return ExitCodes.FINE;
    }

    private BenchReport measure(BenchPlan plan) throws IOException, InterruptedException {
        try (Narration narration = Narration.to(spec.commandLine().getErr());
                Bench bench = new Bench(plan, narration::next)) {
            // Ctrl-C: the broker and its topics must not outlive the process.
            Thread stop = new Thread(bench::close, "stop-bench");
            Runtime.getRuntime().addShutdownHook(stop);
            BenchReport report = bench.run();
            Runtime.getRuntime().removeShutdownHook(stop);
            return report;
        }
    }

    private BenchPlan plan() {
        for (int width : widths) {
            requireWithin("--widths", width, 8, WIDEST);
        }
        long topicRows = rows == null ? (quick ? QUICK_TOPIC_ROWS : TOPIC_ROWS) : rows;
        requireWithin("--rows", topicRows, 1_000, 100_000_000);
        int turns = rounds == null ? (quick ? 1 : ROUNDS) : rounds;
        requireWithin("--rounds", turns, 1, 100);
        return new BenchPlan(parts(), rivals, largeRefit, quick, widths, topicRows, turns);
    }

    private Set<Part> parts() {
        Set<Part> parts = EnumSet.noneOf(Part.class);
        Map.of(Part.KERNELS, kernels, Part.PIPELINE, pipeline, Part.SCALING, scaling, Part.SWAP, swap)
                .forEach((part, asked) -> {
                    if (asked) {
                        parts.add(part);
                    }
                });
        return parts.isEmpty() ? EnumSet.of(Part.KERNELS, Part.PIPELINE) : parts;
    }

    private static void requireWithin(String option, long value, long least, long most) {
        if (value < least || value > most) {
            throw new UsageException("%s = %d: expected %d to %d".formatted(option, value, least, most));
        }
    }
}
