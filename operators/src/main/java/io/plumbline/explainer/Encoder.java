package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;

/**
 * Turns activation rows into feature activations: {@code z = activation(W_enc x + b_enc)}, in {@code double}.
 *
 * <p>Conventions that subtract the decoder bias from the input are folded into {@code b_enc} by the format's reader,
 * so an encoder never depends on a decoder and keeps its meaning when the decoder is swapped.
 *
 * <p>Immutable and thread-safe; the codes of a row do not depend on the rows around it.
 */
public interface Encoder {

    /** Returns the width of the rows it reads, {@code d_in}. */
    int inputWidth();

    /** Returns the number of features it writes, {@code d_sae}. */
    int features();

    /**
     * Returns the codes of {@code rows x inputWidth}. Pre-activations are held for 64 rows at a time, never for all.
     */
    SparseCodes encode(Matrix rows);
}
