package io.plumbline.topology.adaptation;

import io.plumbline.adaptation.AdaptationRows;
import io.plumbline.adaptation.BaselineRows;
import io.plumbline.adaptation.GateDecision;
import io.plumbline.adaptation.GateLimits;
import io.plumbline.adaptation.GatedAdaptation;
import io.plumbline.adaptation.SearchReport;
import io.plumbline.adaptation.ServingDecoder;
import io.plumbline.adaptation.SiteDecoders;
import io.plumbline.adaptation.SwapGate;
import io.plumbline.explainer.Explainer;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.moments.SampleSplit;
import io.plumbline.moments.SampledRow;
import io.plumbline.refit.Reconstruction;
import io.plumbline.requests.CleanRequests;
import io.plumbline.requests.DistinctRequests;
import io.plumbline.topology.adaptation.AdaptationReport.CandidateFigures;
import io.plumbline.topology.adaptation.AdapterAnswer.Publication;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.assessment.WindowCodes;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ForkJoinPool;
import java.util.concurrent.ForkJoinTask;
import org.jspecify.annotations.Nullable;

/**
 * Fits, checks and decides for one site. Pure but for the clock; window-independent parts are computed once.
 *
 * <p>The pooled rows without their repeats are split by whole requests into stretches of time to fit, to choose and to
 * judge on. The gate judges the decoder as it will travel, rounded to the configured type.
 */
final class SiteRefit {

    private static final String BEING_COMPUTED =
            "all directions of the dictionary are being computed, once: the rows wait for those of the next drifted "
                    + "window";

    private final String site;
    private final Explainer explainer;
    private final int rank;
    private final AdaptationSettings settings;
    private final WindowCodes codes;
    private final @Nullable BehaviourGate gate;
    private final List<Integer> watched;
    private final ForkJoinTask<CleanTraffic> clean;
    private final ExplainerSubspace trainedSubspace;
    private final String parentSha256;
    private final boolean takesAllDirections;

    /** Holds what a refit needs of the rows that the baseline keeps. */
    private record CleanTraffic(
            BaselineRows rows,
            CleanRequests requests,
            @Nullable String misread) {

        static CleanTraffic of(Explainer explainer, List<SampledRow> rows) {
            BaselineRows encoded = BaselineRows.of(explainer.encoder(), rows, explainer.targetWidth());
            return new CleanTraffic(encoded, CleanRequests.of(rows), encoded.misread(explainer));
        }
    }

    /**
     * Begins to encode the rows of clean traffic, on another thread: the first refit waits for them. Where the profile
     * takes all directions of the dictionary, it begins to compute these too, for which no refit waits.
     *
     * @param trainedSubspace of the explainer's decoder, at any rank
     * @param baselineRows rows of clean traffic, request after request
     * @param rank the rank the site is watched at
     * @param codes what the monitor of this process has encoded
     * @param gate judges by what the model does; null where the gate does not ask that
     * @param watched features that somebody relies on
     */
    SiteRefit(
            String site,
            Explainer explainer,
            ExplainerSubspace trainedSubspace,
            List<SampledRow> baselineRows,
            int rank,
            AdaptationSettings settings,
            WindowCodes codes,
            @Nullable BehaviourGate gate,
            List<Integer> watched) {
        // Encoding thousands of rows takes longer than joining a group does; nobody asks for them before a window has
        // drifted.
        this.clean = ForkJoinPool.commonPool().submit(() -> CleanTraffic.of(explainer, baselineRows));
        this.takesAllDirections = settings.profile().takesAllDirections(trainedSubspace.dimension());
        if (takesAllDirections) {
            trainedSubspace.begin();
        }
        this.site = site;
        this.explainer = explainer;
        this.rank = rank;
        this.settings = settings;
        this.codes = codes;
        this.gate = gate;
        this.watched = watched;
        this.trainedSubspace = trainedSubspace;
        this.parentSha256 = explainer.decoder().sha256();
    }

    /**
     * Answers a request to adapt. Never throws for what the rows are like: what cannot be done is an outcome with its
     * reason. A decoder that passed the gate has no version yet.
     *
     * @param limits what the gate asks
     */
    AdapterAnswer adapt(AdaptationMessage.Adapt request, PooledRows pool, ServingDecoder current, GateLimits limits) {
        long begin = System.nanoTime();
        try {
            return fit(request, pool, current, limits, begin);
        } catch (IllegalArgumentException | ArithmeticException e) {
            return AdapterAnswer.said(answer(request, Outcome.FAILED, String.valueOf(e.getMessage()), begin));
        }
    }

