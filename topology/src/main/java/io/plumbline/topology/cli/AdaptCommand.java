package io.plumbline.topology.cli;

import io.plumbline.adaptation.AdaptationProfile;
import io.plumbline.adaptation.AdaptationRows;
import io.plumbline.adaptation.Candidate;
import io.plumbline.adaptation.GateDecision;
import io.plumbline.adaptation.GateLimits;
import io.plumbline.adaptation.GateTest;
import io.plumbline.adaptation.GatedAdaptation;
import io.plumbline.adaptation.SearchReport;
import io.plumbline.adaptation.SiteDecoders;
import io.plumbline.adaptation.SwapGate;
import io.plumbline.baseline.Baseline;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.geometry.FaithfulnessGap;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.SecondMoment;
import io.plumbline.refit.Adaptation;
import io.plumbline.refit.AuthorsCode;
import io.plumbline.refit.GaeSettings;
import io.plumbline.refit.GeometryAdapter;
import io.plumbline.refit.Reconstruction;
import io.plumbline.refit.Regularisation;
import io.plumbline.refit.Rotation;
import io.plumbline.refit.SampleRows;
import io.plumbline.topology.config.ProgramVersion;
import io.plumbline.wire.DType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** Runs {@code plumbline adapt}: a decoder fitted to dumps, written as an explainer folder. */
@Command(
        name = "adapt",
        mixinStandardHelpOptions = true,
        description = {
            "Fits the decoder to a window of activations (GAE) and writes a folder SAELens reads; "
                    + "the encoder is untouched.",
            "",
            "All dumps together are one window. Rows given to --validate take no part in the fit and are measured too:"
                    + " judge by those. The gap after the fit is not 0, and on other rows it is larger."
        },
        footer = {
            "  plumbline adapt --explainer sae/ --activations german.safetensors --rank 384 \\",
            "      --lambda-pres 1.0 --lambda-geom 0 --relative-lambdas --validate german-later.safetensors --out "
                    + "adapted/"
        })
public final class AdaptCommand implements Callable<Integer> {

    enum OutputType {
        F32,
        F64;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    enum ProfileName {
        AUTO("auto"),
        PAPER("paper"),
        AUTHORS_CODE("authors-code");

        private final String label;

        ProfileName(String label) {
            this.label = label;
        }

        @Override
        public String toString() {
            return label;
        }
    }

    enum RotationName {
        PRINTED("printed"),
        FULL_RANK("full-rank");

        private final String label;

        RotationName(String label) {
            this.label = label;
        }

        @Override
        public String toString() {
            return label;
        }
    }

    @Mixin
    ExplainerFacts.Place explainer;

    @Option(
            names = "--activations",
            required = true,
            arity = "1..*",
            paramLabel = "FILE",
            description = "Dumps; several are one stream.")
    List<Path> activations;

    @Option(
            names = "--rank",
            required = true,
            paramLabel = "R",
            description = "Rank of the fit; with auto the rank the site is watched at.")
    int rank;

    @Option(
            names = "--profile",
            paramLabel = "NAME",
            description = {
                "auto: choose among a small set on other requests, and write what passes the gate;",
                "paper: Algorithm 1 as printed; authors-code: as the authors' public code does it.",
                "Default: auto, or paper where lambdas are given."
            })
    @Nullable
    ProfileName profile;

    @Option(
            names = "--lambda-pres",
            paramLabel = "X",
            description = "Weight of staying near the rotated decoder; not with auto.")
    @Nullable
    Double lambdaPreservation;

    @Option(
            names = "--lambda-geom",
            paramLabel = "X",
            description = "Weight against leaving the window's subspace; not with auto.")
    @Nullable
    Double lambdaGeometric;

    @Option(
            names = "--alpha",
            paramLabel = "A",
            defaultValue = "0",
            description = "Share of the rotated decoder in the result, 0 to 1; 1 skips the refit. Default: 0.")
    double alpha;

    @Option(
            names = "--relative-lambdas",
            description =
                    "Lambdas are multiples of the mean variance of the codes: the same at every activation scale.")
    boolean relativeLambdas;

    @Option(
            names = "--rotation",
            defaultValue = "printed",
            description = "printed: as in the paper, deletes what is outside the rank; full-rank: turns it too."
                    + " Default: ${DEFAULT-VALUE}.")
    RotationName rotation;

    @Option(
            names = "--validate",
            arity = "1..*",
            paramLabel = "FILE",
            description = "Dumps of other rows to measure on.")
    List<Path> validate = List.of();

