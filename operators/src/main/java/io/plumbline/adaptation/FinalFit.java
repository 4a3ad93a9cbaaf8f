package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.ExplainerSubspace;

/** Fits a candidate that needs no comparison any more. One level is factored, and no figures are computed. */
record FinalFit(Decoder trained, ExplainerSubspace trainedSubspace, AdaptationRows rows, Travelling travelling) {

    /**
     * Fits a candidate on these rows of the window, and on the anchors where there are any.
     *
     * @throws ArithmeticException if these rows do not determine it, or the type cannot hold it
     */
    SearchRun.Travelled on(SampleRows window, Candidate candidate) {
        SearchRun run = CandidateSearch.run(trained, trainedSubspace, window, rows);
        run.keepFactorsOf(candidate);
        return run.travelled(candidate, travelling);
    }
}
