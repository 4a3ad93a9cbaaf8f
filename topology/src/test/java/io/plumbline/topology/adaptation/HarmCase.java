package io.plumbline.topology.adaptation;

import io.plumbline.adaptation.AdaptationProfile;
import io.plumbline.adaptation.AdaptationRows;
import io.plumbline.adaptation.BaselineRows;
import io.plumbline.adaptation.GateLimits;
import io.plumbline.adaptation.GatedAdaptation;
import io.plumbline.adaptation.SiteDecoders;
import io.plumbline.adaptation.SwapGate;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Encoder;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampleSplit;
import io.plumbline.moments.SampledRow;
import io.plumbline.records.ActivationBatch;
import io.plumbline.records.ActivationFile;
import io.plumbline.refit.Adaptation;
import io.plumbline.refit.GaeSettings;
import io.plumbline.refit.GeometryAdapter;
import io.plumbline.refit.Reconstruction;
import io.plumbline.refit.Regularisation;
import io.plumbline.refit.Rotation;
import io.plumbline.refit.SampleRows;
import io.plumbline.requests.CleanRequests;
import io.plumbline.requests.DistinctRequests;
import io.plumbline.wire.DType;
import java.io.IOException;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;

/**
 * A shift, and what the ways of answering it come to on rows nobody fitted on: later ones of the shifted stream, and
 * others in distribution.
 *
 * @param window rows of the shifted stream the adapter has
 * @param later rows of the same stream after them
 * @param baseline rows in distribution the baseline has
 * @param clean other rows in distribution
 */
record HarmCase(
        String name,
        Encoder encoder,
        Decoder trained,
        int rank,
        List<SampledRow> window,
        List<SampledRow> later,
        List<SampledRow> baseline,
        List<SampledRow> clean) {

    private static final double SHARE = 0.25;

    /** The FVU on later and on clean rows. */
    record Pair(double later, double clean) {}

    record Figures(Pair fixed, Pair biasOnly, Pair paper, Pair auto, String verdict) {

        String row(String name) {
            return String.format(
                    Locale.ROOT,
                    "| %s | %.4f / %.4f | %.4f / %.4f | %.4f / %.4f | %.4f / %.4f | %s |",
                    name,
                    fixed.later,
                    fixed.clean,
                    biasOnly.later,
                    biasOnly.clean,
                    paper.later,
                    paper.clean,
                    auto.later,
                    auto.clean,
                    verdict);
        }
    }

    Figures measure() {
        int width = trained.dimension();
        SampleRows laterRows = SampleRows.of(encoder, later, width);
        SampleRows cleanRows = SampleRows.of(encoder, clean, width);
        SampleRows fit = adaptationRows(window).refit();
        // At full rank Step 1 is the identity, and alpha = 1 leaves Step 2 out: the trained weights and a new bias.
        Decoder biasOnly = fitted(fit, new GaeSettings(width, Rotation.PRINTED, Regularisation.absolute(0, 1), 1.0));
        Decoder paper = fitted(fit, new GaeSettings(rank, Rotation.PRINTED, Regularisation.absolute(0.1, 0.2), 0.0));
        GatedAdaptation auto = auto(window);
        return new Figures(
                pair(trained, laterRows, cleanRows),
                pair(biasOnly, laterRows, cleanRows),
                pair(paper, laterRows, cleanRows),
                pair(auto.publishes() ? auto.search().decoder() : trained, laterRows, cleanRows),
                (auto.publishes() ? "" : "kept: ")
                        + auto.search().best().candidate().describe());
    }

    /**
     * Returns what the default profile does with rows in distribution: the first half of the clean ones as the window.
     */
    GatedAdaptation autoInDistribution() {
        return auto(clean.subList(0, clean.size() / 2));
    }

    private GatedAdaptation auto(List<SampledRow> rows) {
        return GatedAdaptation.of(
                new AdaptationProfile.Auto(),
                new SwapGate(GateLimits.DEFAULTS),
                SiteDecoders.servingTrained(
                        trained, ExplainerSubspace.ofWeights(trained.weights().toMatrix(), rank), rank),
                adaptationRows(rows),
                DType.F32);
    }

    private AdaptationRows adaptationRows(List<SampledRow> rows) {
        return AdaptationRows.of(
                encoder,
                SampleSplit.of(
                        DistinctRequests.forRefit(rows, 1.0, CleanRequests.of(baseline), Set.of())
                                .rows(),
                        SHARE),
                BaselineRows.of(encoder, baseline, trained.dimension()),
                trained.dimension());
    }

    private Decoder fitted(SampleRows fit, GaeSettings settings) {
        Adaptation adaptation = GeometryAdapter.adapt(
                trained,
                ExplainerSubspace.ofWeights(trained.weights().toMatrix(), rank),
                fit.codes(),
                fit.targets(),
                settings);
        if (adaptation instanceof Adaptation.Adapted adapted) {
            return adapted.decoder();
        }
        throw new AssertionError(name + ": " + adaptation);
    }

    private static Pair pair(Decoder decoder, SampleRows later, SampleRows clean) {
        return new Pair(
                Reconstruction.of(decoder, later.codes(), later.targets()).fvu(),
                Reconstruction.of(decoder, clean.codes(), clean.targets()).fvu());
    }

    /** Returns whole requests from {@code first} on, until there are {@code most} rows. */
    static List<SampledRow> rows(Path dump, int first, int most) throws IOException {
        List<SampledRow> rows = new ArrayList<>();
        try (ActivationFile file = ActivationFile.open(dump)) {
            for (int request = first; request < file.requests() && rows.size() < most; request++) {
                ActivationBatch batch = file.request(request);
                Matrix targets = batch.targets();
                for (int row = 0; row < batch.rows(); row++) {
                    rows.add(new SampledRow(
                            rows.size(),
                            request,
                            request,
                            batch.activations().floats(row),
                            targets == null ? null : targets.floats(row)));
                }
            }
        }
        return rows;
    }

    /** Returns rows in requests of 64. */
    static List<SampledRow> rows(Matrix activations, Matrix targets) {
        List<SampledRow> rows = new ArrayList<>();
        for (int row = 0; row < activations.rows(); row++) {
            rows.add(new SampledRow(row, row / 64, row / 64, activations.floats(row), targets.floats(row)));
        }
        return rows;
    }

    /** The request after the last of these. */
    static int after(List<SampledRow> rows) {
        return (int) rows.get(rows.size() - 1).request() + 1;
    }
}