    @Option(
            names = "--baseline",
            paramLabel = "FILE",
            description =
                    "Leave out the rows this baseline of the explainer was made without; the folder of an explainer"
                            + " with several targets.")
    @Nullable
    Path baseline;

    @Mixin
    BehaviourOptions behaviour = new BehaviourOptions();

    @Option(names = "--dtype", defaultValue = "f32", description = "f32 or f64, of the new decoder. Default: f32.")
    OutputType dtype;

    @Option(names = "--out", required = true, paramLabel = "DIR", description = "The folder to write; must not exist.")
    Path out;

    @Option(names = "--json", description = "Print one JSON object.")
    boolean json;

    @Spec
    CommandSpec spec;

    /** A refit with settings given by hand. */
    private record Asked(ProfileName name, GaeSettings settings) {

        String describe() {
            return name == ProfileName.PAPER ? new Candidate.Gae(settings).describe() : AuthorsCode.describe(settings);
        }
    }

    /** A decoder, the rows it was fitted on, what was chosen, and the verdict where there were rows to judge on. */
    private record Fitted(
            Decoder decoder, SampleRows rows, @Nullable GateDecision decision, SearchReport.@Nullable Figures chosen) {}

    @Override
    public Integer call() throws IOException {
        Asked asked = asked();
        if (behaviour.given() && asked != null && validate.isEmpty()) {
            throw new UsageException(("%s needs --validate where lambdas are given: all of --activations is fitted on, "
                            + "none is left to judge on")
                    .formatted(behaviour.place.option()));
        }
        if (asked != null) {
            behaviour.requireNoChoice();
        }
        Options.requireNew("--out", out, "folder");
        List<Explainer> blocks = Options.blocks(explainer.path(), explainer.options());
        blocks.forEach(Explainer::requireRefittable);
        Options.requireRank(rank, blocks.get(0));
        if (blocks.size() > 1) {
            return adaptAll(asked, blocks);
        }
        Explainer trained = blocks.get(0);
        Adapted adapted = adapt(asked, trained, baseline);
        Formats.writeAdapted(trained, adapted.decoder(), written(), lineage(trained, adapted.answer()), out);
        adapted.answer().put("out", out.toString()).print(spec.commandLine().getOut(), json);
        return ExitCodes.FINE;
    }

    /** The decoder that was fitted for one explainer, or for one block of it, and what is said of it. */
    private record Adapted(Decoder decoder, Answer answer) {}

    /** Fits every block; where one is refused, none is written. */
    private int adaptAll(@Nullable Asked asked, List<Explainer> blocks) throws IOException {
        if (behaviour.given()) {
            throw new UsageException(
                    ("--head: the rest of the model runs behind one layer, and this explainer has %d targets; "
                                    + "expected --explainer-option target=L")
                            .formatted(blocks.size()));
        }
        TargetReports reports = new TargetReports(TargetReports.BLOCKS);
        List<Decoder> decoders = new ArrayList<>();
        for (Explainer block : blocks) {
            Adapted adapted;
            try {
                adapted = adapt(asked, block, baseline == null ? null : TargetReports.baseline(baseline, block));
            } catch (IllegalStateException refused) {
                throw new IllegalStateException(
                        "%s: %s".formatted(TargetReports.name(block), refused.getMessage()), refused);
            }
            decoders.add(adapted.decoder());
            reports.add(TargetReports.name(block), adapted.answer());
        }
        Answer together = reports.together().put("targets", blocks.size());
        Formats.writeAdapted(blocks, decoders, written(), lineage(blocks.get(0), together), out);
        together.put("out", out.toString());
        reports.print(spec.commandLine().getOut(), json);
        return ExitCodes.FINE;
    }

