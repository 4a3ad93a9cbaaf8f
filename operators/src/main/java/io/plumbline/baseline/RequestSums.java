package io.plumbline.baseline;

import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.features.FeatureActivityAccumulator;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.records.ActivationBatch;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.function.IntFunction;
import org.jspecify.annotations.Nullable;

/** Sums what a baseline keeps of some rows: moments of targets and of reconstructions, and squared errors. */
final class RequestSums {

    /**
     * Holds the sums of one request.
     *
     * @param targets its target rows as they came
     * @param squaredErrors {@code |y - yhat|^2} of each of them
     * @param codes of its rows, {@value #LARGEST_BATCH} rows at a time; none where reconstructions are given
     */
    record Encoded(RequestSums sums, Matrix targets, double[] squaredErrors, List<SparseCodes> codes) {

        double[] mean() {
            double[] mean = Arrays.copyOf(sums.targets.state(), sums.targets.dimension());
            for (int j = 0; j < mean.length; j++) {
                mean[j] /= sums.targets.rows();
            }
            return mean;
        }
    }

    private static final int LARGEST_BATCH = 4_096;

    private final SecondMomentAccumulator targets;
    private final SecondMomentAccumulator reconstructions;
    private final ReconstructionSums errors = new ReconstructionSums();

    RequestSums(int dimension) {
        targets = SecondMomentAccumulator.ofDimension(dimension);
        reconstructions = SecondMomentAccumulator.ofDimension(dimension);
    }

    /**
     * Encodes one request and returns its sums.
     *
     * @param batch with targets as the decoder should write them, see {@link io.plumbline.explainer.DecoderSpace}
     *
     * @throws io.plumbline.moments.NonFiniteRowException if a value is not finite
     * @throws IllegalArgumentException if a width is not the explainer's, or a transcoder's batch has no targets
     */
    static Encoded of(Explainer explainer, ActivationBatch batch) {
        return of(explainer, batch, null);
    }

    /** Sums as {@link #of(Explainer, ActivationBatch)} does, and counts how often each feature is active. */
    static Encoded of(Explainer explainer, ActivationBatch batch, @Nullable FeatureActivityAccumulator activity) {
        requireFitting(explainer, batch);
        IntFunction<SparseCodes> encoded = from -> explainer
                .encoder()
                .encode(batch.activations().rowRange(from, Math.min(from + LARGEST_BATCH, batch.rows())));
        Encoded request = sums(explainer, batch, encoded);
        if (activity != null) {
            if (explainer.isGiven()) {
                for (int from = 0; from < batch.rows(); from += LARGEST_BATCH) {
                    activity.addRows(encoded.apply(from));
                }
            } else {
                request.codes().forEach(activity::addRows);
            }
            activity.endRequest();
        }
        return request;
    }

    /** Returns the sums of one request whose codes are known: those that {@link Encoded} holds. */
    static Encoded ofCodes(Explainer explainer, ActivationBatch batch, List<SparseCodes> codes) {
        return sums(explainer, batch, from -> codes.get(from / LARGEST_BATCH));
    }

    /** Encodes a request and returns its sums, encoding nothing before the targets are known to be finite. */
    private static Encoded sums(Explainer explainer, ActivationBatch batch, IntFunction<SparseCodes> codesFrom) {
        List<SparseCodes> codes = new ArrayList<>();
        RequestSums request = new RequestSums(explainer.targetWidth());
        Matrix targets = batch.targetRows();
        request.targets.add(targets);
        Matrix told = explainer.space().targets(batch);
        double[] squaredErrors = new double[batch.rows()];
        for (int from = 0; from < batch.rows(); from += LARGEST_BATCH) {
            int to = Math.min(from + LARGEST_BATCH, batch.rows());
            Matrix reconstruction;
            if (explainer.isGiven()) {
                reconstruction = explainer.reconstruct(batch.activations().rowRange(from, to));
            } else {
                SparseCodes part = codesFrom.apply(from);
                codes.add(part);
                reconstruction = explainer.decoder().reconstruct(part);
            }
            request.reconstructions.add(reconstruction);
            Matrix slice = targets.rowRange(from, to);
            double[] errors;
            if (explainer.space().isPlain()) {
                request.errors.add(slice, reconstruction);
                errors = EncodedErrors.squaredErrors(slice, reconstruction);
            } else {
                Matrix asTheyCame = told.rowRange(from, to);
                Matrix back = explainer.space().toTargets(batch.activations().rowRange(from, to), reconstruction);
                request.errors.addWithSpread(asTheyCame, back);
                errors = EncodedErrors.squaredErrors(asTheyCame, back);
            }
            System.arraycopy(errors, 0, squaredErrors, from, to - from);
        }
        return new Encoded(request, told, squaredErrors, codes);
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

    /** Returns the FVU of the rows, of targets as they come. */
    double fvu() {
        return errors.fvu(targets.snapshot());
    }

    private static void requireFitting(Explainer explainer, ActivationBatch batch) {
        if (explainer.isTranscoder() && batch.targets() == null) {
            throw new IllegalArgumentException(
                    "the batch has no tensor \"targets\": a transcoder is judged on the output of its layer; the"
                            + " batch was not added");
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
