package io.plumbline.topology.cli;

import io.plumbline.adaptation.Adaptation;
import io.plumbline.adaptation.GaeSettings;
import io.plumbline.adaptation.GeometryAdapter;
import io.plumbline.adaptation.Reconstruction;
import io.plumbline.adaptation.Regularisation;
import io.plumbline.adaptation.Rotation;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.geometry.ActiveSubspace;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.geometry.FaithfulnessGap;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowMask;
import io.plumbline.moments.SecondMoment;
import io.plumbline.wire.ActivationBatch;
import io.plumbline.wire.DType;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code plumbline adapt}: a decoder fitted to dumps, written as an explainer folder. */
@Command(
        name = "adapt",
        mixinStandardHelpOptions = true,
        description = {
            "Fits the decoder to a window of activations (GAE) and writes a folder SAELens reads; the encoder is untouched.",
            "",
            "All dumps together are one window. Rows given to --validate take no part in the fit and are measured too:"
                    + " judge by those. The gap after the fit is not 0, and on other rows it is larger.",
            ""
        },
        footer = {
            "",
            "Example:",
            "  plumbline adapt --explainer sae/ --activations german.safetensors --rank 384 \\",
            "      --lambda-pres 1.0 --lambda-geom 0 --relative-lambdas --validate german-later.safetensors --out adapted/"
        })
final class AdaptCommand implements Callable<Integer> {

    enum OutputType {
        F32,
        F64;

        @Override
        public String toString() {
            return name().toLowerCase(Locale.ROOT);
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

    @Option(
            names = "--explainer",
            required = true,
            paramLabel = "DIR",
            description = "Folder of the trained explainer.")
    Path explainer;

    @Option(
            names = "--activations",
            required = true,
            arity = "1..*",
            paramLabel = "FILE",
            description = "Dumps to fit on; several are one stream.")
    List<Path> activations;

    @Option(names = "--rank", required = true, paramLabel = "R", description = "Rank of the fit.")
    int rank;

    @Option(
            names = "--lambda-pres",
            required = true,
            paramLabel = "X",
            description = "Weight of staying near the rotated decoder.")
    double lambdaPreservation;

    @Option(
            names = "--lambda-geom",
            required = true,
            paramLabel = "X",
            description = "Weight against leaving the window's subspace.")
    double lambdaGeometric;

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
            description = "Leave out the rows this baseline of the explainer was made without.")
    @Nullable
    Path baseline;

    @Option(names = "--dtype", defaultValue = "f32", description = "f32 or f64, of the new decoder. Default: f32.")
    OutputType dtype;

    @Option(names = "--out", required = true, paramLabel = "DIR", description = "The folder to write; must not exist.")
    Path out;

    @Option(names = "--json", description = "Print one JSON object.")
    boolean json;

    @Spec
    CommandSpec spec;

    /** Codes and targets of some rows. */
    private record Rows(SparseCodes codes, Matrix targets) {}

    @Override
    public Integer call() throws IOException {
        GaeSettings settings = settings();
        if (Files.exists(out)) {
            throw new UsageException("--out = %s: exists already; name a folder that does not".formatted(out));
        }
        Options.requireParent("--out", out);
        Explainer trained = Options.explainer(explainer);
        Options.requireRank(rank, trained);
        RowMask mask = baseline == null
                ? RowMask.NONE
                : Options.baseline(baseline, trained).masking().mask();
        Rows fit = rows(activations, trained, mask);
        ExplainerSubspace trainedSubspace = ExplainerSubspace.of(trained.decoder(), rank);
        Adaptation adaptation =
                GeometryAdapter.adapt(trained.decoder(), trainedSubspace, fit.codes(), fit.targets(), settings);
        if (adaptation instanceof Adaptation.Undecided undecided) {
            throw new IllegalStateException("nothing was written: " + undecided.reason());
        }
        Decoder adapted = ((Adaptation.Adapted) adaptation).decoder();
        ExplainerSubspace adaptedSubspace = ExplainerSubspace.of(adapted, rank);

        Answer answer = new Answer();
        measure(answer, "", fit, trained.decoder(), trainedSubspace, adapted, adaptedSubspace);
        answer.put("rows", fit.targets().rows()).put("rank", rank);
        if (!validate.isEmpty()) {
            Rows other = rows(validate, trained, mask);
            measure(answer, "validation_", other, trained.decoder(), trainedSubspace, adapted, adaptedSubspace);
            answer.put("validation_rows", other.targets().rows());
        }
        trained.writeAdapted(adapted, dtype == OutputType.F64 ? DType.F64 : DType.F32, lineage(trained, answer), out);
        answer.put("out", out.toString()).print(spec.commandLine().getOut(), json);
        return ExitCodes.FINE;
    }

    private GaeSettings settings() {
        try {
            Regularisation regularisation = new Regularisation(lambdaGeometric, lambdaPreservation, relativeLambdas);
            return new GaeSettings(
                    rank,
                    rotation == RotationName.FULL_RANK ? Rotation.FULL_RANK : Rotation.PRINTED,
                    regularisation,
                    alpha);
        } catch (IllegalArgumentException refused) {
            throw new UsageException(String.valueOf(refused.getMessage()));
        }
    }

    private static Rows rows(List<Path> files, Explainer trained, RowMask mask) throws IOException {
        try (ActivationStream stream = ActivationStream.open(files, trained, mask)) {
            ActivationBatch all = stream.all();
            return new Rows(trained.encoder().encode(all.activations()), all.targetRows());
        }
    }

    private static void measure(
            Answer answer,
            String prefix,
            Rows rows,
            Decoder before,
            ExplainerSubspace subspaceBefore,
            Decoder after,
            ExplainerSubspace subspaceAfter) {
        // Throws where a row is not finite, before anything is made of it.
        ActiveSubspace active = ActiveSubspace.topEigenspace(SecondMoment.of(rows.targets()), subspaceBefore.rank());
        putGap(answer, prefix + "faithfulness_gap_before", subspaceBefore, active);
        putGap(answer, prefix + "faithfulness_gap_after", subspaceAfter, active);
        Reconstruction trained = Reconstruction.of(before, rows.codes(), rows.targets());
        Reconstruction adapted = Reconstruction.of(after, rows.codes(), rows.targets());
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

    /** What this decoder came from: goes into the metadata of the weights file. */
    private Map<String, String> lineage(Explainer trained, Answer answer) {
        Map<String, String> lineage = new LinkedHashMap<>();
        lineage.put("plumbline_version", Version.number());
        lineage.put("parent_sha256", trained.decoder().sha256());
        lineage.put("lambda_preservation", Double.toString(lambdaPreservation));
        lineage.put("lambda_geometric", Double.toString(lambdaGeometric));
        lineage.put("relative_lambdas", Boolean.toString(relativeLambdas));
        lineage.put("alpha", Double.toString(alpha));
        lineage.put("rotation", rotation.toString().toLowerCase(Locale.ROOT));
        answer.json().properties().forEach(entry -> {
            if (entry.getValue().isNumber()) {
                lineage.put(entry.getKey(), entry.getValue().asText());
            }
        });
        return lineage;
    }
}
