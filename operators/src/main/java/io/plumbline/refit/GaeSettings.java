package io.plumbline.refit;

/**
 * The settings that one adaptation is made with.
 *
 * @param rank dimension r of the subspace the dictionary is turned onto; r = d makes Step 1 the identity and Step 2 a
 *     ridge refit towards the trained decoder
 * @param alpha share of the rotated decoder in the result, in [0, 1]: {@code (1 - alpha) W_gae + alpha W~}; 1 skips
 *     Step 2
 */
public record GaeSettings(int rank, Rotation rotation, Regularisation regularisation, double alpha) {

    public GaeSettings {
        if (rank < 1) {
            throw new IllegalArgumentException("rank = %d: expected 1 or more".formatted(rank));
        }
        if (!(alpha >= 0.0 && alpha <= 1.0)) {
            throw new IllegalArgumentException("alpha = %s: expected a share in [0, 1]".formatted(alpha));
        }
    }

    /** Returns whether Step 2 has any part in the result. */
    boolean refits() {
        return alpha < 1.0;
    }
}
