package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.ExplainerSubspace;

/**
 * The whole of an adaptation: a search among the refits of a profile, and the gate's verdict on the winner. Also "keep the
 * current decoder" is judged, so that every report has the same figures.
 */
public record GatedAdaptation(SearchReport search, GateDecision decision) {

    /**
     * Searches and judges.
     *
     * @param rank the rank the site is watched at
     * @param travelling how the decoder will be published
     * @throws IllegalArgumentException if shapes differ or a part has no rows
     * @throws ArithmeticException if the rows do not determine the winner, or the type cannot hold it
     */
    public static GatedAdaptation of(
            AdaptationProfile profile,
            SwapGate gate,
            Decoder trained,
            ExplainerSubspace trainedSubspace,
            ServingDecoder current,
            AdaptationRows rows,
            int rank,
            Travelling travelling) {
        AdaptationRows used = profile.anchors()
                ? rows
                : new AdaptationRows(rows.fit(), rows.choose(), rows.refit(), rows.judge(), null, rows.check());
        SearchReport search = profile.search(rank, trained.dimension())
                .search(trained, trainedSubspace, current.decoder(), used, gate, travelling);
        return new GatedAdaptation(
                search,
                gate.judge(
                        trained,
                        trainedSubspace,
                        current,
                        new SwapGate.Proposal(search.decoder(), search.gram()),
                        rows.judge(),
                        rows.check(),
                        rank));
    }

    /** Whether there is a decoder to publish. */
    public boolean publishes() {
        return !search.keepsCurrent() && decision.publishes();
    }
}