    private AdapterAnswer fit(
            AdaptationMessage.Adapt request, PooledRows pool, ServingDecoder current, GateLimits limits, long begin) {
        if (takesAllDirections && !trainedSubspace.isComplete()) {
            // These take longer than the group or a transaction waits for.
            return AdapterAnswer.said(answer(request, Outcome.POOLED, BEING_COMPUTED, begin));
        }
        CleanTraffic traffic = clean.join();
        if (traffic.misread() != null) {
            return AdapterAnswer.said(answer(request, Outcome.REFUSED, traffic.misread(), begin));
        }
        DistinctRequests distinct =
                DistinctRequests.forRefit(pool.rows(), pool.rate(), traffic.requests(), pool.fitted());
        if (distinct.refusal() != null) {
            return AdapterAnswer.said(answer(request, Outcome.REFUSED, distinct.refusal(), begin));
        }
        SampleSplit split = pool.split(distinct.rows(), settings.validationShare());
        if (!split.judgeIsIndependent()) {
            return AdapterAnswer.said(answer(
                    request,
                    Outcome.POOLED,
                    ("%s%s, expected at least %d, %d of them to judge on: too few, "
                                    + "the rows wait for those of the next drifted window")
                            .formatted(
                                    distinct.count(),
                                    pool.fitted().isEmpty()
                                            ? ""
                                            : ", %d of them new to the decoder in service".formatted(split.requests()),
                                    SampleSplit.LEAST_REQUESTS,
                                    SampleSplit.LEAST_TO_JUDGE),
                    begin));
        }
        AdaptationRows rows =
                AdaptationRows.of(explainer.encoder(), codes.newest(), split, traffic.rows(), explainer.targetWidth());
        GatedAdaptation adaptation = GatedAdaptation.of(
                settings.profile(),
                new SwapGate(limits, gate == null ? null : gate.judge(split, pool.whole()), watched),
                new SiteDecoders(explainer.decoder(), trainedSubspace, current, rank),
                rows,
                settings.dtype());
        AdaptationReport report = report(request, pool, rows, adaptation, split.kinds(), seconds(begin));
        return adaptation.publishes()
                ? new AdapterAnswer(report, publication(report, adaptation.search()), null, null)
                : AdapterAnswer.said(report);
    }

    private Publication publication(AdaptationReport report, SearchReport search) {
        return new Publication(
                0, DecoderKind.ADAPTED, search.decoder(), settings.dtype(), Lineage.of(report, search), parentSha256);
    }

    private AdaptationReport report(
            AdaptationMessage.Adapt request,
            PooledRows pool,
            AdaptationRows rows,
            GatedAdaptation adaptation,
            int kinds,
            double seconds) {
        SearchReport search = adaptation.search();
        GateDecision decision = adaptation.decision();
        Outcome outcome =
                search.keepsCurrent() ? Outcome.KEPT : decision.publishes() ? Outcome.PUBLISHED : Outcome.REFUSED;
        String reason = search.keepsCurrent() ? keeping(search) : reason(adaptation) + judgedOn(kinds);
        GateDecision.Figures figures = decision.figures();
        return new AdaptationReport(
                site,
                request.windowStartMs(),
                request.windowEndMs(),
                outcome,
                reason,
                0,
                request.rows(),
                pool.windows(),
                pool.size(),
                rows.refit().rows(),
                rows.judge().rows(),
                search.best().candidate().describe(),
                figures.gapBefore(),
                figures.gapAfter(),
                figures.before().fvu(),
                figures.after().fvu(),
                figures(search),
                search.keepsCurrent() ? null : GateVerdict.of(adaptation),
                seconds);
    }

    private static String reason(GatedAdaptation adaptation) {
        String found = adaptation.decision().reason();
        if (!adaptation.publishes()) {
            return found;
        }
        String judgedStays = adaptation.judgedStays();
        return judgedStays == null
                ? "%s; published as fitted on all %d rows".formatted(found, adaptation.publishedRows())
                : "%s; published as judged, since fitted on all rows it fails: %s".formatted(found, judgedStays);
    }

    /** Says on how many kinds of requests the gate judged, where these are several. */
    private static String judgedOn(int kinds) {
        return kinds == 1 ? "" : "; judged on %d kinds of requests".formatted(kinds);
    }

    private static String keeping(SearchReport search) {
        if (search.best().refusal() != null) {
            return search.best().refusal();
        }
        SearchReport.Figures last = search.candidates().get(search.candidates().size() - 1);
        return search.candidates().size() == 2 && last.refusal() != null
                ? "\"%s\" could not be fitted and nothing else was tried: %s"
                        .formatted(last.candidate().describe(), last.refusal())
                : "no candidate within the limits reconstructs the rows to choose by better than the decoder in "
                        + "service";
    }

    private static List<CandidateFigures> figures(SearchReport search) {
        List<CandidateFigures> figures = new ArrayList<>();
        for (SearchReport.Figures one : search.candidates()) {
            figures.add(new CandidateFigures(
                    one.candidate().describe(),
                    fvu(one.fit()),
                    fvu(one.validation()),
                    fvu(one.inDistribution()),
                    one.divergence(),
                    one.refusal()));
        }
        return figures;
    }

    private static @Nullable Double fvu(@Nullable Reconstruction reconstruction) {
        return reconstruction == null ? null : reconstruction.fvu();
    }

    private AdaptationReport answer(AdaptationMessage.Adapt request, Outcome outcome, String reason, long beginNanos) {
        return AdaptationReport.of(site, request, outcome, reason, List.of(), seconds(beginNanos));
    }

    private static double seconds(long beginNanos) {
        return (System.nanoTime() - beginNanos) / 1e9;
    }
}
