package io.plumbline.topology.cli;

import io.plumbline.calibration.Baseline;
import io.plumbline.calibration.BaselineBuilder;
import io.plumbline.calibration.DriftJudge;
import io.plumbline.calibration.NullSample;
import io.plumbline.explainer.Explainer;
import java.io.IOException;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.apache.commons.math3.stat.descriptive.DescriptiveStatistics;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code plumbline baseline}: what is normal at a site. */
@Command(
        name = "baseline",
        mixinStandardHelpOptions = true,
        description = {
            "Measures what is normal at a site, from activations recorded while the explainer was known to fit.",
            "",
            "The file holds the second moment of the target rows and of their reconstructions, and the statistics of clean"
                    + " windows, which thresholds by quantile are taken from: give the ranks and window sizes you will"
                    + " watch with, and enough rows (a quantile of 0.95 needs 19 windows).",
            ""
        },
        footer = {
            "",
            "Example:",
            "  plumbline baseline --explainer sae/ --activations monday.safetensors tuesday.safetensors \\",
            "      --rank 32 --window-rows 2048 --out baseline.safetensors"
        })
final class BaselineCommand implements Callable<Integer> {

    private static final int DEFAULT_RANK = 32;
    private static final List<Integer> DEFAULT_WINDOW_ROWS = List.of(512, 2048);

    @Option(names = "--explainer", required = true, paramLabel = "DIR", description = "Folder of the explainer.")
    Path explainer;

    @Option(
            names = "--activations",
            required = true,
            arity = "1..*",
            paramLabel = "FILE",
            description = "Dumps of clean activations; several are one stream.")
    List<Path> activations;

    @Option(names = "--out", required = true, paramLabel = "FILE", description = "The file to write.")
    Path out;

    @Option(names = "--rank", paramLabel = "R", description = "A rank to calibrate for. May be repeated. Default: 32.")
    List<Integer> ranks = List.of();

    @Option(
            names = "--window-rows",
            paramLabel = "N",
            description = "A window size to calibrate for, in rows. May be repeated. Default: 512 and 2048.")
    List<Integer> windowRows = List.of();

    @Option(names = "--json", description = "Print one JSON object.")
    boolean json;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        Explainer trained = Options.explainer(explainer);
        Options.requireParent("--out", out);
        for (int rank : ranks) {
            Options.requireRank(rank, trained);
        }
        for (int rows : windowRows) {
            if (rows < 1) {
                throw new UsageException("--window-rows = %d: expected 1 or more".formatted(rows));
            }
        }
        BaselineBuilder builder = BaselineBuilder.of(
                trained,
                ranks.isEmpty() ? List.of(Math.min(DEFAULT_RANK, trained.targetWidth())) : ranks,
                windowRows.isEmpty() ? DEFAULT_WINDOW_ROWS : windowRows);
        try (ActivationStream stream = ActivationStream.open(activations, trained)) {
            stream.forEach("reading", builder::add);
        }
        Baseline baseline = builder.build();
        baseline.write(out);
        answer(baseline).print(spec.commandLine().getOut(), json);
        return ExitCodes.FINE;
    }

    private Answer answer(Baseline baseline) {
        Answer answer = new Answer()
                .put("out", out.toString())
                .put("explainer_sha256", baseline.explainerSha256())
                .put("rows", baseline.rows())
                .put("dimension", baseline.dimension())
                .put("second_moment_trace", baseline.moment().trace())
                .put("reconstruction_fvu", baseline.reconstructionFvu());
        for (NullSample sample : baseline.samples()) {
            putSpread(answer, sample);
        }
        return answer;
    }

    /** How far the statistic strays by itself: what a threshold written as a number is chosen by. */
    private static void putSpread(Answer answer, NullSample sample) {
        String of = "_rank_%d_rows_%d".formatted(sample.rank(), sample.rowsPerWindow());
        DescriptiveStatistics clean = new DescriptiveStatistics(sample.values(DriftJudge.DEFAULT_TRIGGER));
        answer.put("clean_windows" + of, clean.getN());
        Map<String, Double> spread = new LinkedHashMap<>();
        spread.put("minimum", clean.getMin());
        spread.put("median", clean.getPercentile(50.0));
        spread.put("maximum", clean.getMax());
        spread.put("standard_deviation", clean.getN() < 2 ? Double.NaN : clean.getStandardDeviation());
        spread.forEach((name, value) -> {
            String key = DriftJudge.DEFAULT_TRIGGER + "_" + name + of;
            if (value.isNaN()) {
                answer.putUndefined(key, "%d clean windows of that size".formatted(clean.getN()));
            } else {
                answer.put(key, value);
            }
        });
    }
}
