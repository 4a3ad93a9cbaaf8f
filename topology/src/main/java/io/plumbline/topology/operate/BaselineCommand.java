package io.plumbline.topology.operate;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.baseline.CleanWindowPass;
import io.plumbline.baseline.DriftJudge;
import io.plumbline.baseline.Misfit;
import io.plumbline.baseline.Provenance;
import io.plumbline.baseline.UsualRank;
import io.plumbline.explainer.Explainer;
import io.plumbline.judgement.Amounts;
import io.plumbline.moments.MaskRules;
import io.plumbline.requests.RequestSample;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.baselines.BaselineComparison;
import io.plumbline.topology.baselines.BaselineVersion;
import io.plumbline.topology.broker.FollowedTopic;
import io.plumbline.topology.cli.Answer;
import io.plumbline.topology.cli.BaselineAnswer;
import io.plumbline.topology.cli.BehaviourProvider;
import io.plumbline.topology.cli.CleanHeadOptions;
import io.plumbline.topology.cli.ExitCodes;
import io.plumbline.topology.cli.ExplainerFacts;
import io.plumbline.topology.cli.Failures;
import io.plumbline.topology.cli.Options;
import io.plumbline.topology.cli.TargetReports;
import io.plumbline.topology.cli.UsageException;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.wire.AtomicFile;
import io.plumbline.wire.Sha256;
import java.io.IOException;
import java.io.PrintWriter;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.Callable;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline baseline}: what is normal at a site. */
@Command(
        name = "baseline",
        mixinStandardHelpOptions = true,
        description = {
            "Measures what is normal at a site, from activations recorded while the explainer was known to fit.",
            "",
            "The file holds the second moment of the target rows and of their reconstructions, "
                    + "and the statistics of clean"
                    + " windows, which thresholds are taken from: give the ranks you will watch with, and"
                    + " enough rows. K clean windows support one in K+1 above a threshold; what that comes to in false"
                    + " alarms is printed for windows of --window-size and three debounces.",
            "",
            "Dumps or topic are read three times; memory does not grow with them. A request that the recording"
                    + " holds again, because files are given twice or overlap, counts once."
        },
        footer = {
            "  plumbline baseline --explainer sae/ --activations monday.safetensors tuesday.safetensors \\",
            "      --rank 32 --out baseline.safetensors",
            "From what the monitor read in the last week:",
            "  plumbline baseline --from-topic --config plumbline.yaml --site encoder.layer.2 --from 7d \\",
            "      --replaces baseline.safetensors --out baseline-2.safetensors",
            "Of all sites of a model, to be judged as one:",
            "  plumbline baseline --from-topic --config plumbline.yaml --model llama --from 7d",
            "To be looked at on the page before it is approved:",
            "  plumbline baseline --from-topic --config plumbline.yaml --site encoder.layer.2 --aligned 500 \\",
            "      --replaces baseline.safetensors --propose --out baseline-2.safetensors",
            "From two windows that were found fine, by their start:",
            "  plumbline baseline --from-topic --config plumbline.yaml --site encoder.layer.2 \\",
            "      --from-window 2026-01-01T00:00:00Z --from-window 2026-01-01T00:01:00Z --out baseline.safetensors"
        })
final class BaselineCommand implements Callable<Integer> {

    private static final String USUAL_SIZE = "60s";

    @Option(
            names = "--explainer",
            paramLabel = "DIR",
            description = "Folder or file of the explainer; none where dumps bring reconstructions. "
                    + "Default with --from-topic: the site's.")
    @Nullable
    Path explainer;

    @Mixin
    ExplainerFacts facts;

    @Mixin
    BaselineSource source;

    @Mixin
    CleanHeadOptions downstream;

    @Option(
            names = "--out",
            paramLabel = "FILE",
            description = "The file to write, unless --model is named; of an explainer with several targets the folder,"
                    + " with a file for each: targets.L.safetensors.")
    @Nullable
    Path out;

