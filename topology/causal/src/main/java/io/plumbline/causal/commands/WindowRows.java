package io.plumbline.causal.commands;

import io.plumbline.adaptation.AdaptationRows;
import io.plumbline.adaptation.BaselineRows;
import io.plumbline.baseline.Baseline;
import io.plumbline.causal.heads.RequestRows;
import io.plumbline.causal.heads.SiteStudy;
import io.plumbline.explainer.Explainer;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampleSplit;
import io.plumbline.moments.SampledRow;
import io.plumbline.records.ActivationBatch;
import io.plumbline.refit.SampleRows;
import io.plumbline.requests.CleanRequests;
import io.plumbline.requests.DistinctRequests;
import io.plumbline.topology.cli.UsageException;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The rows of whole requests that refits are made of, without each request's first: what is not replaced is not fitted.
 */
final class WindowRows {

    private static final double VALIDATION_SHARE = 0.25;

    private final Explainer explainer;
    private final List<SampledRow> rows = new ArrayList<>();

    WindowRows(Explainer explainer, SiteStudy.Requests requests) {
        this.explainer = explainer;
        for (int i = 0; i < requests.count(); i++) {
            RequestRows request = requests.request(i);
            ActivationBatch batch = explainer.space().of(request.batch());
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
    }

    int count() {
        return rows.size();
    }

    /** Returns all rows, encoded. */
    SampleRows all() {
        return SampleRows.of(explainer.encoder(), rows, explainer.targetWidth());
    }

    /** Returns the rows split as a site's adapter splits a window. */
    AdaptationRows split(@Nullable Baseline baseline) {
        List<SampledRow> clean = baseline == null ? List.of() : baseline.rows();
        DistinctRequests distinct = DistinctRequests.forRefit(rows, 1.0, CleanRequests.of(clean), Set.of());
        if (distinct.refusal() != null) {
            throw new UsageException("--window: " + distinct.refusal());
        }
        SampleSplit split = SampleSplit.of(distinct.rows(), VALIDATION_SHARE);
        if (!split.judgeIsIndependent()) {
            throw new UsageException(
                    "--window: %s, expected at least %d".formatted(distinct.count(), SampleSplit.LEAST_REQUESTS));
        }
        return AdaptationRows.of(
                explainer.encoder(),
                split,
                BaselineRows.of(explainer.encoder(), clean, explainer.targetWidth()),
                explainer.targetWidth());
    }
}
