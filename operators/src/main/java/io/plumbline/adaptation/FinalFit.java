package io.plumbline.adaptation;

import io.plumbline.refit.FittedDecoder;
import io.plumbline.refit.FittedRows;
import io.plumbline.refit.Refit;
import io.plumbline.refit.RefitInputs;
import io.plumbline.refit.Rotations;
import io.plumbline.refit.SampleRows;

/** Fits a candidate that needs no comparison any more: a plan of one, without figures. */
record FinalFit(SiteDecoders site, AdaptationRows rows, Travelling travelling) {

    /**
     * Fits a candidate on these rows of the window, and on the anchors where there are any.
     *
     * @throws ArithmeticException if these rows do not determine it, or the type cannot hold it
     */
    Travelled on(SampleRows window, Candidate candidate) {
        return travelling.made(candidate, fitted(window, candidate));
    }

    /** Fits the candidate; the rows with their means taken out are gone when this returns. */
    private FittedDecoder fitted(SampleRows window, Candidate candidate) {
        RefitInputs inputs = site.inputs(window, rows);
        return candidate.fit(FittedRows.of(inputs), Rotations.of(inputs), Refit::fitted);
    }
}