    @Option(
            names = "--rank",
            paramLabel = "R",
            description = "A rank to calibrate for: how many leading directions to compare. May be repeated. Default: "
                    + UsualRank.RULE + ".")
    List<Integer> ranks = List.of();

    @Option(
            names = "--window-rows",
            paramLabel = "N",
            description = "A window size to calibrate for, in rows. May be repeated. Default: 128, "
                    + "256 and so on up to 8192, as"
                    + " far as the activations fill eight windows.")
    List<Integer> windowRows = List.of();

    @Option(
            names = "--sample-rows",
            paramLabel = "N",
            defaultValue = "4096",
            description =
                    "Rows of whole requests the file keeps, on which an adapted decoder is tried before it is swapped"
                            + " in; each is one row of activations (and targets). Default: ${DEFAULT-VALUE}.")
    int sampleRows;

    @Option(
            names = "--encoded-rows",
            paramLabel = "N",
            description =
                    "Rows of a window on which reconstruction is measured, in clean windows and so in the monitor."
                            + " Default: what the encoder does in some seconds, 256 to 2048.")
    @Nullable
    Integer encodedRows;

    @Option(
            names = "--mask-token-id",
            paramLabel = "ID",
            description = "Leave out rows of this token. May be repeated.")
    List<Long> maskTokenIds = List.of();

    @Option(
            names = "--mask-norm-cap",
            paramLabel = "X",
            description = "Leave out rows longer than X times the median row; reads the dumps once more. Default:"
                    + " 10 where one eigenvalue holds more than half of the energy and such rows are there, else none;"
                    + " 'none' keeps them.")
    @Nullable
    String maskNormCap;

    @Option(
            names = "--window-size",
            paramLabel = "DURATION",
            description = "Length of the windows you will watch with (tumbling), for the rates printed. Default: that"
                    + " of --config, or " + USUAL_SIZE + ".")
    @Nullable
    String windowSize;

    @Option(
            names = "--replaces",
            paramLabel = "FILE",
            description = "The baseline in service: the new one is made as its next revision, and what would change is"
                    + " printed. The old file stays; the monitor takes the new one when its configuration names it.")
    @Nullable
    Path replaces;

    @Option(
            names = "--propose",
            description = "Shows the new one and the comparison on the page and in `plumbline baselines`, until it is"
                    + " taken over or another is proposed. Needs --from-topic, --site and --replaces.")
    boolean propose;

    @Option(names = "--json", description = "Print one JSON object.")
    boolean json;

    @Spec
    CommandSpec spec;

    private final List<String> warnings = new ArrayList<>();
    private boolean unproposed;

    @Override
    public Integer call() throws IOException {
        source.check();
        downstream.check(source.dumps());
        requireNumbers();
        if (propose) {
            requireTopicOfProposals();
        }
        if (!source.ofModel().isEmpty()) {
            return ofModel(source.ofModel());
        }
        Path out = this.out;
        if (out == null) {
            throw new UsageException("--out is missing: the file to write");
        }
        SiteSettings site = source.settings();
        Path folder = explainer == null && site != null ? site.explained().explainer() : explainer;
        if (folder == null) {
            throw new UsageException("--explainer is missing: the folder of the explainer");
        }
        List<Explainer> blocks = Options.blocks(
                folder,
                explainer == null && site != null ? site.explained().options() : facts.options(),
                source.dumps());
        Options.requireNew("--out", out, blocks.size() == 1 ? "file" : "folder");
        for (int rank : ranks) {
            Options.requireRank(rank, blocks.get(0));
        }
        Duration size = size();
        if (blocks.size() == 1) {
            Answer answer = measured(blocks.get(0), site, size, out, out);
            if (!json) {
                answer.printSummary(spec.commandLine().getOut());
            }
            // Who replaces a baseline wants to compare.
            if (json || replaces != null || Options.isVerbose(spec)) {
                answer.print(spec.commandLine().getOut(), json);
            }
            sayWhatIsNext(out);
            return unproposed ? ExitCodes.FAILURE : ExitCodes.FINE;
        }
        if (replaces != null || source.dumps().isEmpty() || downstream.isAsked()) {
            throw new UsageException("--%s is for one baseline, and this explainer has %d targets: expected %s"
                    .formatted(
                            replaces != null ? "replaces" : downstream.isAsked() ? "head" : "from-topic",
                            blocks.size(),
                            "--explainer-option target=L"));
        }
        TargetReports reports = new TargetReports(TargetReports.BLOCKS);
        AtomicFile.writeFolder(out, files -> {
            for (Explainer block : blocks) {
                reports.add(
                        TargetReports.name(block),
                        measured(
                                block,
                                site,
                                size,
                                TargetReports.baseline(files, block),
                                TargetReports.baseline(out, block)));
            }
        });
        reports.together().put("out", out.toString()).put("targets", blocks.size());
        print(reports);
        sayWhatIsNext(out);
        return ExitCodes.FINE;
    }

