package io.plumbline.baseline;

import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.groups.KnownGroups;
import io.plumbline.groups.NewGroups;
import io.plumbline.groups.TrafficGroup;
import io.plumbline.groups.UnusualRequests;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.records.ActivationBatch;
import io.plumbline.requests.RequestSample;
import io.plumbline.requests.RequestTotals;
import org.jspecify.annotations.Nullable;

/**
 * Gathers what is needed of a window's requests beside their moment, where they are read whole from a recording: their
 * totals and the errors of their reconstructions. A request is named by its place in the window, from 0. Not
 * thread-safe.
 */
public final class RecordedWindow {

    private final @Nullable KnownGroups known;
    private final @Nullable RequestModel model;
    private final @Nullable RequestTotals totals;
    private final SampledReconstruction sampled;
    private int requests;

    /** Creates an empty window that is to be compared with this baseline. */
    public RecordedWindow(Baseline baseline) {
        known = baseline.groups();
        model = baseline.requests();
        totals = model == null
                ? null
                : RequestTotals.ofCapacity(model.projection().id(), RequestTotals.DEFAULT_CAPACITY);
        sampled = SampledReconstruction.ofCapacity(baseline.encodedRows());
    }

    /**
     * Adds the next request.
     *
     * @param reconstructions of its target rows by the trained decoder, which writes them as they come
     */
    public void add(ActivationBatch request, Matrix reconstructions) {
        add(request, request.targetRows(), reconstructions);
    }

    /**
     * Adds the next request of an explainer whose decoder writes other rows than targets as they come.
     *
     * @param request with the rows that the decoder should write as its targets
     * @param targets its targets as they came
     * @param reconstructions of these
     */
    public void add(ActivationBatch request, Matrix targets, Matrix reconstructions) {
        int number = requests++;
        // Two requests of equal contents are two.
        long hash = RowSample.hash(RequestSample.hash(request), number);
        sampled.add(hash, targets, reconstructions);
        total(request, hash, number);
    }

    /** Adds the next request without its reconstruction: for its total alone. */
    public void add(ActivationBatch request) {
        int number = requests++;
        total(request, RowSample.hash(RequestSample.hash(request), number), number);
    }

    private void total(ActivationBatch request, long hash, int number) {
        if (model != null && totals != null) {
            double[] sum = new double[model.projection().components()];
            model.projection().add(request.targetRows(), sum);
            totals.add(hash, Integer.toString(number), request.rows(), sum);
        }
    }

    /** Returns the scores of the requests. */
    public WindowRequests requests() {
        return WindowRequests.of(model, totals, sampled.errors().requests());
    }

    /** Returns the assessment of the window's moment with the statistics of its reconstruction and of its requests. */
    public GapAssessment addTo(GapAssessment assessment) {
        EncodedErrors errors = sampled.errors();
        return withGroups(WindowRequests.of(model, totals, errors.requests())
                .addTo(assessment
                        .with(Statistic.RECONSTRUCTION_FVU_TRAINED, errors.fvu())
                        .with(Statistic.RECONSTRUCTION_ERROR, errors.energy())));
    }

    private GapAssessment withGroups(GapAssessment assessment) {
        if (model == null || totals == null) {
            return assessment;
        }
        UnusualRequests pool = UnusualRequests.of(model.groupSpace()).add(totals.totals());
        return NewGroups.addTo(assessment, known, pool.lookedAt(), TrafficGroup.of(pool, known));
    }

    /** Returns the totals of the requests, named by their places; null where the baseline has no model of requests. */
    public @Nullable RequestTotals totals() {
        return totals;
    }
}
