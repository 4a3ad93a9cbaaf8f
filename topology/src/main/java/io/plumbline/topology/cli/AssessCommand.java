package io.plumbline.topology.cli;

import com.fasterxml.jackson.databind.JsonNode;
import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.baseline.NullSample;
import io.plumbline.baseline.RecordedWindow;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.geometry.Statistic;
import io.plumbline.judgement.AlarmLaw;
import io.plumbline.judgement.Basis;
import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.DriftState;
import io.plumbline.judgement.DriftVerdict;
import io.plumbline.judgement.Reading;
import io.plumbline.judgement.Threshold;
import io.plumbline.judgement.Verdict;
import io.plumbline.moments.SecondMoment;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.topology.config.AlarmText;
import io.plumbline.topology.report.BlockStanding;
import io.plumbline.topology.report.EnergyWarning;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.StatisticReport;
import io.plumbline.topology.report.WorstRequest;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.ArgGroup;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline assess}: every number of one window, from dumps. */
@Command(
        name = "assess",
        mixinStandardHelpOptions = true,
        description = {
            "Measures one window of activations against the explainer and a baseline, in float64, and judges it.",
            "",
            "All dumps together are one window. The requests farthest from the baseline's are named by their place in "
                    + "the dumps, from 0. Rows the baseline was made without are left out here too. "
                    + "A number that does not exist here is null, with the reason."
        },
        footer = {
            "  plumbline assess --explainer sae/ --baseline baseline.safetensors --activations today.safetensors \\",
            "      --fail-on-drift",
            "By the faithfulness gap alone, above a number:",
            "  plumbline assess ... --threshold 4.0",
            "Which features fail on these rows, the ten worst:",
            "  plumbline assess ... --features 10",
            "What kinds of new traffic there are, and which requests to look at first:",
            "  plumbline assess ... --groups",
            "With --json, one object and nothing else:",
            "  plumbline assess ... --json | jq .faithfulness_gap"
        })
public final class AssessCommand implements Callable<Integer> {

    @Option(
            names = "--explainer",
            required = true,
            paramLabel = "DIR",
            description = "Folder or file of the explainer; none where dumps bring reconstructions.")
    Path explainer;

    @Mixin
    ExplainerFacts facts;

    @Option(
            names = "--baseline",
            required = true,
            paramLabel = "FILE",
            description = "File written by `plumbline baseline`; of an explainer with several targets the folder.")
    Path baseline;

    @Option(
            names = "--activations",
            required = true,
            arity = "1..*",
            paramLabel = "FILE",
            description = "Dumps; several are one stream.")
    List<Path> activations;

    @Option(
            names = "--rank",
            paramLabel = "R",
            description = "Rank of the subspaces compared. Default: that of the baseline's clean windows.")
    @Nullable
    Integer rank;

    @ArgGroup
    @Nullable
    ThresholdOptions thresholds;

    @Option(
            names = "--debounce",
            paramLabel = "'J of N'",
            defaultValue = "2 of 3",
            description = "What the site is watched with, for the promise about false alarms. "
                    + "This window is judged by itself."
                    + " Default: ${DEFAULT-VALUE}.")
    String debounce;

    @Option(
            names = "--window-size",
            paramLabel = "DURATION",
            defaultValue = "60s",
            description =
                    "Length of the site's windows (tumbling), for the rate of false alarms. Default: ${DEFAULT-VALUE}.")
    String windowSize;

    @Option(
            names = "--trigger",
            split = ",",
            paramLabel = "STATISTIC",
            description = "A statistic that decides. May be repeated; several are judged as one. Default: "
                    + "those of a site for which"
                    + " none is configured, and the faithfulness gap alone for a threshold that is a number "
                    + "or a share.")
    List<String> triggers = List.of();

    @Option(
            names = "--site",
            paramLabel = "SITE",
            description = "Name of the site in the answer. Default: the explainer's own hook_name.")
    @Nullable
    String site;

    @Option(
            names = "--fail-on-drift",
            description = "Exit with 1 when the verdict is drifted, and with 4 when it is undecided: nothing was found"
                    + " fine then.")
    boolean failOnDrift;

    @Mixin
    FeatureOptions features;

    @Option(
            names = "--groups",
            description = "List groups of requests that are unlike the baseline's and like each other: how many"
                    + " requests, new or a known kind, the three nearest to the centre by their place in the dumps, and"
                    + " the features that are more active in them. Three requests of one new kind are a group,"
                    + " whatever their share.")
    boolean groups;

    @Option(
            names = "--all",
            description = "Print the linear bounds on the gap to the baseline too, which --json always has.")
    boolean all;

    @Option(names = "--json", description = "Print one JSON object.")
    boolean json;

    @Spec
    CommandSpec spec;

