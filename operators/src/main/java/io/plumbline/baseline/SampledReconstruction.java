package io.plumbline.baseline;

import io.plumbline.explainer.Explainer;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampledRow;
import io.plumbline.records.ActivationBatch;
import io.plumbline.requests.RequestSample;
import java.util.Map;
import java.util.TreeMap;

/**
 * Measures the trained decoder's reconstruction as the monitor does: on a number of rows drawn uniformly from the
 * window, on all of them where there are fewer. Clean windows and {@code plumbline assess} are measured by it, so that
 * thresholds hold for the same noise.
 *
 * <p>A row is chosen by a hash of what its request holds; the monitor, which has the record's bytes and time besides,
 * chooses others of the same law.
 *
 * <p><b>Size.</b> The sampled rows in float32. Not thread-safe.
 */
public final class SampledReconstruction {

    /**
     * The most rows on which it is measured where nothing else is asked for; the monitor samples more of a window by
     * default.
     */
    public static final int MOST_ROWS = 2_048;

    /** The fewest rows that are measured: on so many FVU has a relative error of some 5 %. */
    private static final int FEWEST_ROWS = 256;

    /** The most work that is spent: some seconds of one core. */
    private static final double FLOPS = 1e11;

    private final int capacity;
    private final TreeMap<Long, Row> byHash = new TreeMap<>();

    private record Row(long request, float[] target, double squaredError) {}

    private SampledReconstruction(int capacity) {
        this.capacity = capacity;
    }

    /**
     * Returns on how many rows of a window reconstruction is measured where nothing else is asked for: on as many as
     * the encoder does in some seconds of one core, {@code 1e11 / (2 d k)}, and on 256 to 2,048.
     */
    static int usualRows(Explainer explainer) {
        double flopsOfRow = 2.0 * explainer.inputWidth() * explainer.decoder().features();
        return (int) Math.max(FEWEST_ROWS, Math.min(MOST_ROWS, FLOPS / flopsOfRow));
    }

    /** Returns an empty sample of at most {@code rows} rows. */
    static SampledReconstruction ofCapacity(int rows) {
        return new SampledReconstruction(rows);
    }

    /**
     * Offers the rows of one request.
     *
     * @param request hash that names it
     * @param targets its target rows as they came
     * @param reconstructions of them
     */
    void add(long request, Matrix targets, Matrix reconstructions) {
        add(request, targets, EncodedErrors.squaredErrors(targets, reconstructions));
    }

    /** Offers the rows of one request, whose squared errors are known. */
    void add(long request, Matrix targets, double[] squaredErrors) {
        for (int row = 0; row < targets.rows(); row++) {
            long hash = RowSample.hash(request, row);
            if (byHash.size() < capacity || hash < byHash.lastKey()) {
                byHash.putIfAbsent(hash, new Row(request, targets.floats(row), squaredErrors[row]));
                if (byHash.size() > capacity) {
                    byHash.pollLastEntry();
                }
            }
        }
    }

    /** Returns the errors on the sampled rows. */
    EncodedErrors errors() {
        int d = byHash.isEmpty() ? 1 : byHash.firstEntry().getValue().target().length;
        long[] requests = new long[byHash.size()];
        double[] squaredErrors = new double[byHash.size()];
        Matrix targets = Matrix.zeros(byHash.size(), d);
        int i = 0;
        for (Map.Entry<Long, Row> entry : byHash.entrySet()) {
            Row row = entry.getValue();
            requests[i] = row.request();
            squaredErrors[i] = row.squaredError();
            for (int j = 0; j < d; j++) {
                targets.set(i, j, row.target()[j]);
            }
            i++;
        }
        return EncodedErrors.of(requests, targets, squaredErrors);
    }

    /** Offers the rows of a request and their activations to a sample. */
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
                        request.activations().floats(row),
                        targets == null ? null : targets.floats(row));
            }
        }
    }
}
