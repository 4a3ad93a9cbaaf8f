package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import io.plumbline.refit.SampleRows;
import io.plumbline.wire.DType;
import java.util.List;
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
     * @param dtype the type the decoder will be published in
     * @throws IllegalArgumentException if shapes differ or a part has no rows
     * @throws ArithmeticException if the rows do not determine the winner, or the type cannot hold it
     */
    public static GatedAdaptation of(
            AdaptationProfile profile, SwapGate gate, SiteDecoders site, AdaptationRows rows, DType dtype) {
        AdaptationRows used = profile.anchors() ? rows : rows.withoutAnchor();
        CandidateSearch candidates = profile.search(site.rank(), site.trained().dimension(), used.anchor() != null);
        // All candidates take the same directions: which others were known by then would depend on the threads.
        SiteDecoders decoders = profile.takesAllDirections(site.trained().dimension()) ? site.exact() : site;
        FinalFit fit = new FinalFit(decoders, used, dtype);
        // Where the winner is fitted again, nothing holds the judged decoder any more.
        return judged(candidates, gate, fit).published(fit, gate);
    }

    private static Judged judged(CandidateSearch candidates, SwapGate gate, FinalFit fit) {
        AdaptationRows rows = fit.rows();
        SearchReport search = candidates.search(fit.site(), rows, gate, fit.dtype());
        SwapGate.Proposal proposal = new SwapGate.Proposal(search.decoder(), search.gram());
        GateDecision decision = gate.judge(fit.site(), proposal, rows.judge(), rows.check());
        GatedAdaptation asJudged =
                new GatedAdaptation(search, decision, rows.refit().rows(), null);
        return asJudged.publishes() && !rows.all().equals(rows.refit())
                ? new Winner(search.candidates(), search.best(), decision)
                : new Last(asJudged);
    }

    /** Returns whether there is a decoder to publish. */
    public boolean publishes() {
        return !search.keepsCurrent() && decision.publishes();
    }

    /** The result of the gate. */
    private sealed interface Judged {
        GatedAdaptation published(FinalFit fit, SwapGate gate);
    }

    /** A search whose decoder is not fitted again: it was refused, or fitted on every row. */
    private record Last(GatedAdaptation adaptation) implements Judged {
        @Override
        public GatedAdaptation published(FinalFit fit, SwapGate gate) {
            return adaptation;
        }
    }

    /** A search whose decoder is fitted again on every row, without the judged one. */
    private record Winner(List<SearchReport.Figures> candidates, SearchReport.Figures best, GateDecision decision)
            implements Judged {

        @Override
        public GatedAdaptation published(FinalFit fit, SwapGate gate) {
            SampleRows all = fit.rows().all();
            String failed;
            try {
                Decoder last = fit.on(all, best.candidate());
                failed = failed(fit, gate, last);
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
                    .withoutTheWindow(fit.site().trained(), decoder, fit.rows().check())
                    .stream()
                    .filter(test -> !test.passed())
                    .map(GateTest::finding)
                    .collect(Collectors.joining("; "));
            return findings.isEmpty() ? null : findings;
        }

        private GatedAdaptation published(Decoder decoder, int rows, @Nullable String judgedStays) {
            SearchReport search = new SearchReport(candidates, best, decoder, null);
            return new GatedAdaptation(search, decision, rows, judgedStays);
        }
    }
}
