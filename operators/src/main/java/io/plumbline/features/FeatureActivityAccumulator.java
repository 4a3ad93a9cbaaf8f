package io.plumbline.features;

import io.plumbline.explainer.SparseCodes;
import java.util.Arrays;

/**
 * Counts how often each feature is active, request by request.
 *
 * <p><b>Size.</b> 48 bytes a feature. <b>Cost.</b> One pass over the codes, and one over the features that were active
 * in a request. Not thread-safe.
 */
public final class FeatureActivityAccumulator {

    private final long[] activeRows;
    private final long[] activeRequests;
    private final long[] squaredActiveRows;
    private final long[] activeTimesRows;
    private final double[] activation;
    private long rows;
    private long requests;
    private long squaredRows;

    private final int[] ofRequest;
    private int[] touched = new int[64];
    private int touchedCount;
    private long rowsOfRequest;

    private FeatureActivityAccumulator(int features) {
        activeRows = new long[features];
        activeRequests = new long[features];
        squaredActiveRows = new long[features];
        activeTimesRows = new long[features];
        activation = new double[features];
        ofRequest = new int[features];
    }

    public static FeatureActivityAccumulator of(int features) {
        return new FeatureActivityAccumulator(features);
    }

    /** Adds rows of the request that is open. */
    public FeatureActivityAccumulator addRows(SparseCodes codes) {
        for (int row = 0; row < codes.rows(); row++) {
            addRow(codes, row);
        }
        return this;
    }

    void addRow(SparseCodes codes, int row) {
        if (codes.features() != activeRows.length) {
            throw new IllegalArgumentException(
                    "codes of %d features: expected %d".formatted(codes.features(), activeRows.length));
        }
        rowsOfRequest++;
        for (int entry = codes.rowStart()[row]; entry < codes.rowStart()[row + 1]; entry++) {
            int feature = codes.feature()[entry];
            if (ofRequest[feature]++ == 0) {
                if (touchedCount == touched.length) {
                    touched = Arrays.copyOf(touched, 2 * touchedCount);
                }
                touched[touchedCount++] = feature;
            }
            activation[feature] += codes.value()[entry];
        }
    }

    /** Ends the request whose rows were added. */
    public FeatureActivityAccumulator endRequest() {
        if (rowsOfRequest == 0) {
            return this;
        }
        for (int i = 0; i < touchedCount; i++) {
            int feature = touched[i];
            long active = ofRequest[feature];
            activeRows[feature] += active;
            activeRequests[feature]++;
            squaredActiveRows[feature] += active * active;
            activeTimesRows[feature] += active * rowsOfRequest;
            ofRequest[feature] = 0;
        }
        touchedCount = 0;
        rows += rowsOfRequest;
        requests++;
        squaredRows += rowsOfRequest * rowsOfRequest;
        rowsOfRequest = 0;
        return this;
    }

    /**
     * Returns the activity of the requests that have ended.
     *
     * @throws IllegalArgumentException where there are none
     */
    public FeatureActivity snapshot() {
        return new FeatureActivity(
                rows,
                requests,
                squaredRows,
                activeRows.clone(),
                activeRequests.clone(),
                squaredActiveRows.clone(),
                activeTimesRows.clone(),
                activation.clone());
    }
}
