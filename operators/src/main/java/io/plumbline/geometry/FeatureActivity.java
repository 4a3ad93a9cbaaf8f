package io.plumbline.geometry;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;

/**
 * How much each feature of an explainer was used on some rows: sums of squared codes and counts of rows, filled in parts.
 *
 * <p><b>Size.</b> 16 bytes a feature. Not thread-safe.
 */
public final class FeatureActivity {

    private final double[] squares;
    private final long[] active;
    private long rows;

    public FeatureActivity(int features) {
        squares = new double[features];
        active = new long[features];
    }

    /** Of these codes alone. */
    public static FeatureActivity of(SparseCodes codes) {
        FeatureActivity activity = new FeatureActivity(codes.features());
        activity.add(codes);
        return activity;
    }

    /** Adds the codes of more rows. */
    public void add(SparseCodes codes) {
        if (codes.features() != squares.length) {
            throw new IllegalArgumentException(
                    "codes of %d features, expected %d; nothing was added".formatted(codes.features(), squares.length));
        }
        for (int entry = 0; entry < codes.nonZeros(); entry++) {
            double value = codes.value()[entry];
            squares[codes.feature()[entry]] += value * value;
            active[codes.feature()[entry]]++;
        }
        rows += codes.rows();
    }

    int features() {
        return squares.length;
    }

    /** Share of the rows in which the feature is active; 0 without rows. */
    double frequency(int feature) {
        return rows == 0 ? 0.0 : (double) active[feature] / rows;
    }

    /**
     * {@code sum_i z_ij^2 |w_j|^2} of each feature as a share of their sum: what the feature writes, without what it has in
     * common with others. Zeros where nothing is written.
     */
    double[] shares(Decoder decoder) {
        double[] shares = new double[squares.length];
        double sum = 0.0;
        for (int j = 0; j < shares.length; j++) {
            shares[j] = squares[j] * DecoderSupport.squaredNorm(decoder, j);
            sum += shares[j];
        }
        for (int j = 0; j < shares.length && sum > 0.0; j++) {
            shares[j] /= sum;
        }
        return shares;
    }
}
