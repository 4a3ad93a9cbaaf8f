package io.plumbline.refit;

import io.plumbline.linalg.Matrix;

/**
 * Three matrices of n x d of which the third is the first less the second: what a linear map gives for the centred
 * targets, for the centred reconstructions by the trained weights, and for what these leave of the targets.
 */
interface Solutions {

    /** Returns what the map gives for the targets. */
    Matrix targets();

    /** Returns what the map gives for the reconstructions by the trained weights. */
    Matrix trained();

    /** Returns what the map gives for the part of the targets that the trained weights leave. */
    Matrix residual();

    /** Returns {@code targets() X}, without the whole where X is narrow and nobody needed it so far. */
    Matrix targetsTimes(Matrix x);

    /** Returns {@code trained() X}, without the whole where X is narrow and nobody needed it so far. */
    Matrix trainedTimes(Matrix x);
}
