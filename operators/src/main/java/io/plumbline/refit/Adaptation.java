package io.plumbline.refit;

import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.ActiveSubspace;

/** The result of adapting a decoder to a window. */
public sealed interface Adaptation {

    /**
     * A refitted decoder.
     *
     * @param decoder the result: weights k x d as on file, and the bias {@code mean y - W mean z} of exactly these
     *     weights
     * @param stepOne the rotated decoder before the refit, with the bias that belongs to it
     * @param active the subspace of the rows fitted on
     * @param alignment singular values of the Procrustes matrix, descending: the rotation is ill-determined when the
     *     last is tiny against the first
     * @param regularisation the weights used, absolute
     */
    record Adapted(
            Decoder decoder, Decoder stepOne, ActiveSubspace active, double[] alignment, Regularisation regularisation)
            implements Adaptation {}

    /** Says that the rows or the dictionary do not determine the answer; the decoder in service stays. */
    record Undecided(String reason) implements Adaptation {}
}