    private void print(TargetReports reports) {
        if (!json) {
            reports.printSummaries(spec.commandLine().getOut());
        }
        if (json || Options.isVerbose(spec)) {
            reports.print(spec.commandLine().getOut(), json);
        }
    }

    /** Refuses before anything is measured; a broker that makes topics by itself would not compact this one. */
    private void requireTopicOfProposals() {
        MonitorConfig config = source.config();
        if (replaces == null || config == null || !source.ofModel().isEmpty()) {
            throw new UsageException("--propose goes with --from-topic, --site and --replaces");
        }
        String topic = config.topics().baselines();
        if (!Brokers.topics(config.adminProperties()).contains(topic)) {
            throw new UsageException(
                    ("--propose: topic %s does not exist at %s: `plumbline topics --create` or a start of the monitor"
                                    + " makes it")
                            .formatted(topic, config.bootstrapServers()));
        }
    }

    private void requireNumbers() {
        for (int rows : windowRows) {
            if (rows < 1) {
                throw new UsageException("--window-rows = %d: expected 1 or more".formatted(rows));
            }
        }
        if (sampleRows < RequestSample.FEWEST_REQUESTS) {
            throw new UsageException("--sample-rows = %d: expected %d or more; 4096 is usual"
                    .formatted(sampleRows, RequestSample.FEWEST_REQUESTS));
        }
        if (encodedRows != null && encodedRows < 2) {
            throw new UsageException("--encoded-rows = %d: expected 2 or more".formatted(encodedRows));
        }
    }

    private Duration size() {
        MonitorConfig config = source.config();
        if (windowSize == null && config != null) {
            return config.window().size();
        }
        Duration size = Options.duration("--window-size", windowSize == null ? USUAL_SIZE : windowSize);
        if (size.isZero()) {
            throw new UsageException("--window-size = %s: expected more than 0s".formatted(windowSize));
        }
        return size;
    }

    /** Measures the sites of a model, each on the requests that all of them have. */
    private int ofModel(List<SiteSettings> sites) throws IOException {
        if (out != null || explainer != null || replaces != null || downstream.isAsked()) {
            throw new UsageException("--%s is for one baseline, not for those of a model"
                    .formatted(
                            out != null
                                    ? "out"
                                    : explainer != null ? "explainer" : replaces != null ? "replaces" : "head"));
        }
        Duration size = size();
        for (SiteSettings site : sites) {
            Options.requireNew("baseline of " + site.site(), site.explained().baseline(), "file");
        }
        source.commonTo(sites, BaselineCommand::explainerOf);
        // All or none: files of one model that were made at different times would be judged as one.
        Map<Path, Path> made = new LinkedHashMap<>();
        List<Path> moved = new ArrayList<>();
        TargetReports reports = new TargetReports("sites");
        try {
            for (SiteSettings site : sites) {
                source.at(site);
                Path file = site.explained().baseline();
                Path beside = file.resolveSibling(file.getFileName() + "." + UUID.randomUUID());
                made.put(beside, file);
                reports.add(site.site(), measured(explainerOf(site), site, size, beside, file));
            }
            for (Map.Entry<Path, Path> file : made.entrySet()) {
                Files.move(file.getKey(), file.getValue());
                moved.add(file.getValue());
            }
            moved.clear();
        } finally {
            for (Path file : moved) {
                Files.deleteIfExists(file);
            }
            for (Path beside : made.keySet()) {
                Files.deleteIfExists(beside);
            }
        }
        reports.together().put("model", source.model);
        print(reports);
        sayWhatIsNext(Objects.requireNonNull(
                sites.get(0).explained().baseline().toAbsolutePath().getParent()));
        return ExitCodes.FINE;
    }

