package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;

/**
 * Keeps the k largest pre-activations {@code W_enc x + b_enc} of a row and clamps those at 0; equal ones go to the
 * lower feature index.
 *
 * <p>Clamping after the choice means a row has fewer than k codes when fewer than k pre-activations are positive, and
 * that a negative one never matters. {@code O(features + k log features)} a row beside the product.
 */
public final class TopKEncoder extends LayerEncoder {

    private final int k;

    public TopKEncoder(LinearLayer layer, int k) {
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
        return LargestCodes.positive(rows, k);
    }
}
