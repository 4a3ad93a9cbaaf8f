package io.plumbline.explainer;

/**
 * Keeps k pre-activations {@code W_enc x + b_enc} of a row with their signs: the largest ones, as circuit-tracer does,
 * or the largest in amount, which SAELens calls abstopk. Nothing is clamped; equal ones go to the lower feature index.
 */
public final class SignedTopKEncoder extends LayerEncoder {

    private final int k;
    private final boolean byAmount;

    public SignedTopKEncoder(LinearLayer layer, int k, boolean byAmount) {
        super(layer);
        requireFeatures(layer, k);
        this.k = k;
        this.byAmount = byAmount;
    }

    @Override
    CodeSelection selection(int rows) {
        return byAmount ? LargestCodes.ofAmount(rows, k) : LargestCodes.ofValue(rows, k);
    }
}
