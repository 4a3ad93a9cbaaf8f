package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.refit.FittedDecoder;
import io.plumbline.refit.FittedRows;
import io.plumbline.refit.Refit;
import io.plumbline.refit.RefitInputs;
import io.plumbline.refit.Rotations;
import io.plumbline.refit.SampleRows;
import io.plumbline.wire.DType;

/**
 * Fits a candidate that needs no comparison any more: a plan of one, without figures.
 *
 * @param dtype the type the decoder is published in
 */
record FinalFit(SiteDecoders site, AdaptationRows rows, DType dtype) {

    /**
     * Fits a candidate on these rows of the window, and on the anchors where there are any.
     *
     * @throws ArithmeticException if these rows do not determine it, or the type cannot hold it
     */
    Decoder on(SampleRows window, Candidate candidate) {
        return fitted(window, candidate).decoder(candidate.describe(), dtype);
    }

    /** Fits the candidate; the rows with their means taken out are gone when this returns. */
    private FittedDecoder fitted(SampleRows window, Candidate candidate) {
        RefitInputs inputs = site.inputs(window, rows);
        return candidate.fit(FittedRows.of(inputs), Rotations.of(inputs), Refit::fitted);
    }
}
