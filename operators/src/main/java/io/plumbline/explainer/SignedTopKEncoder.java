package io.plumbline.explainer;

import java.util.Arrays;

/**
 * Keeps k pre-activations {@code W_enc x + b_enc} of a row with their signs: the largest ones, as circuit-tracer does,
 * or the largest in amount, which SAELens calls abstopk. Nothing is clamped; equal ones go to the lower feature index.
 */
final class SignedTopKEncoder extends LayerEncoder {

    /** Holds more than k codes of a row at a time, so that they are sorted out rarely. */
    private static final int LEAST_SPARE = 96;

    private final int k;
    private final boolean byAmount;

    SignedTopKEncoder(LinearLayer layer, int k, boolean byAmount) {
        super(layer);
        requireFeatures(layer, k);
        this.k = k;
        this.byAmount = byAmount;
    }

    @Override
    CodeSelection selection(int rows) {
        return new Largest(rows);
    }

    private final class Largest extends CodeSelection {

        private final int most = k + Math.max(k, LEAST_SPARE);
        private final double[] smallestKept;

        Largest(int rows) {
            super(rows, k + Math.max(k, LEAST_SPARE));
            smallestKept = new double[rows];
            Arrays.fill(smallestKept, Double.NEGATIVE_INFINITY);
        }

        @Override
        void take(int row, int first, double[] preActivations, int at, int count) {
            for (int j = 0; j < count; j++) {
                double pre = preActivations[at + j];
                if (rank(pre) > smallestKept[row]) {
                    add(row, first + j, pre);
                    if (size(row) == most) {
                        smallestKept[row] = keepLargest(row, k);
                    }
                }
            }
        }

        @Override
        double rank(double code) {
            return byAmount ? Math.abs(code) : code;
        }

        @Override
        void finish(int row, SparseCodes.Builder codes) {
            if (size(row) > k) {
                keepLargest(row, k);
            }
            super.finish(row, codes);
        }
    }
}
