package io.plumbline.features;

import io.plumbline.explainer.SparseCodes;
import java.util.Arrays;

/**
 * Holds how often each feature is active, over whole requests, and how strongly.
 *
 * <p>Request g has {@code n_g} rows, and the feature is active in {@code a_g} of them. The four sums over requests
 * below give the rate {@code p = sum a / n} and its variance over requests {@code sum (a_g - p n_g)^2}.
 *
 * <p><b>Size.</b> 40 bytes a feature. The arrays are not copied: whoever holds them does not write to them.
 *
 * @param rows n
 * @param requests G
 * @param squaredRows {@code sum n_g^2}
 * @param activeRows {@code sum a_g}, by feature
 * @param activeRequests requests with {@code a_g > 0}, by feature
 * @param squaredActiveRows {@code sum a_g^2}, by feature
 * @param activeTimesRows {@code sum a_g n_g}, by feature
 * @param activation sum of the codes, by feature
 */
public record FeatureActivity(
        long rows,
        long requests,
        long squaredRows,
        long[] activeRows,
        long[] activeRequests,
        long[] squaredActiveRows,
        long[] activeTimesRows,
        double[] activation) {

    public FeatureActivity {
        int features = activeRows.length;
        if (activeRequests.length != features
                || squaredActiveRows.length != features
                || activeTimesRows.length != features
                || activation.length != features) {
            throw new IllegalArgumentException("activity of %d, %d, %d, %d and %d features: expected one number of them"
                    .formatted(
                            features,
                            activeRequests.length,
                            squaredActiveRows.length,
                            activeTimesRows.length,
                            activation.length));
        }
        if (requests < 1 || rows < requests || squaredRows < rows) {
            throw new IllegalArgumentException(
                    "activity of %d rows in %d requests, with squares of %d".formatted(rows, requests, squaredRows));
        }
        for (int j = 0; j < features; j++) {
            if (activeRows[j] < 0
                    || activeRows[j] > rows
                    || activeRequests[j] > Math.min(requests, activeRows[j])
                    || activeRequests[j] < Math.min(1, activeRows[j])
                    || squaredActiveRows[j] < activeRows[j]
                    || activeTimesRows[j] < squaredActiveRows[j]
                    || !Double.isFinite(activation[j])) {
                throw new IllegalArgumentException(
                        "feature %d: active in %d of %d rows and in %d requests, with sums of %d, %d and %s"
                                .formatted(
                                        j,
                                        activeRows[j],
                                        rows,
                                        activeRequests[j],
                                        squaredActiveRows[j],
                                        activeTimesRows[j],
                                        activation[j]));
            }
        }
    }

    /**
     * Returns the activity on some rows.
     *
     * @param requests of the rows; rows of one request may stand anywhere
     * @throws IllegalArgumentException without rows, or where there are not as many requests
     */
    public static FeatureActivity of(SparseCodes codes, long[] requests) {
        if (requests.length != codes.rows()) {
            throw new IllegalArgumentException(
                    "codes of %d rows, requests of %d".formatted(codes.rows(), requests.length));
        }
        Integer[] order = new Integer[requests.length];
        Arrays.setAll(order, i -> i);
        Arrays.sort(order, (a, b) -> Long.compare(requests[a], requests[b]));
        FeatureActivityAccumulator activity = FeatureActivityAccumulator.of(codes.features());
        for (int from = 0; from < order.length; ) {
            int to = from;
            while (to < order.length && requests[order[to]] == requests[order[from]]) {
                activity.addRow(codes, order[to++]);
            }
            activity.endRequest();
            from = to;
        }
        return activity.snapshot();
    }

    public int features() {
        return activeRows.length;
    }

    /** Returns the share of the rows in which a feature is active. */
    double frequency(int feature) {
        return (double) activeRows[feature] / rows;
    }

    /** Returns the mean of a feature's codes over the rows in which it is active; 0 where there are none. */
    double meanActivation(int feature) {
        return activeRows[feature] == 0 ? 0.0 : activation[feature] / activeRows[feature];
    }

    /**
     * Returns how alike two rows of one request are in whether a feature is active: the intraclass correlation, by
     * moments, in [0, 1].
     */
    double correlation(int feature) {
        double p = frequency(feature);
        double spread = p * (1.0 - p);
        double pairs = (double) squaredRows / rows - 1.0;
        if (spread <= 0.0 || pairs <= 0.0 || requests < 2) {
            return 0.0;
        }
        double between = squaredActiveRows[feature] - 2.0 * p * activeTimesRows[feature] + p * p * squaredRows;
        double effect = between / (spread * rows) * requests / (requests - 1.0);
        return Math.min(1.0, Math.max(0.0, (effect - 1.0) / pairs));
    }

    /** Returns how many rows are worth one independent row, where rows of a request correlate so much. */
    double designEffect(double correlation) {
        return 1.0 + correlation * ((double) squaredRows / rows - 1.0);
    }

    /** Compares by content. */
    @Override
    public boolean equals(Object other) {
        return other instanceof FeatureActivity activity
                && rows == activity.rows
                && requests == activity.requests
                && squaredRows == activity.squaredRows
                && Arrays.equals(activeRows, activity.activeRows)
                && Arrays.equals(activeRequests, activity.activeRequests)
                && Arrays.equals(squaredActiveRows, activity.squaredActiveRows)
                && Arrays.equals(activeTimesRows, activity.activeTimesRows)
                && Arrays.equals(activation, activity.activation);
    }

    @Override
    public int hashCode() {
        return 31 * Long.hashCode(rows) + Arrays.hashCode(activeRows);
    }

    @Override
    public String toString() {
        return "FeatureActivity[%d features, %d rows, %d requests]".formatted(features(), rows, requests);
    }
}