    private Adapted adapt(@Nullable Asked asked, Explainer trained, @Nullable Path cleanFile) throws IOException {
        Baseline clean = cleanFile == null ? null : Options.baseline(cleanFile, trained);
        RowMask mask = clean == null ? RowMask.NONE : clean.masking().mask();
        AdaptationDumps dumps = new AdaptationDumps(trained, clean == null ? List.of() : clean.rows(), mask);
        SampleRows other = validate.isEmpty() ? null : dumps.read(validate);
        ExplainerSubspace trainedSubspace = ExplainerSubspace.of(trained.decoder(), rank);
        Fitted fitted = asked == null
                ? chosen(trained, trainedSubspace, dumps, other)
                : asAsked(asked, trained, trainedSubspace, dumps, other);
        Decoder adapted = fitted.decoder();
        ExplainerSubspace adaptedSubspace = ExplainerSubspace.of(adapted, rank);

        Answer answer = new Answer();
        measure(answer, "", fitted.rows(), trainedSubspace, adaptedSubspace);
        putReconstruction(answer, "", dumps.reconstructions(fitted.rows(), activations), trained.decoder(), adapted);
        answer.put("rows", fitted.rows().rows()).put("rank", rank);
        if (other != null) {
            measure(answer, "validation_", other, trainedSubspace, adaptedSubspace);
            putReconstruction(
                    answer, "validation_", dumps.reconstructions(other, validate), trained.decoder(), adapted);
            answer.put("validation_rows", other.rows());
        }
        SearchReport.Figures chosen = fitted.chosen();
        if (chosen != null) {
            answer.put("candidate", chosen.candidate().describe());
            if (chosen.divergence() != null) {
                answer.put("choosing_kl", chosen.divergence());
            }
        }
        GateDecision decision = fitted.decision();
        if (decision != null) {
            answer.put("gate", decision.publishes() ? "passed" : "refused");
            decision.tests().forEach(test -> answer.put("gate_" + test.name(), verdict(test)));
            BehaviourOptions.put(answer, decision);
        }
        return new Adapted(adapted, answer);
    }

    /** Returns the decoder that the adapter of a running site would make of this window. */
    private Fitted chosen(
            Explainer trained, ExplainerSubspace subspace, AdaptationDumps dumps, @Nullable SampleRows other)
            throws IOException {
        AdaptationRows rows = dumps.split(activations, other);
        GatedAdaptation adaptation;
        BehaviourProvider.Choosing choosing = new BehaviourProvider.Choosing(activations, requests(rows.choose()));
        try (BehaviourProvider.Opened judge = other == null
                ? behaviour.open(trained, activations, requests(rows.judge()), choosing)
                : behaviour.open(trained, validate, null, choosing)) {
            adaptation = GatedAdaptation.of(
                    new AdaptationProfile.Auto(),
                    new SwapGate(GateLimits.DEFAULTS, judge),
                    SiteDecoders.servingTrained(trained.decoder(), subspace, rank),
                    rows,
                    written());
        }
        if (adaptation.search().keepsCurrent()) {
            throw new IllegalStateException(
                    "nothing was written: no candidate within the limits reconstructs better than the trained decoder");
        }
        if (!adaptation.publishes()) {
            throw new IllegalStateException(adaptation.decision().tests().stream()
                    .map(test -> "%s: %s".formatted(test.name(), verdict(test)))
                    .collect(Collectors.joining("\n  ", "nothing was written, the gate refuses:\n  ", "")));
        }
        SampleRows fitted = adaptation.judgedStays() == null ? rows.all() : rows.refit();
        return new Fitted(
                adaptation.search().decoder(),
                fitted,
                adaptation.decision(),
                adaptation.search().best());
    }

    /** Returns a decoder fitted on everything given, whatever comes of it; judged where there are rows to judge on. */
    private Fitted asAsked(
            Asked asked,
            Explainer trained,
            ExplainerSubspace subspace,
            AdaptationDumps dumps,
            @Nullable SampleRows other)
            throws IOException {
        SampleRows fit = dumps.read(activations);
        Adaptation adaptation = asked.name() == ProfileName.PAPER
                ? GeometryAdapter.adapt(trained.decoder(), subspace, fit.codes(), fit.targets(), asked.settings())
                : AuthorsCode.adapt(trained.decoder(), subspace, fit.codes(), fit.targets(), asked.settings());
        if (adaptation instanceof Adaptation.Undecided undecided) {
            throw new IllegalStateException("nothing was written: " + undecided.reason());
        }
        Decoder adapted = ((Adaptation.Adapted) adaptation).decoder();
        if (other == null) {
            return new Fitted(adapted, fit, null, null);
        }
        try (BehaviourProvider.Opened judge = behaviour.open(trained, validate, null, null)) {
            GateDecision decision = new SwapGate(GateLimits.DEFAULTS, judge)
                    .judge(
                            SiteDecoders.servingTrained(trained.decoder(), subspace, rank),
                            new SwapGate.Proposal(adapted, null),
                            other,
                            dumps.clean());
            return new Fitted(adapted, fit, decision, null);
        }
    }

