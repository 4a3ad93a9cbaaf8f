package io.plumbline.topology.cli;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.UsualRank;
import io.plumbline.comparison.ExplainerComparison;
import io.plumbline.comparison.Policy;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.GivenReconstructions;
import io.plumbline.moments.RowMask;
import io.plumbline.probes.Probe;
import io.plumbline.probes.ProbeFile;
import io.plumbline.records.ActivationBatch;
import io.plumbline.topology.cli.BehaviourProvider.OutputChange;
import io.plumbline.topology.config.PolicyFile;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline compare}: the same prompts before and after a change of the model. */
@Command(
        name = "compare",
        mixinStandardHelpOptions = true,
        description = {
            "Compares an explainer on the same prompts before and after a change of engine, revision, quantisation or"
                    + " fine-tune; with --head or --worker also the model's output, KL(before || after), on dumps of"
                    + " whole requests.",
            "",
            "With --policy it exits with 1 where the worse end of an interval breaks a limit, or where a mistake is"
                    + " found that allowed_causes does not name."
        },
        footer = {
            "  plumbline compare --explainer sae/ --before today.safetensors --after int4.safetensors \\",
            "      --policy policy.yaml --markdown \"$GITHUB_STEP_SUMMARY\""
        })
public final class CompareCommand implements Callable<Integer> {

    private static final int LISTED = 10;

    @Mixin
    ExplainerFacts.Place explainer;

    @Option(names = "--before", required = true, arity = "1..*", paramLabel = "FILE", description = "Dumps before it.")
    List<Path> before;

    @Option(names = "--after", required = true, arity = "1..*", paramLabel = "FILE", description = "Dumps after it.")
    List<Path> after;

    @Option(
            names = "--before-layers",
            arity = "1..*",
            paramLabel = "FILE",
            description = "Dumps of other layers before it: the one that after's rows come from is named.")
    List<Path> layers = List.of();

    @Option(
            names = "--probes",
            arity = "1..*",
            paramLabel = "FILE",
            description = "Files of probes that read the rows: how many requests each reads otherwise.")
    List<Path> probes = List.of();

    @Mixin
    HeadPlace place = new HeadPlace();

    @Option(names = "--baseline", paramLabel = "FILE", description = "Baseline whose mask and rank are taken.")
    @Nullable
    Path baseline;

    @Option(names = "--policy", paramLabel = "FILE", description = "YAML of limits, and of allowed_causes.")
    @Nullable
    Path policy;

    @Option(names = "--junit", paramLabel = "FILE", description = "Write a test case for each rule and each mistake.")
    @Nullable
    Path junit;

    @Option(names = "--markdown", paramLabel = "FILE", description = "Add a summary in Markdown to this file.")
    @Nullable
    Path markdown;

    @Option(names = "--labels", paramLabel = "FILE", description = "Labels of features, index to text, as JSON or CSV.")
    @Nullable
    Path labels;

    @Option(names = "--json", description = "Print one JSON object.")
    boolean json;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        if (junit != null && policy == null) {
            throw new UsageException("--junit = %s: its test cases are the rules of a --policy".formatted(junit));
        }
        if (junit != null) {
            Options.requireParent("--junit", junit);
        }
        if (markdown != null) {
            Options.requireParent("--markdown", markdown);
        }
        Policy limits = policy == null ? null : PolicyFile.read(policy);
        boolean hasHead = place.isGiven();
        requireFor(limits, ExplainerComparison.PROBE_FLIPS, "--probes", !probes.isEmpty());
        requireFor(limits, ExplainerComparison.KL, "--head or --worker", hasHead);
        if (GivenReconstructions.isNamedBy(explainer.path())) {
            throw new UsageException(
                    "--explainer = none: compare encodes rows itself; expected the folder or file of an explainer");
        }
        List<Explainer> blocks = Options.blocks(explainer.path(), explainer.options());
        if (blocks.size() > 1) {
            throw new UsageException("--explainer = %s: has %d targets; name one with --explainer-option target=L"
                    .formatted(explainer.path(), blocks.size()));
        }
        FeatureOptions names = new FeatureOptions();
        names.labels = labels;
        ExplainerComparison comparison = compare(blocks.get(0));
        OutputChange output = hasHead && comparison.unpaired() == null ? output(blocks.get(0)) : null;
        if (output != null && output.kl() != null) {
            comparison = comparison.with(ExplainerComparison.KL, output.kl());
        }
        CompareReport report = CompareReport.of(comparison, output, limits, names.names(blocks.get(0)));
        report.print(spec.commandLine().getOut(), json);
        if (junit != null) {
            Files.writeString(junit, report.junit()); // may be a pipe
        }
        if (markdown != null) {
            Files.writeString(markdown, report.markdown(), StandardOpenOption.CREATE, StandardOpenOption.APPEND);
        }
        return report.passes() ? ExitCodes.FINE : ExitCodes.DRIFT_FOUND;
    }

    private void requireFor(@Nullable Policy limits, String figure, String options, boolean given) {
        if (limits != null && limits.limits(figure) && !given) {
            throw new UsageException("--policy = %s: bounds %s; expected %s".formatted(policy, figure, options));
        }
    }

    private OutputChange output(Explainer trained) throws IOException {
        return BehaviourOptions.provider().change(place.location(), trained, before, after);
    }

    private List<Probe> probes(Explainer trained) throws IOException {
        List<Probe> read = new ArrayList<>();
        for (Path file : probes) {
            try {
                read.add(new ProbeFile(file, null, null).read(trained.inputWidth()));
            } catch (IllegalArgumentException refused) {
                throw new UsageException("--probes: " + refused.getMessage());
            }
        }
        return read;
    }

    private ExplainerComparison compare(Explainer trained) throws IOException {
        Baseline normal = baseline == null ? null : Options.baseline(baseline, trained);
        RowMask mask = normal == null ? RowMask.NONE : normal.masking().mask();
        int rank = normal == null || normal.samples().isEmpty()
                ? UsualRank.of(trained.targetWidth())
                : normal.samples().get(0).rank();
        List<ActivationStream> open = new ArrayList<>();
        try {
            Map<String, List<ActivationBatch>> places = new LinkedHashMap<>();
            for (Path layer : layers) {
                places.put(layer.toString(), requests(List.of(layer), trained, RowMask.NONE, open));
            }
            return ExplainerComparison.between(
                    trained,
                    rank,
                    mask,
                    requests(before, trained, mask, open),
                    requests(after, trained, mask, open),
                    places,
                    probes(trained),
                    LISTED);
        } finally {
            for (ActivationStream stream : open) {
                stream.close();
            }
        }
    }

    private static List<ActivationBatch> requests(
            List<Path> files, Explainer trained, RowMask mask, List<ActivationStream> open) throws IOException {
        ActivationStream stream = ActivationStream.open(files, trained);
        open.add(stream);
        stream.requireTokenIds(mask);
        if (stream.requests() < 2) {
            throw new UsageException("%s: one request; expected 2 or more, for intervals".formatted(files.get(0)));
        }
        return stream.asList();
    }
}
