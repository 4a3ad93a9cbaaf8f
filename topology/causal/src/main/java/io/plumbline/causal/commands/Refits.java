package io.plumbline.causal.commands;

import io.plumbline.adaptation.AdaptationProfile;
import io.plumbline.adaptation.AdaptationRows;
import io.plumbline.adaptation.GateLimits;
import io.plumbline.adaptation.GatedAdaptation;
import io.plumbline.adaptation.SiteDecoders;
import io.plumbline.adaptation.SwapGate;
import io.plumbline.baseline.Baseline;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Matrix;
import io.plumbline.refit.Adaptation;
import io.plumbline.refit.AuthorsCode;
import io.plumbline.refit.GaeSettings;
import io.plumbline.refit.GeometryAdapter;
import io.plumbline.refit.Regularisation;
import io.plumbline.refit.Rotation;
import io.plumbline.refit.SampleRows;
import io.plumbline.wire.DType;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** Makes the refits without training, of one window, each with its cost. */
final class Refits {

    /**
     * One row of the table.
     *
     * @param seconds to fit it, with the window encoded; NaN where it came from a file
     * @param rows of the window that it was fitted on; 0 where that is not known or none
     * @param note what became of it, or ""
     */
    record Made(Decoder decoder, double seconds, int rows, String note) {}

    /** The settings of the paper's form and of the authors' code. */
    record PaperSettings(int rank, double geometric, double preservation) {

        GaeSettings settings() {
            return new GaeSettings(rank, Rotation.PRINTED, Regularisation.absolute(geometric, preservation), 0.0);
        }
    }

    private final WindowRows window;
    private final Map<String, Made> made = new LinkedHashMap<>();

    private Refits(WindowRows window) {
        this.window = window;
    }

    /** Returns the trained decoder and all refits by name, in the order of the table. */
    static Map<String, Made> of(
            Explainer explainer, WindowRows window, @Nullable Baseline baseline, int rank, PaperSettings paper) {
        Refits refits = new Refits(window);
        Decoder trained = explainer.decoder();
        ExplainerSubspace subspace = ExplainerSubspace.of(trained, rank);
        refits.made.put("fixed", new Made(trained, 0.0, 0, ""));
        SampleRows all = window.all();
        long started = System.nanoTime();
        Decoder moved = newBias(trained, all);
        refits.made.put("bias", new Made(moved, secondsSince(started), window.count(), ""));
        refits.add(
                "gae-paper",
                trained,
                rows -> GeometryAdapter.adapt(trained, subspace, rows.codes(), rows.targets(), paper.settings()));
        refits.add(
                "gae-code",
                trained,
                rows -> AuthorsCode.adapt(trained, subspace, rows.codes(), rows.targets(), paper.settings()));
        GaeSettings ridge =
                new GaeSettings(trained.dimension(), Rotation.PRINTED, Regularisation.relative(0.0, 1.0), 0.0);
        refits.add(
                "ridge",
                trained,
                rows -> GeometryAdapter.adapt(trained, subspace, rows.codes(), rows.targets(), ridge));
        AdaptationRows split = window.split(baseline);
        refits.made.put("auto", auto(trained, subspace, split, rank));
        if (split.anchor() != null) {
            refits.made.put("auto-free", auto(trained, subspace, withoutAnchor(split), rank));
        }
        return refits.made;
    }

    /** Adds a refit; where the window does not determine it, the trained decoder with the reason. */
    private void add(String name, Decoder trained, Function<SampleRows, Adaptation> fit) {
        SampleRows rows = window.all();
        long started = System.nanoTime();
        Adaptation adaptation = fit.apply(rows);
        double seconds = secondsSince(started);
        made.put(
                name,
                adaptation instanceof Adaptation.Adapted adapted
                        ? new Made(adapted.decoder(), seconds, window.count(), "")
                        : new Made(trained, seconds, 0, "not made: " + ((Adaptation.Undecided) adaptation).reason()));
    }

    private static Decoder newBias(Decoder trained, SampleRows rows) {
        SparseCodes codes = rows.codes();
        Matrix reconstructed = trained.reconstruct(codes);
        double[] bias = trained.bias().clone();
        for (int row = 0; row < codes.rows(); row++) {
            for (int j = 0; j < bias.length; j++) {
                bias[j] += (rows.targets().get(row, j) - reconstructed.get(row, j)) / codes.rows();
            }
        }
        return new Decoder(trained.weights(), bias);
    }

    /** Fits to the same rows, held to traffic in distribution by nothing but the gate. */
    private static AdaptationRows withoutAnchor(AdaptationRows rows) {
        return new AdaptationRows(
                rows.fit(), rows.choose(), rows.refit(), rows.judge(), rows.all(), null, rows.check());
    }

    /** Returns what the adapter of a running site would do with this window. */
    private static Made auto(Decoder trained, ExplainerSubspace subspace, AdaptationRows rows, int rank) {
        long started = System.nanoTime();
        GatedAdaptation adaptation = GatedAdaptation.of(
                new AdaptationProfile.Auto(),
                new SwapGate(GateLimits.DEFAULTS),
                SiteDecoders.servingTrained(trained, subspace, rank),
                rows,
                DType.F32);
        String chosen = adaptation.search().best().candidate().describe();
        if (!adaptation.publishes()) {
            String refused = adaptation.decision().tests().stream()
                    .filter(test -> !test.passed())
                    .map(test -> test.name() + ": " + test.finding())
                    .collect(Collectors.joining("; "));
            return new Made(trained, secondsSince(started), 0, chosen + "; not published: " + refused);
        }
        return new Made(adaptation.search().decoder(), secondsSince(started), adaptation.publishedRows(), chosen);
    }

    private static double secondsSince(long started) {
        return (System.nanoTime() - started) / 1e9;
    }
}
