package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.refit.FittedDecoder;
import io.plumbline.refit.SampleRows;

/** Fits a candidate that needs no comparison any more. One level is factored, and no figures are computed. */
record FinalFit(Decoder trained, ExplainerSubspace trainedSubspace, AdaptationRows rows, Travelling travelling) {

    /**
     * Fits a candidate on these rows of the window, and on the anchors where there are any.
     *
     * @throws ArithmeticException if these rows do not determine it, or the type cannot hold it
     */
    Travelled on(SampleRows window, Candidate candidate) {
        return travelling.made(candidate, fitted(window, candidate));
    }

    /** Fits the candidate; the solutions are gone when this returns. */
    private FittedDecoder fitted(SampleRows window, Candidate candidate) {
        return candidate
                .on(CandidateSearch.inputs(trained, trainedSubspace, window, rows)
                        .solutions())
                .fitted(false);
    }
}
