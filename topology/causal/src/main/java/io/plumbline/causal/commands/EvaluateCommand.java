package io.plumbline.causal.commands;

import com.fasterxml.jackson.databind.node.ObjectNode;
import io.plumbline.baseline.Baseline;
import io.plumbline.causal.commands.Refits.Made;
import io.plumbline.causal.commands.Refits.PaperSettings;
import io.plumbline.causal.heads.DecoderFile;
import io.plumbline.causal.heads.FeatureRanking;
import io.plumbline.causal.heads.HeadException;
import io.plumbline.causal.heads.Interval;
import io.plumbline.causal.heads.OpenHead;
import io.plumbline.causal.heads.SiteStudy.Ablating;
import io.plumbline.explainer.Explainer;
import io.plumbline.topology.assessment.Explainers;
import io.plumbline.topology.cli.AddedCommand;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.ExplainerFacts;
import io.plumbline.topology.cli.Progress;
import io.plumbline.topology.cli.UsageException;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline evaluate}: every way to adapt a decoder, measured by what the model then does. */
@Command(
        name = "evaluate",
        mixinStandardHelpOptions = true,
        description = {
            "Refits the decoder to a window in every way there is without training, and measures each of them, "
                    + "and decoders"
                    + " from elsewhere, on later requests by what the model does with them.",
            "",
            "fixed: the trained decoder; bias: a new bias alone; gae-paper and gae-code: "
                    + "the paper's algorithm and the authors'"
                    + " code with --gae; ridge: full rank towards the trained decoder, on all rows; auto: "
                    + "what a site's adapter"
                    + " would publish; auto-free: the same without rows of the baseline that hold it. "
                    + "A * marks an interval of the change against fixed that excludes 0."
        },
        footer = {
            "  plumbline evaluate --explainer sae/ --head head.onnx --baseline baseline.safetensors --window "
                    + "java.safetensors \\",
            "      --later java-later.safetensors --in-distribution english.safetensors --decoder "
                    + "finetuned=finetuned.safetensors"
        })
public final class EvaluateCommand implements AddedCommand {

    @Mixin
    ExplainerFacts.Place explainer;

    @Mixin
    HeadOptions head = new HeadOptions();

    @Option(
            names = "--window",
            required = true,
            arity = "1..*",
            paramLabel = "FILE",
            description = "Dumps of whole requests to fit on, for a transcoder without the residual stream too.")
    List<Path> window;

    @Option(
            names = "--later",
            required = true,
            arity = "1..*",
            paramLabel = "FILE",
            description = "Dumps of later requests to measure on.")
    List<Path> later;

    @Option(
            names = "--in-distribution",
            arity = "1..*",
            paramLabel = "FILE",
            description = "Dumps of requests like those of the training, to measure the price on.")
    List<Path> inDistribution = List.of();

    @Option(
            names = "--baseline",
            paramLabel = "FILE",
            description = "File written by `plumbline baseline`: its rows hold auto to traffic in distribution.")
    @Nullable
    Path baseline;

    @Option(
            names = "--rank",
            paramLabel = "R",
            defaultValue = "32",
            description = "Rank at which the site is watched: of the gap, and of auto. Default: ${DEFAULT-VALUE}.")
    int rank;

    @Option(
            names = "--gae",
            paramLabel = "R,GEOM,PRES",
            defaultValue = "32,0.1,0.2",
            description = "Rank and absolute lambdas of gae-paper and gae-code. Default: ${DEFAULT-VALUE}, "
                    + "the paper's for FineWeb.")
    String gae;

    @Option(
            names = "--decoder",
            paramLabel = "NAME=PATH",
            description = "A decoder from elsewhere, as `plumbline causal` reads it. May be repeated.")
    Map<String, Path> decoders = new LinkedHashMap<>();

    @Option(
            names = "--most-requests",
            paramLabel = "N",
            description = "Measure on the first N requests of each. Default: all.")
    int most = Integer.MAX_VALUE;

    @Option(
            names = "--ablated-requests",
            paramLabel = "N",
            defaultValue = "32",
            description = "Ablate features in the first N requests of each, for nAOPC and nComp; "
                    + "takes nearly all of the time. 0: none."
                    + " Default: ${DEFAULT-VALUE}.")
    int ablated;