    @Override
    public Integer call() throws IOException {
        AlarmLaw law = law();
        Threshold threshold = (thresholds == null ? new ThresholdOptions() : thresholds).threshold(law);
        List<String> deciding = deciding(threshold);
        List<Explainer> blocks = Options.blocks(explainer, facts.options(), activations);
        if (rank != null) {
            Options.requireRank(rank, blocks.get(0));
        }
        if (blocks.size() > 1) {
            return assessAll(blocks, threshold, deciding, law);
        }
        Assessed assessed = assess(blocks.get(0), baseline, threshold, deciding, law);
        assessed.answer().print(spec.commandLine().getOut(), json);
        printLists(assessed);
        return exitCode(assessed.standing().verdict());
    }

    private void printLists(Assessed assessed) {
        if (assessed.listed() != null && !json) {
            assessed.listed().print(spec.commandLine().getOut());
        }
        if (assessed.groups() != null && !json) {
            assessed.groups().print(spec.commandLine().getOut());
        }
    }

    private int exitCode(Verdict verdict) {
        if (!failOnDrift) {
            return ExitCodes.FINE;
        }
        return switch (verdict) {
            case ALIGNED -> ExitCodes.FINE;
            case DRIFTED -> ExitCodes.DRIFT_FOUND;
            case UNDECIDED -> ExitCodes.UNDECIDED;
        };
    }

    /** The assessment of one explainer, or of one block of it. */
    private record Assessed(
            Answer answer,
            BlockStanding standing,
            @Nullable ListedFeatures listed,
            @Nullable ListedGroups groups) {}

    private int assessAll(List<Explainer> blocks, Threshold threshold, List<String> deciding, AlarmLaw law)
            throws IOException {
        if (!Files.isDirectory(baseline)) {
            throw new UsageException(
                    ("--baseline = %s: the explainer has %d targets; expected the folder that `plumbline baseline` "
                                    + "writes, or one of them with --explainer-option target=L")
                            .formatted(baseline, blocks.size()));
        }
        TargetReports reports = new TargetReports(TargetReports.BLOCKS);
        List<Assessed> all = new ArrayList<>();
        for (Explainer block : blocks) {
            Assessed assessed = assess(block, TargetReports.baseline(baseline, block), threshold, deciding, law);
            reports.add(TargetReports.name(block), assessed.answer());
            all.add(assessed);
        }
        List<BlockStanding> standings = all.stream().map(Assessed::standing).toList();
        BlockStanding worst = BlockStanding.worst(standings);
        reports.together()
                .put("worst_block", worst.block())
                .put("verdict", worst.verdict().label())
                .put("trigger", worst.trigger())
                .put("trigger_value", worst.value())
                .put("threshold", worst.threshold())
                .put(
                        "drifted_blocks",
                        standings.stream()
                                .filter(standing -> standing.verdict() == Verdict.DRIFTED)
                                .map(BlockStanding::block)
                                .toList());
        PrintWriter out = spec.commandLine().getOut();
        reports.print(out, json);
        for (Assessed assessed : all) {
            if (!json && (assessed.listed() != null || assessed.groups() != null)) {
                out.println();
                out.println(assessed.standing().block());
                printLists(assessed);
            }
        }
        return exitCode(worst.verdict());
    }

    private Assessed assess(
            Explainer trained, Path baselineFile, Threshold threshold, List<String> deciding, AlarmLaw law)
            throws IOException {
        Baseline normal = Options.baseline(baselineFile, trained);
        Decoder inService = features.inService(trained);
        try (ActivationStream stream =
                ActivationStream.open(activations, trained, normal.masking().mask())) {
            SecondMoment moment = DumpPasses.moment(stream, trained);
            RecordedWindow requests = new RecordedWindow(normal);
            SecondMomentAccumulator reconstructions = SecondMomentAccumulator.ofDimension(trained.targetWidth());
            double fvu = DumpPasses.reconstructionFvu(stream, trained, moment, requests, reconstructions);
            SiteGeometry geometry = SiteGeometry.of(
                    trained, normal.moment(), normal.reconstructionMoment(), rank(normal, baselineFile));
            ActiveSubspace window = geometry.activeSubspace(moment);
            GapAssessment assessment = trained.isGiven()
                    ? requests.addTo(geometry.assess(
                                    moment, window, reconstructions.snapshot().matrix()))
                            .with(Statistic.RECONSTRUCTION_FVU_TRAINED, fvu)
                    : requests.addTo(geometry.assess(moment, window));
            DriftJudge judge = new DriftJudge(normal, deciding, threshold, threshold, DriftPolicy.immediate(), 1);
            DriftVerdict verdict = judge.judge(DriftState.INITIAL, assessment).verdict();
            List<Reading> readings = judge.readings(assessment);
            Reading decisive = DriftJudge.deciding(DriftState.INITIAL, readings);
            String trigger = decisive.statistic();
            Answer answer = answer(assessment, fvu).put("triggers", deciding);
            answer.put("trigger", trigger).put("verdict", verdict.label()).put("reason", verdict.reason(trigger));
            Basis basis = decisive.basis();
            if (basis != null && (json || Options.isVerbose(spec))) {
                answer.put("why", basis.sentence());
            }
            if (json) {
                answer.put("statistics", Json.tree(StatisticReport.triggers(readings)));
            }
            AlarmRates.putInto(answer, verdict, law);
            if (!normal.masking().rules().isEmpty()) {
                stream.masked().byReason().forEach((reason, rows) -> answer.put("masked_rows_" + reason, rows));
            }
            List<WorstRequest> worst = WorstRequest.of(requests.requests(), trigger);
            if (json) {
                answer.put("worst_requests", Json.tree(worst));
            } else if (!worst.isEmpty()) {
                answer.put("worst_requests", WorstRequest.names(worst));
            }
            String energyWarning = EnergyWarning.of(assessment, geometry);
            if (energyWarning != null) {
                answer.put("energy_warning", energyWarning);
            }
            ListedFeatures listed = features.listed(trained, normal, stream, inService);
            if (listed != null && json) {
                listed.putInto(answer);
            }
            ListedGroups found = groups ? ListedGroups.of(features, trained, normal, stream, requests) : null;
            if (found != null && json) {
                found.putInto(answer);
            }
            return new Assessed(
                    answer,
                    new BlockStanding(
                            TargetReports.name(trained),
                            verdict.kind(),
                            trigger,
                            decisive.value(),
                            decisive.threshold()),
                    listed,
                    found);
        }
    }