    private static Explainer explainerOf(SiteSettings site) throws IOException {
        return Options.blocks(site.explained().explainer(), site.explained().options())
                .get(0);
    }

    private void sayWhatIsNext(Path written) {
        PrintWriter err = spec.commandLine().getErr();
        warnings.forEach(err::println);
        err.flush();
        if (!json) {
            PrintWriter print = spec.commandLine().getOut();
            print.println(
                    ("wrote %s. Name it as the site's `baseline`, then `plumbline check` says what can be watched with "
                                    + "it.%s")
                            .formatted(written, Options.isVerbose(spec) ? "" : " --verbose prints every number."));
            print.flush();
        }
    }

    /**
     * Measures one explainer, or one block of it, and writes the file.
     *
     * @param shown where the file lies in the end
     */
    private Answer measured(Explainer trained, @Nullable SiteSettings site, Duration size, Path file, Path shown)
            throws IOException {
        Replaced replaced = replaced(trained);
        MaskRules asked = site != null && maskTokenIds.isEmpty() && maskNormCap == null
                ? site.explained().mask()
                : maskRules();
        List<Integer> defaultRanks = List.of(
                site == null
                        ? UsualRank.of(trained.targetWidth())
                        : site.explained().rank());
        Made made;
        Baseline measured;
        try (BehaviourProvider.Clean head = downstream.open(trained, source.dumps())) {
            made = source.read(
                    trained,
                    asked,
                    requests -> made(rules -> builder(trained, defaultRanks, rules, head), asked, requests));
            measured = head == null
                    ? made.baseline()
                    : made.baseline().keepingWhole(head.sample(CleanHeadOptions.MOST_BYTES));
        }
        BaselineBuilder builder = made.builder();
        MaskRules rules = measured.masking().rules();
        Provenance provenance = replaced == null
                ? Provenance.first(Instant.now(), source.describe())
                : Provenance.replacing(replaced.old(), replaced.sha256(), Instant.now(), source.describe());
        Baseline baseline = measured.with(provenance);
        baseline.write(file);
        Answer answer = BaselineAnswer.of(baseline, builder, shown, size);
        Misfit.of(baseline, baseline.samples())
                .ifPresent(signs -> warnings.add("WARNING: %s: %s".formatted(shown, signs)));
        answer.put("repeated_requests", builder.repeatedRequests()).put("repeated_rows", builder.repeatedRows());
        if (!rules.isEmpty()) {
            builder.masked().byReason().forEach((reason, rows) -> answer.put("masked_rows_" + reason, rows)
                    .say("masked by %s: %s".formatted(reason, Amounts.count(rows, "row"))));
        }
        if (!rules.equals(asked)) {
            warnings.add(
                    ("WARNING: %s: one eigenvalue holds more than half of the energy, because of rows longer than %s"
                                    + " times the median row: they are left out, here and in windows that are judged."
                                    + " --mask-norm-cap none keeps them, and no drift of the others may show")
                            .formatted(shown, Amounts.number(BaselineBuilder.CAP_OF_MASSIVE_ROWS)));
        }
        answer.put("revision", provenance.revision());
        if (replaced != null) {
            BaselineComparison comparison = BaselineComparison.between(
                    replaced.old(),
                    replaced.sha256(),
                    baseline,
                    BaselineComparison.rule(site, size),
                    site == null ? DriftJudge.DEFAULT_TRIGGERS : site.alarms().triggers());
            comparison.words().forEach(answer::put);
            if (propose) {
                propose(Objects.requireNonNull(site), file, comparison);
            }
        }
        source.leftOut().forEach((reason, records) -> answer.put("left_out_records_" + reason, records)
                .say("left out as %s: %s".formatted(reason, Amounts.count(records, "record"))));
        if (source.apart() > 0) {
            answer.put("requests_with_an_earlier_name", source.apart())
                    .say("counted apart from an earlier request of the same name: %s"
                            .formatted(Amounts.count(source.apart(), "request")));
        }
        return answer;
    }

