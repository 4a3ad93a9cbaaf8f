package io.plumbline.calibration;

import io.plumbline.explainer.Explainer;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.wire.ActivationBatch;

/** What a baseline keeps of some rows: moments of targets and of reconstructions, and squared errors. */
final class RequestSums {

    private static final int LARGEST_BATCH = 4_096;

    private final SecondMomentAccumulator targets;
    private final SecondMomentAccumulator reconstructions;
    private final ReconstructionSums errors = new ReconstructionSums();

    RequestSums(int dimension) {
        targets = SecondMomentAccumulator.ofDimension(dimension);
        reconstructions = SecondMomentAccumulator.ofDimension(dimension);
    }

    /**
     * Of one request.
     *
     * @throws io.plumbline.moments.NonFiniteRowException if a value is not finite
     * @throws IllegalArgumentException if a width is not the explainer's, or a transcoder's batch has no targets
     */
    static RequestSums of(Explainer explainer, ActivationBatch batch) {
        requireFitting(explainer, batch);
        RequestSums request = new RequestSums(explainer.targetWidth());
        Matrix targets = batch.targetRows();
        request.targets.add(targets);
        for (int from = 0; from < batch.rows(); from += LARGEST_BATCH) {
            int to = Math.min(from + LARGEST_BATCH, batch.rows());
            Matrix reconstruction = explainer
                    .decoder()
                    .reconstruct(explainer.encoder().encode(batch.activations().rowRange(from, to)));
            request.reconstructions.add(reconstruction);
            request.errors.add(targets.rowRange(from, to), reconstruction);
        }
        return request;
    }

    void merge(RequestSums other) {
        targets.merge(other.targets);
        reconstructions.merge(other.reconstructions);
        errors.merge(other.errors);
    }

    SecondMomentAccumulator targets() {
        return targets;
    }

    SecondMomentAccumulator reconstructions() {
        return reconstructions;
    }

    /** FVU of these rows. */
    double fvu() {
        return errors.fvu(targets.snapshot());
    }

    private static void requireFitting(Explainer explainer, ActivationBatch batch) {
        if (explainer.isTranscoder() && batch.targets() == null) {
            throw new IllegalArgumentException(
                    "the batch has no tensor \"targets\": a transcoder is judged on the output of its layer; the batch was not added");
        }
        requireWidth("activations", batch.activations().columns(), explainer.inputWidth());
        requireWidth("targets", batch.targetRows().columns(), explainer.targetWidth());
    }

    private static void requireWidth(String what, int actual, int expected) {
        if (actual != expected) {
            throw new IllegalArgumentException("%s of width %d: the explainer has width %d; the batch was not added"
                    .formatted(what, actual, expected));
        }
    }
}
