package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;

/**
 * Keeps the k largest pre-activations {@code W_enc x + b_enc} of a row and clamps those at 0; equal ones go to the
 * lower feature index.
 *
 * <p>Clamping after the choice means a row has fewer than k codes when fewer than k pre-activations are positive, and
 * that a negative one never matters. So a row is read once, and what is above the k-th largest so far is set aside
 * and sorted out whenever it has become twice as much: {@code O(features + k log k log features)} for values in random
 * order.
 */
public final class TopKEncoder extends LayerEncoder {

    private static final int LEAST_SPARE = 96;

    private final int k;

    TopKEncoder(LinearLayer layer, int k) {
        super(layer);
        requireFeatures(layer, k);
        this.k = k;
    }

    /**
     * Returns an encoder with weights {@code features x inputWidth} (row j = feature j), one bias per feature, and how
     * many codes to keep.
     */
    public static TopKEncoder of(Matrix weights, double[] bias, int k) {
        return new TopKEncoder(LinearLayer.featureByInput(weights, bias), k);
    }

    /** Returns how many features of a row may be active. */
    public int k() {
        return k;
    }

    @Override
    CodeSelection selection(int rows) {
        return new Largest(rows);
    }

    /**
     * Holds more than k codes of a row at a time, so that they are sorted out rarely; those below the last k-th are not
     * taken.
     */
    private final class Largest extends CodeSelection {

        private final int most = k + Math.max(k, LEAST_SPARE);
        private final double[] smallestKept;

        Largest(int rows) {
            super(rows, k + Math.max(k, LEAST_SPARE));
            smallestKept = new double[rows];
        }

        @Override
        void take(int row, int first, double[] preActivations, int at, int count) {
            double smallest = smallestKept[row];
            for (int j = 0; j < count; j++) {
                if (preActivations[at + j] > smallest) {
                    add(row, first + j, preActivations[at + j]);
                    if (size(row) == most) {
                        smallest = keepLargest(row, k);
                    }
                }
            }
            smallestKept[row] = smallest;
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
