package io.plumbline.calibration;

import io.plumbline.explainer.Explainer;
import io.plumbline.geometry.Statistic;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RequestSample;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampledRow;
import io.plumbline.wire.ActivationBatch;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * {@link Statistic#RECONSTRUCTION_FVU_TRAINED} as a window of the monitor has it: on {@value #ROWS} rows drawn uniformly from the window,
 * all of them where there are fewer. What a clean window is measured by and what {@code plumbline assess} measures, so that the
 * threshold holds for the same noise.
 *
 * <p>{@code sum |y - yhat|^2 / sum |y - mean y|^2} over those rows. A row is chosen by a hash of what its request holds;
 * the monitor, which has the record's bytes and time besides, chooses others of the same law.
 *
 * <p><b>Size.</b> {@value #ROWS} rows in float32. Not thread-safe.
 */
public final class SampledReconstruction {

    /** Rows of a window's sample on which it is measured; FVU then has a relative error of some 5 %. */
    public static final int ROWS = 256;

    private final RowSample sample = RowSample.ofCapacity(ROWS);

    /** Offers the rows of one request. */
    public SampledReconstruction add(ActivationBatch request) {
        offer(request, sample);
        return this;
    }

    /** Offers the rows of one request to a sample of another size, under the same hashes. */
    public static void offer(ActivationBatch request, RowSample sample) {
        long hash = RequestSample.hash(request);
        for (int row = 0; row < request.rows(); row++) {
            long rowHash = RowSample.hash(hash, row);
            if (rowHash <= sample.threshold()) {
                Matrix targets = request.targets();
                sample.offer(
                        rowHash,
                        hash,
                        SampledRow.NO_TIME,
                        floats(request.activations(), row),
                        targets == null ? null : floats(targets, row));
            }
        }
    }

    /** Null where there are no rows or they do not vary. */
    public @Nullable Double fvu(Explainer explainer) {
        List<SampledRow> rows = sample.rows();
        if (rows.isEmpty()) {
            return null;
        }
        Matrix activations = Matrix.zeros(rows.size(), explainer.inputWidth());
        for (int i = 0; i < rows.size(); i++) {
            float[] values = rows.get(i).activation();
            for (int j = 0; j < values.length; j++) {
                activations.set(i, j, values[j]);
            }
        }
        Matrix reconstruction =
                explainer.decoder().reconstruct(explainer.encoder().encode(activations));
        double[] mean = new double[explainer.targetWidth()];
        for (SampledRow row : rows) {
            for (int j = 0; j < mean.length; j++) {
                mean[j] += row.targetRow()[j] / (double) rows.size();
            }
        }
        double error = 0.0;
        double spread = 0.0;
        for (int i = 0; i < rows.size(); i++) {
            float[] target = rows.get(i).targetRow();
            for (int j = 0; j < mean.length; j++) {
                error += Math.pow(target[j] - reconstruction.get(i, j), 2);
                spread += Math.pow(target[j] - mean[j], 2);
            }
        }
        double fvu = error / spread;
        return Double.isFinite(fvu) ? fvu : null;
    }

    private static float[] floats(Matrix matrix, int row) {
        float[] values = new float[matrix.columns()];
        for (int j = 0; j < values.length; j++) {
            values[j] = (float) matrix.get(row, j);
        }
        return values;
    }
}