    private static Set<Long> requests(SampleRows rows) {
        return Arrays.stream(rows.requests()).boxed().collect(Collectors.toSet());
    }

    private static String verdict(GateTest test) {
        return (test.passed() ? "passed: " : "failed: ") + test.finding();
    }

    private DType written() {
        return dtype == OutputType.F64 ? DType.F64 : DType.F32;
    }

    /** Returns what was asked for by name; null with auto. */
    private @Nullable Asked asked() {
        boolean given = lambdaPreservation != null || lambdaGeometric != null;
        ProfileName name = profile != null ? profile : given ? ProfileName.PAPER : ProfileName.AUTO;
        if (name == ProfileName.AUTO) {
            if (given || relativeLambdas || alpha != 0.0 || rotation != RotationName.PRINTED) {
                throw new UsageException("--profile auto chooses lambdas, alpha and rotation itself: leave them out, "
                        + "or name --profile paper");
            }
            return null;
        }
        if (lambdaPreservation == null || lambdaGeometric == null) {
            throw new UsageException("--profile %s needs --lambda-pres and --lambda-geom".formatted(name));
        }
        try {
            GaeSettings settings = new GaeSettings(
                    rank,
                    rotation == RotationName.FULL_RANK ? Rotation.FULL_RANK : Rotation.PRINTED,
                    new Regularisation(lambdaGeometric, lambdaPreservation, relativeLambdas),
                    alpha);
            if (name == ProfileName.AUTHORS_CODE && relativeLambdas) {
                throw new UsageException("--relative-lambdas: the authors' code knows absolute ones only");
            }
            return new Asked(name, settings);
        } catch (IllegalArgumentException refused) {
            throw new UsageException(String.valueOf(refused.getMessage()));
        }
    }

    private static void measure(
            Answer answer,
            String prefix,
            SampleRows rows,
            ExplainerSubspace subspaceBefore,
            ExplainerSubspace subspaceAfter) {
        // Throws where a row is not finite, before anything is made of it.
        ActiveSubspace active =
                ActiveSubspace.leadingOnly(SecondMoment.of(rows.targets()).matrix(), subspaceBefore.rank(), null);
        putGap(answer, prefix + "faithfulness_gap_before", subspaceBefore, active);
        putGap(answer, prefix + "faithfulness_gap_after", subspaceAfter, active);
    }

    private static void putReconstruction(
            Answer answer, String prefix, AdaptationDumps.Reconstructions of, Decoder before, Decoder after)
            throws IOException {
        Reconstruction trained = of.by(before);
        Reconstruction adapted = of.by(after);
        answer.put(prefix + "fvu_before", trained.fvu())
                .put(prefix + "fvu_after", adapted.fvu())
                .put(prefix + "mse_before", trained.mse())
                .put(prefix + "mse_after", adapted.mse());
    }

    private static void putGap(Answer answer, String key, ExplainerSubspace explainer, ActiveSubspace active) {
        if (!active.isIdentified()) {
            answer.putUndefined(key, "the rows do not determine a subspace of rank " + explainer.rank());
        } else if (!explainer.isIdentified()) {
            answer.putUndefined(key, "the decoder does not determine a subspace of rank " + explainer.rank());
        } else {
            answer.put(
                    key,
                    FaithfulnessGap.between(explainer.subspace(), active.subspace())
                            .value());
        }
    }

    /** Returns what this decoder came from: goes into the metadata of the weights file. */
    private Map<String, String> lineage(Explainer trained, Answer answer) {
        Map<String, String> lineage = new LinkedHashMap<>();
        lineage.put("plumbline_version", ProgramVersion.number());
        lineage.put("parent_sha256", trained.decoder().sha256());
        Asked asked = asked();
        lineage.put("profile", asked == null ? ProfileName.AUTO.toString() : asked.describe());
        if (asked != null) {
            lineage.put("lambda_preservation", String.valueOf(lambdaPreservation));
            lineage.put("lambda_geometric", String.valueOf(lambdaGeometric));
            lineage.put("relative_lambdas", Boolean.toString(relativeLambdas));
            lineage.put("alpha", Double.toString(alpha));
            lineage.put("rotation", rotation.toString().toLowerCase(Locale.ROOT));
        }
        answer.json().properties().forEach(entry -> {
            if (entry.getValue().isNumber()) {
                lineage.put(entry.getKey(), entry.getValue().asText());
            }
        });
        return lineage;
    }
}