    /** Returns the rank asked for, else the one that the baseline's clean windows have. */
    private int rank(Baseline normal, Path baselineFile) {
        if (rank != null) {
            return rank;
        }
        List<Integer> ranks = normal.samples().stream()
                .map(NullSample::rank)
                .distinct()
                .sorted()
                .toList();
        if (ranks.size() != 1) {
            throw new UsageException("%s has clean windows of %s: say which one with --rank R"
                    .formatted(
                            baselineFile,
                            ranks.isEmpty()
                                    ? "no rank"
                                    : "the ranks "
                                            + ranks.stream()
                                                    .map(String::valueOf)
                                                    .collect(Collectors.joining(" and "))));
        }
        return ranks.get(0);
    }

    private List<String> deciding(Threshold threshold) {
        if (triggers.isEmpty()) {
            return DriftJudge.defaultTriggers(threshold.isCalibrated(), List.of());
        }
        for (String trigger : triggers) {
            if (!GapAssessment.statisticNames().contains(trigger)) {
                throw new UsageException("--trigger = %s: expected one of %s"
                        .formatted(trigger, String.join(", ", GapAssessment.statisticNames())));
            }
        }
        if (Set.copyOf(triggers).size() < triggers.size()) {
            throw new UsageException(
                    "--trigger = %s: expected every statistic once".formatted(String.join(", ", triggers)));
        }
        if (threshold instanceof Threshold.Fixed fixed && triggers.size() > 1) {
            throw new UsageException(("--threshold = %s: is in one statistic's own units, but --trigger names %d: "
                            + "expected --false-alarms '1 per 30d'")
                    .formatted(fixed.value(), triggers.size()));
        }
        return triggers;
    }

    private AlarmLaw law() {
        Duration size = Options.duration("--window-size", windowSize);
        if (size.isZero()) {
            throw new UsageException("--window-size = %s: expected more than 0s".formatted(windowSize));
        }
        try {
            return AlarmLaw.tumbling(AlarmText.debounce(debounce), size);
        } catch (IllegalArgumentException refused) {
            throw new UsageException("--debounce = %s: %s".formatted(debounce, refused.getMessage()));
        }
    }

    private Answer answer(GapAssessment assessment, double fvu) throws IOException {
        Answer answer = new Answer();
        if (!all) {
            Arrays.stream(Statistic.values())
                    .filter(statistic -> !statistic.isShown())
                    .forEach(statistic -> answer.leaveOutOfTable(statistic.label()));
        }
        String name = site == null ? Formats.hookName(explainer) : site;
        if (name == null) {
            answer.putUndefined("site", "no --site, and cfg.json names no hook_name");
        } else {
            answer.put("site", name);
        }
        for (Map.Entry<String, JsonNode> entry : Json.tree(assessment).properties()) {
            String key = entry.getKey();
            if (key.equals(Answer.UNDEFINED)) {
                continue;
            }
            String reason = assessment.undefined().get(key);
            if (reason == null) {
                answer.put(key, entry.getValue());
            } else {
                answer.putUndefined(key, reason);
            }
            if (key.equals(Statistic.GAP_UPPER_BOUND.label())) {
                answer.put("reconstruction_fvu", fvu);
            }
        }
        return answer;
    }
}
