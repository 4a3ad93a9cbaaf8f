package io.plumbline.benchmarks;

import io.plumbline.benchmarks.operators.Figures;
import io.plumbline.linalg.kernel.UpdateKernels;
import io.plumbline.topology.cli.AddedCommand;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.operate.Narration;
import io.plumbline.wire.DType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
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
            "Measures the whole pipeline on this machine: rows a second and stalls of ingestion; with --swap the time"
                    + " from a drift verdict to the new decoder in their place.",
            "",
            "The pipeline is the real monitor, exactly-once with a commit every 5 s, on a Kafka broker in a process of"
                    + " its own, which is started for it; topics of 2 GB lie in the temporary folder while it runs."
                    + " With --rivals other programs take turns with the monitor on the same rows. Use an idle"
                    + " machine, and read ratios rather than figures."
        },
        footerHeading = "Examples:%n",
        footer = {
            "  plumbline bench --rivals --csv bench.csv         everything beside its rivals, about eight minutes",
            "  plumbline bench --swap                           from a drift verdict to the new decoder in a"
                    + " subscriber, two minutes",
            "  plumbline bench --wide --widths 4096,5120,8192 --csv wide.csv",
            "  plumbline bench --quick                          whether it runs, in a minute",
            "  PLUMBLINE_PYTHON=venv/bin/python plumbline bench --rivals"
        })
public final class BenchCommand implements AddedCommand {

    private static final int WIDEST = 8_192;

    @Option(
            names = "--swap",
            description =
                    "From the verdict that a site of 768 x 24,576 has drifted to the verified decoder in a subscriber.")
    boolean swap;

    @Option(
            names = "--wide",
            description =
                    "Instead: a site of each width and 24,576 features, by rows of BF16 and by moments: rows a second,"
                            + " the report of a window, its refit and new decoder, heap, topics, and a restart after a"
                            + " kill. What --csv has is not measured again. At 8,192: 20 GB of memory, 10 of disk.")
    boolean wide;

    @Option(names = "--rivals", description = "Beside other programs.")
    boolean rivals;

    @Option(
            names = "--large-refit",
            description =
                    "Watch ingestion beside a refit at 2,048 x 65,536 too; with --swap, swap at that size too: some"
                            + " minutes and 14 GB of memory.")
    boolean largeRefit;

    @Option(names = "--quick", description = "Small sizes, one round: whether it runs, not how fast.")
    boolean quick;

    @Option(names = "--bf16", description = "Rows of BF16, not of F32, without rivals.")
    boolean brains;

    @Option(
            names = "--widths",
            split = ",",
            paramLabel = "D",
            defaultValue = "768,2048",
            description = "Widths of the rows; most is measured at the first. Default: ${DEFAULT-VALUE}.")
    List<Integer> widths;

    @Option(
            names = "--sites",
            paramLabel = "N",
            description = "Instead: N sites of the first width that share a topic of --rows rows.")
    @Nullable
    Integer sites;

    @Option(
            names = "--rows",
            paramLabel = "N",
            description = "Rows of a topic, at the first width. Default: 600000; with --quick 60000.")
    @Nullable
    Long rows;

    @Option(names = "--rounds", paramLabel = "N", description = "How often. Default: 3; with --quick 1.")
    @Nullable
    Integer rounds;

    @Option(
            names = "--csv",
            paramLabel = "FILE",
            description = "Write every figure to this file too, with the machine, the date and the version.")
    @Nullable
    Path csv;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException, InterruptedException {
        BenchPlan plan = plan();
        Figures figures = new Figures();
        try (Narration narration = Narration.to(spec.commandLine().getErr());
                Bench bench = Bench.start(narration::next)) {
            UpdateKernels.Choice choice = UpdateKernels.chosen();
            figures.note("kernel: %s (%s)".formatted(choice.kernel().name(), choice.reason()));
            if (wide) {
                new WideBench(plan, bench, csv, spec.commandLine().getOut()).run();
                return ExitCodes.FINE;
            }
            if (swap) {
                new SwapBench(plan, bench, figures).run();
            } else if (sites != null) {
                new PipelineBench(plan, bench, figures).many(sites);
            } else {
                new PipelineBench(plan, bench, figures).run();
            }
        }
        figures.print(spec.commandLine().getOut());
        if (csv != null) {
            figures.write(csv);
        }
        return ExitCodes.FINE;
    }

    private BenchPlan plan() {
        widths.forEach(width -> requireWithin("--widths", width, 8, WIDEST));
        long topicRows = rows == null ? (quick ? 60_000 : 600_000) : rows;
        requireWithin("--rows", topicRows, 1_000, 100_000_000);
        int turns = rounds == null ? (quick ? 1 : 3) : rounds;
        requireWithin("--rounds", turns, 1, 100);
        if (sites != null) {
            requireWithin("--sites", sites, 1, 1_000);
        }
        if (wide && (rivals || swap || brains || sites != null)) {
            throw new UsageException(
                    "--wide measures alone, and rows of BF16: leave out --rivals, --swap, --bf16 and" + " --sites");
        }
        if (brains && (rivals || swap)) {
            throw new UsageException("--bf16 with %s: it measures the pipeline alone, without other programs"
                    .formatted(rivals ? "--rivals" : "--swap"));
        }
        return new BenchPlan(rivals, largeRefit, quick, brains ? DType.BF16 : DType.F32, widths, topicRows, turns);
    }

    private static void requireWithin(String option, long value, long least, long most) {
        if (value < least || value > most) {
            throw new UsageException("%s = %d: expected %d to %d".formatted(option, value, least, most));
        }
    }
}