    private record Replaced(Baseline old, String sha256) {}

    private @Nullable Replaced replaced(Explainer trained) throws IOException {
        Path file = replaces;
        if (file == null) {
            return null;
        }
        if (!Files.isRegularFile(file)) {
            throw new UsageException("--replaces = %s: no such file".formatted(file));
        }
        return new Replaced(Options.baseline(file, trained), Sha256.of(file));
    }

    /** Puts the file, as it was written, on the topic from which the page takes it. */
    private void propose(SiteSettings site, Path file, BaselineComparison comparison) throws IOException {
        MonitorConfig config = Objects.requireNonNull(source.config());
        BaselineVersion proposed = BaselineVersion.of(
                site.site(),
                Sha256.of(file),
                Baseline.read(file),
                site.explained().rank(),
                null,
                null,
                comparison);
        try {
            FollowedTopic.publish(config, config.topics().baselines(), Map.of(proposed.key(), proposed));
        } catch (InterruptedException stop) {
            Thread.currentThread().interrupt();
            sayUnproposed(file, "interrupted");
        } catch (IllegalStateException refused) {
            sayUnproposed(file, refused.getMessage());
        }
    }

    private void sayUnproposed(Path file, @Nullable String why) {
        unproposed = true;
        warnings.add("%s%s is written but not proposed: %s".formatted(Failures.PREFIX, file, why));
    }

    private record Made(BaselineBuilder builder, Baseline baseline) {}

    private BaselineBuilder builder(
            Explainer trained, List<Integer> defaultRanks, MaskRules rules, BehaviourProvider.@Nullable Clean head) {
        BaselineBuilder builder = BaselineBuilder.of(trained, ranks.isEmpty() ? defaultRanks : ranks, windowRows, rules)
                .keeping(sampleRows);
        if (windowRows.isEmpty()) {
            builder.onLadder();
        }
        if (encodedRows != null) {
            builder.encoding(encodedRows);
        }
        return head == null ? builder : builder.measuring(head);
    }

    private Made made(Function<MaskRules, BaselineBuilder> fresh, MaskRules rules, BaselineSource.Requests requests)
            throws IOException {
        BaselineBuilder builder = fresh.apply(rules);
        requests.forEach("contents", builder::addContents);
        if (builder.needsNorms()) {
            requests.forEach("norms", builder::addNorms);
        }
        requests.forEach("moments", builder::add);
        if (rules.normCap() == null && maskNormCap == null && builder.isRuledByMassiveRows()) {
            return made(fresh, new MaskRules(rules.tokenIds(), BaselineBuilder.CAP_OF_MASSIVE_ROWS), requests);
        }
        CleanWindowPass windows = builder.secondPass();
        requests.forEach("clean windows", windows::add);
        return new Made(builder, windows.build());
    }

    private MaskRules maskRules() {
        try {
            return new MaskRules(
                    maskTokenIds, maskNormCap == null || maskNormCap.equals("none") ? null : normCap(maskNormCap));
        } catch (IllegalArgumentException refused) {
            throw new UsageException(
                    "--mask-" + String.valueOf(refused.getMessage()).replace('_', '-'));
        }
    }

    private static double normCap(String text) {
        try {
            return Double.parseDouble(text);
        } catch (NumberFormatException refused) {
            throw new UsageException("--mask-norm-cap = %s: expected a number above 1, or none".formatted(text));
        }
    }
}
