package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.refit.SampleRows;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The whole of an adaptation: a search among the refits of a profile, the gate's verdict on the winner, and the winner
 * fitted once more on every row. Also "keep the current decoder" is judged, so that every report has the same figures.
 *
 * <p><b>What is published.</b> The rows that judged a decoder are worth as much as others to fit on: on recorded German
 * and filings all rows gave an FVU of .277 and .173 where those left by the judge gave .308 and .180. So a decoder that
 * passed is fitted again on all of them, with the settings it was chosen with, and must pass the tests that need no
 * rows of the window ({@code features}, {@code id_cost}) once more. Where it does not, the judged decoder is published.
 * All figures are those of the judged decoder: nothing is left to measure the last one on.
 *
 * <p><b>Memory.</b> The judged decoder is given up before the last one is made, and made anew where it is needed after
 * all.
 *
 * @param search every candidate, and the decoder to publish
 * @param decision on the winner as it was fitted without the rows to judge on
 * @param publishedRows rows of the window that the decoder of {@code search} was fitted on
 * @param judgedStays why the decoder fitted on all rows is not the one to publish, a sentence without a full stop, or
 *     null
 */
public record GatedAdaptation(
        SearchReport search,
        GateDecision decision,
        int publishedRows,
        @Nullable String judgedStays) {

    /**
     * Searches, judges, and fits again what passed.
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
        AdaptationRows used = profile.anchors() ? rows : rows.withoutAnchor();
        CandidateSearch candidates = profile.search(rank, trained.dimension(), used.anchor() != null);
        GatedAdaptation judged = judged(candidates, gate, trained, trainedSubspace, current, used, rank, travelling);
        if (!judged.publishes() || rows.all().equals(rows.refit())) {
            return judged;
        }
        Winner winner = new Winner(judged.search.candidates(), judged.search.best(), judged.decision);
        // The last decoder takes the place of the judged one.
        judged = null;
        return winner.onAllRows(new FinalFit(trained, trainedSubspace, used, travelling), gate);
    }

    private static GatedAdaptation judged(
            CandidateSearch candidates,
            SwapGate gate,
            Decoder trained,
            ExplainerSubspace trainedSubspace,
            ServingDecoder current,
            AdaptationRows rows,
            int rank,
            Travelling travelling) {
        SearchReport search = candidates.search(trained, trainedSubspace, current.decoder(), rows, gate, travelling);
        SwapGate.Proposal proposal = new SwapGate.Proposal(search.decoder(), search.gram());
        GateDecision decision =
                gate.judge(trained, trainedSubspace, current, proposal, rows.judge(), rows.check(), rank);
        return new GatedAdaptation(search, decision, rows.refit().rows(), null);
    }

    /** Returns whether there is a decoder to publish. */
    public boolean publishes() {
        return !search.keepsCurrent() && decision.publishes();
    }

    /** Holds what the search found, without a decoder. */
    private record Winner(List<SearchReport.Figures> candidates, SearchReport.Figures best, GateDecision decision) {

        GatedAdaptation onAllRows(FinalFit fit, SwapGate gate) {
            SampleRows all = fit.rows().all();
            String failed;
            try {
                Travelled last = fit.on(all, best.candidate());
                if (last.factors() != null) {
                    // Their publication names its hash, which one core takes longer for than all do for these tests.
                    ForkJoinPool.commonPool().execute(last.decoder()::sha256);
                }
                failed = failed(fit, gate, last.decoder());
                if (failed == null) {
                    return published(last, all.rows(), null);
                }
            } catch (ArithmeticException e) {
                failed = String.valueOf(e.getMessage());
            }
            SampleRows judged = fit.rows().refit();
            return published(fit.on(judged, best.candidate()), judged.rows(), failed);
        }

        private static @Nullable String failed(FinalFit fit, SwapGate gate, Decoder decoder) {
            String findings = gate
                    .withoutTheWindow(fit.trained(), decoder, fit.rows().check())
                    .stream()
                    .filter(test -> !test.passed())
                    .map(GateTest::finding)
                    .collect(Collectors.joining("; "));
            return findings.isEmpty() ? null : findings;
        }

        private GatedAdaptation published(Travelled made, int rows, @Nullable String judgedStays) {
            SearchReport search = new SearchReport(candidates, best, made.decoder(), made.factors(), null);
            return new GatedAdaptation(search, decision, rows, judgedStays);
        }
    }
}
