package io.plumbline.causal.heads;

import io.plumbline.adaptation.AdaptationProfile;
import io.plumbline.adaptation.AdaptationRows;
import io.plumbline.adaptation.BaselineRows;
import io.plumbline.adaptation.GateLimits;
import io.plumbline.adaptation.GatedAdaptation;
import io.plumbline.adaptation.SiteDecoders;
import io.plumbline.adaptation.SwapGate;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampleSplit;
import io.plumbline.moments.SampledRow;
import io.plumbline.records.ActivationBatch;
import io.plumbline.refit.Adaptation;
import io.plumbline.refit.GaeSettings;
import io.plumbline.refit.GeometryAdapter;
import io.plumbline.refit.Regularisation;
import io.plumbline.refit.Rotation;
import io.plumbline.refit.SampleRows;
import io.plumbline.wire.DType;
import java.util.ArrayList;
import java.util.List;

/** Refits of one window of a live model, by the names that the oracle has for them. */
final class LiveRefits {

    private static final double VALIDATION_SHARE = 0.25;

    private final Explainer explainer;
    private final List<SampledRow> window;
    private final List<SampledRow> baseline;

    LiveRefits(Explainer explainer, SiteStudy.Requests window, List<SampledRow> baseline) {
        this.explainer = explainer;
        this.window = sampled(explainer, window);
        this.baseline = baseline;
    }

    /** Returns {@code bias}, {@code paper R} (lambdas .1 and .2) or {@code step1 R}, on all rows of the window. */
    Decoder named(String name) {
        if (name.equals("bias")) {
            return newBias();
        }
        String[] words = name.split(" ", -1);
        int rank = Integer.parseInt(words[1]);
        GaeSettings settings = new GaeSettings(
                rank, Rotation.PRINTED, Regularisation.absolute(0.1, 0.2), words[0].equals("step1") ? 1.0 : 0.0);
        SampleRows rows = SampleRows.of(explainer.encoder(), window, explainer.targetWidth());
        Adaptation adaptation = GeometryAdapter.adapt(
                explainer.decoder(),
                ExplainerSubspace.of(explainer.decoder(), rank),
                rows.codes(),
                rows.targets(),
                settings);
        return ((Adaptation.Adapted) adaptation).decoder();
    }

    private Decoder newBias() {
        SampleRows rows = SampleRows.of(explainer.encoder(), window, explainer.targetWidth());
        Matrix reconstructed = explainer.decoder().reconstruct(rows.codes());
        double[] bias = explainer.decoder().bias().clone();
        for (int row = 0; row < rows.rows(); row++) {
            for (int j = 0; j < bias.length; j++) {
                bias[j] += (rows.targets().get(row, j) - reconstructed.get(row, j)) / rows.rows();
            }
        }
        return new Decoder(explainer.decoder().weights(), bias);
    }

    /** Returns what profile auto makes of the window. */
    GatedAdaptation auto(int rank) {
        AdaptationRows rows = AdaptationRows.of(
                explainer.encoder(),
                SampleSplit.of(window, VALIDATION_SHARE),
                BaselineRows.of(explainer.encoder(), baseline, explainer.targetWidth()),
                explainer.targetWidth());
        return GatedAdaptation.of(
                new AdaptationProfile.Auto(),
                new SwapGate(GateLimits.DEFAULTS),
                SiteDecoders.servingTrained(explainer.decoder(), ExplainerSubspace.of(explainer.decoder(), rank), rank),
                rows,
                DType.F32);
    }

    static SampleRows rows(Explainer explainer, SiteStudy.Requests requests) {
        return SampleRows.of(explainer.encoder(), sampled(explainer, requests), explainer.targetWidth());
    }

    /** Returns the rows of requests without each one's first. */
    static List<SampledRow> sampled(Explainer explainer, SiteStudy.Requests requests) {
        List<SampledRow> rows = new ArrayList<>();
        for (int i = 0; i < requests.count(); i++) {
            ActivationBatch batch = explainer.space().of(requests.request(i).batch());
            for (int row = 1; row < batch.rows(); row++) {
                Matrix targets = batch.targets();
                rows.add(new SampledRow(
                        rows.size(),
                        i,
                        i,
                        batch.activations().floats(row),
                        targets == null ? null : targets.floats(row)));
            }
        }
        return rows;
    }
}
