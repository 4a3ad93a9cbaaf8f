package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;
import java.util.Arrays;

/** Computes {@code z = pre} where {@code pre = W_enc x + b_enc} is strictly above the feature's threshold, else 0. */
public final class JumpReluEncoder extends LayerEncoder {

    private final double[] threshold;

    /** The lowest threshold that is a number: nothing is above the others. */
    private final double lowest;

    public JumpReluEncoder(LinearLayer layer, double[] threshold) {
        super(layer);
        if (threshold.length != layer.features()) {
            throw new IllegalArgumentException(
                    "%d thresholds for %d features".formatted(threshold.length, layer.features()));
        }
        this.threshold = threshold.clone();
        this.lowest = Arrays.stream(threshold)
                .filter(value -> !Double.isNaN(value))
                .min()
                .orElse(Double.POSITIVE_INFINITY);
    }

    /**
     * Returns an encoder with weights {@code features x inputWidth} (row j = feature j), one bias and one threshold per
     * feature.
     */
    public static JumpReluEncoder of(Matrix weights, double[] bias, double[] threshold) {
        return new JumpReluEncoder(LinearLayer.featureByInput(weights, bias), threshold);
    }

    /** Returns the thresholds, one a feature. */
    public double[] threshold() {
        return threshold.clone();
    }

    @Override
    CodeSelection selection(int rows) {
        return new AboveThreshold(rows);
    }

    private final class AboveThreshold extends ListedCodes {

        AboveThreshold(int rows) {
            super(rows);
        }

        @Override
        public double level(int row) {
            return lowest;
        }

        @Override
        public void take(int row, int first, double[] preActivations, int at, int count) {
            for (int j = 0; j < count; j++) {
                if (preActivations[at + j] > threshold[first + j]) {
                    add(row, first + j, preActivations[at + j]);
                }
            }
        }
    }
}
