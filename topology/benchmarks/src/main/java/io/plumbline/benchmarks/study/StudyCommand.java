package io.plumbline.benchmarks.study;

import io.plumbline.benchmarks.study.Study.Cell;
import io.plumbline.records.ActivationBatch;
import io.plumbline.topology.cli.AddedCommand;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.Progress;
import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.operate.Narration;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline study}: what the default sees, beside detectors that others use. */
@Command(
        name = "study",
        mixinStandardHelpOptions = true,
        description = {
            "Shows how much of foreign traffic the default finds, beside detectors that others use: on the same"
                    + " windows, at equal false alarms.",
            "",
            "Everything is fitted on clean requests. Every detector takes its level from the same windows of later"
                    + " usual requests: 5 % of them are above. Windows to judge are drawn afresh, with a share of"
                    + " foreign requests. A line is a traffic, a figure the percent of windows that raise an alarm,"
                    + " with its 95 % interval over the draws.",
            "",
            "default: gap, FVU and request evidence, judged as one by the largest normal score. gap: the faithfulness"
                    + " gap alone. MMD: kernel two-sample test. PSI: population stability index. PCA error: distance"
                    + " from the leading components; PCA share: of that from the mean. Hotelling: T^2 of the mean."
                    + " classifier: held-out AUC of a logistic regression.",
            "Not at equal false alarms: gap 3 sd, the rule of mean + 3 sd; own level, the default as the monitor"
                    + " judges. holds one: windows with a foreign request at all, the most that can be found."
        },
        footerHeading = "Examples:%n",
        footer = {
            "  plumbline study                                  the demonstration's English and German, a minute",
            "  plumbline study --recordings DIR --rows 512,2048 --csv study.csv"
        })
public final class StudyCommand implements AddedCommand {

    @Option(
            names = "--recordings",
            paramLabel = "DIR",
            description =
                    "Folder with explainer/ and activations/: en_baseline.safetensors is fitted on, en.safetensors is"
                            + " usual, and each file whose name does not begin with en is foreign traffic."
                            + " Default: the demonstration's; half of its English is fitted on.")
    @Nullable
    Path recordings;

    @Option(
            names = "--toy",
            description =
                    "The paper's toy network in place of recordings: shifts of three severities, and of all requests"
                            + " at once where 100 %% are foreign.")
    boolean toy;

    @Option(
            names = "--rows",
            split = ",",
            paramLabel = "N",
            defaultValue = "512",
            description = "Rows that a window has at least; whole requests fill it. Default: ${DEFAULT-VALUE}.")
    List<Integer> rows;

    @Option(
            names = "--windows",
            paramLabel = "N",
            defaultValue = "200",
            description = "Windows of each mixture; twice as many of usual traffic. Default: ${DEFAULT-VALUE}.")
    int windows;

    @Option(names = "--csv", paramLabel = "FILE", description = "Write every figure to this file too.")
    @Nullable
    Path csv;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        if (windows < 10 || windows > 100_000) {
            throw new UsageException("--windows = %d: expected 10 to 100000".formatted(windows));
        }
        List<Cell> cells = new ArrayList<>();
        Recordings read;
        Rivals rivals;
        try (Narration narration = Narration.to(spec.commandLine().getErr())) {
            narration.next("reading the recordings");
            read = read();
            rows.forEach(windowRows -> requireEnough(read, windowRows));
            narration.next("fitting the rivals");
            rivals = Rivals.of(read.fitted());
        }
        for (int windowRows : rows) {
            Study study = new Study(read, rivals, windowRows);
            List<Cell> ofRows;
            try (Progress progress = Progress.of("windows of %d rows".formatted(windowRows), study.kinds(), " kinds")) {
                ofRows = study.run(windows, () -> progress.advance(1));
            }
            print(spec.commandLine().getOut(), ofRows);
            cells.addAll(ofRows);
        }
        if (csv != null) {
            write(csv, cells);
        }
        return ExitCodes.FINE;
    }

    private Recordings read() throws IOException {
        if (recordings != null && toy) {
            throw new UsageException("--toy takes no --recordings: name one of them");
        }
        return recordings != null ? Recordings.of(recordings) : toy ? Recordings.toy() : Recordings.own();
    }

    private static void requireEnough(Recordings recordings, int windowRows) {
        long most = Math.min(rows(recordings.fitted()), rows(recordings.usual())) / 4;
        for (List<ActivationBatch> foreign : recordings.foreign().values()) {
            most = Math.min(most, rows(foreign));
        }
        if (windowRows < 64 || windowRows > most) {
            throw new UsageException("--rows = %d: expected 64 to %d, so that the recordings fill windows that differ"
                    .formatted(windowRows, most));
        }
    }

    private static long rows(List<ActivationBatch> requests) {
        return requests.stream().mapToLong(ActivationBatch::rows).sum();
    }

    private static void print(PrintWriter out, List<Cell> cells) {
        Cell first = cells.get(0);
        out.printf("%nwindows of %d rows, %d of usual traffic: percent with an alarm%n", first.rows(), first.windows());
        out.printf("%-18s", "");
        Study.DETECTORS.forEach(name -> out.printf(" %12s", name));
        for (int at = 0; at < cells.size(); at++) {
            Cell cell = cells.get(at);
            if (at % Study.DETECTORS.size() == 0) {
                out.printf(
                        "%n%-18s", cell.percent() == 0 ? cell.traffic() : cell.traffic() + " " + cell.percent() + " %");
            }
            out.printf(" %12s", String.format(Locale.ROOT, "%.0f %.0f-%.0f", cell.alarms(), cell.low(), cell.high()));
        }
        out.println();
        out.flush();
    }

    private static void write(Path csv, List<Cell> cells) throws IOException {
        List<String> lines = new ArrayList<>(List.of("rows,traffic,foreign (%),detector,alarms (%),low,high,windows"));
        for (Cell cell : cells) {
            lines.add(String.format(
                    Locale.ROOT,
                    "%d,%s,%d,%s,%.0f,%.0f,%.0f,%d",
                    cell.rows(),
                    cell.traffic(),
                    cell.percent(),
                    cell.detector(),
                    cell.alarms(),
                    cell.low(),
                    cell.high(),
                    cell.windows()));
        }
        Files.write(csv, lines);
    }
}