    @Option(names = "--json", description = "Print one JSON object.")
    boolean json;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        if (!Files.exists(explainer.path())) {
            throw new UsageException("--explainer = %s: no such folder".formatted(explainer.path()));
        }
        Explainer trained = Explainers.read(explainer.path(), explainer.options());
        if (rank < 1 || rank > trained.targetWidth()) {
            throw new UsageException("--rank = %d: expected 1 to %d".formatted(rank, trained.targetWidth()));
        }
        if (most < 1) {
            throw new UsageException("--most-requests = %d: expected 1 or more".formatted(most));
        }
        if (ablated < 0) {
            throw new UsageException("--ablated-requests = %d: expected 0 or more".formatted(ablated));
        }
        PaperSettings paper = paper(trained);
        Baseline clean = baseline(trained);
        Map<String, Made> methods;
        try (RequestFiles rows = RequestFiles.openRows(window, trained)) {
            methods = Refits.of(trained, new WindowRows(trained, rows), clean, rank, paper);
        }
        for (Map.Entry<String, Path> named : decoders.entrySet()) {
            methods.put(named.getKey(), read(named.getKey(), named.getValue(), trained, methods));
        }
        Map<String, Evaluation> evaluations = new LinkedHashMap<>();
        try (OpenHead opened = head.open(trained)) {
            evaluations.put("later", evaluated("later requests", "--later", later, trained, opened, methods));
            if (!inDistribution.isEmpty()) {
                evaluations.put(
                        "in_distribution",
                        evaluated("in distribution", "--in-distribution", inDistribution, trained, opened, methods));
            }
        } catch (HeadException failed) {
            throw HeadOptions.explained(failed);
        }
        PrintWriter out = spec.commandLine().getOut();
        if (json) {
            out.println(
                    CausalReport.JSON.writerWithDefaultPrettyPrinter().writeValueAsString(tree(methods, evaluations)));
        } else {
            print(out, methods, evaluations);
        }
        out.flush();
        return ExitCodes.FINE;
    }

    private Evaluation evaluated(
            String task, String option, List<Path> files, Explainer trained, OpenHead opened, Map<String, Made> methods)
            throws IOException {
        try (RequestFiles requests = RequestFiles.open(option, files, trained, most);
                Progress progress = Progress.of(task, requests.rows())) {
            return Evaluation.of(
                    trained,
                    opened,
                    requests,
                    methods,
                    ablated == 0 ? null : new Ablating(FeatureRanking.CAUSAL, null, ablated),
                    rank,
                    progress::advance);
        } catch (IllegalArgumentException refused) {
            throw new UsageException(option + ": " + refused.getMessage());
        }
    }

    private List<String> figures() {
        List<String> figures = new ArrayList<>(Evaluation.SEQUENCE);
        figures.add("gap");
        if (ablated > 0) {
            figures.addAll(Evaluation.ABLATION);
        }
        return figures;
    }

    private ObjectNode tree(Map<String, Made> methods, Map<String, Evaluation> evaluations) {
        ObjectNode tree = CausalReport.JSON.createObjectNode();
        methods.forEach((name, made) -> {
            ObjectNode row = tree.putObject(name);
            if (Double.isFinite(made.seconds())) {
                row.put("seconds", made.seconds()).put("rows", made.rows());
            }
            if (!made.note().isEmpty()) {
                row.put("note", made.note());
            }
            evaluations.forEach((where, evaluation) -> {
                ObjectNode figures = row.putObject(where);
                for (String figure : figures()) {
                    CausalReport.put(figures, figure, evaluation.value(name, figure));
                    if (!name.equals("fixed") && !figure.equals("gap")) {
                        CausalReport.put(figures, figure + "_change", evaluation.change(name, figure));
                    }
                }
            });
        });
        return tree;
    }

    private void print(PrintWriter out, Map<String, Made> methods, Map<String, Evaluation> evaluations) {
        evaluations.forEach((where, evaluation) -> {
            out.printf("%s%n", where.equals("later") ? "Later requests" : "In distribution");
            out.printf("%-16s", "");
            figures().forEach(figure -> out.printf("  %-26s", figure));
            out.println();
            for (String name : methods.keySet()) {
                out.printf("%-16s", name);
                for (String figure : figures()) {
                    boolean changed = !name.equals("fixed")
                            && !figure.equals("gap")
                            && isApartFromZero(evaluation.change(name, figure));
                    out.printf("  %-26s", CausalReport.text(evaluation.value(name, figure)) + (changed ? " *" : ""));
                }
                out.println();
            }
            out.println();
        });
        out.printf("%-16s  %9s  %7s  %s%n", "", "seconds", "rows", "");
        methods.forEach((name, made) -> out.printf(
                Locale.ROOT,
                "%-16s  %9s  %7s  %s%n",
                name,
                Double.isFinite(made.seconds()) ? "%.2f".formatted(made.seconds()) : "-",
                made.rows() > 0 ? Integer.toString(made.rows()) : "-",
                made.note()));
    }

    private static boolean isApartFromZero(Interval change) {
        return change.isBelowZero() || change.isAboveZero();
    }

    private PaperSettings paper(Explainer trained) {
        String[] parts = gae.split(",", -1);
        try {
            if (parts.length == 3) {
                PaperSettings settings = new PaperSettings(
                        Integer.parseInt(parts[0].strip()),
                        Double.parseDouble(parts[1].strip()),
                        Double.parseDouble(parts[2].strip()));
                if (settings.rank() >= 1
                        && settings.rank() <= trained.targetWidth()
                        && settings.settings().regularisation().preservation() > 0.0) {
                    return settings;
                }
            }
        } catch (IllegalArgumentException refused) {
            // Said below, with what is expected.
        }
        throw new UsageException(
                "--gae = %s: expected a rank from 1 to %d and two lambdas, the second above 0, such as 32,0.1,0.2"
                        .formatted(gae, trained.targetWidth()));
    }

    private @Nullable Baseline baseline(Explainer trained) throws IOException {
        if (baseline == null) {
            return null;
        }
        if (!Files.isRegularFile(baseline)) {
            throw new UsageException(
                    "--baseline = %s: no such file; `plumbline baseline` writes one".formatted(baseline));
        }
        Baseline clean = Baseline.read(baseline);
        if (!clean.explainerSha256().equals(trained.decoder().sha256())) {
            throw new UsageException("--baseline = %s was made with another decoder; run `plumbline baseline` again"
                    .formatted(baseline));
        }
        return clean;
    }

    private Made read(String name, Path path, Explainer trained, Map<String, Made> known) throws IOException {
        if (known.containsKey(name)) {
            throw new UsageException("--decoder %s=%s: there is a method of that name".formatted(name, path));
        }
        if (!Files.exists(path)) {
            throw new UsageException("--decoder %s=%s: no such file or folder".formatted(name, path));
        }
        try {
            return new Made(DecoderFile.read(path, trained, explainer.options()), Double.NaN, 0, "");
        } catch (IllegalArgumentException refused) {
            throw new UsageException("--decoder: " + refused.getMessage());
        }
    }
}
