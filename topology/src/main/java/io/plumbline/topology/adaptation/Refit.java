package io.plumbline.topology.adaptation;

import io.plumbline.adaptation.Candidate;
import io.plumbline.adaptation.CandidateSearch;
import io.plumbline.adaptation.GateDecision;
import io.plumbline.adaptation.Reconstruction;
import io.plumbline.adaptation.SampleRows;
import io.plumbline.adaptation.SearchReport;
import io.plumbline.adaptation.SwapGate;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampleSplit;
import io.plumbline.topology.adaptation.AdaptationReport.CandidateFigures;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.wire.DType;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Fits, checks and decides for one site. Pure but for the clock; window-independent parts are computed once.
 *
 * <p>The sample is split by whole requests: one part is fitted on, the other chooses between the candidates and is what
 * the gate judges on. The gate judges the decoder as it will travel, rounded to the configured type.
 */
final class Refit {

    private final String site;
    private final Explainer explainer;
    private final int rank;
    private final AdaptationSettings settings;
    private final ExplainerSubspace trainedSubspace;
    private final String parentSha256;
    private final DType revertType;

    /** @param rank the rank the site is watched at */
    Refit(String site, Explainer explainer, int rank, AdaptationSettings settings) {
        this.site = site;
        this.explainer = explainer;
        this.rank = rank;
        this.settings = settings;
        this.trainedSubspace = ExplainerSubspace.ofWeights(explainer.decoder().weights(), rank);
        this.parentSha256 = explainer.decoder().sha256();
        this.revertType = settings.revertType(explainer.decoder());
    }

    /**
     * Answers a request to adapt. Never throws for what the rows are like: what cannot be done is an outcome with its
     * reason.
     *
     * @param current the decoder in service
     */
    AdaptationOutcome adapt(AdaptationMessage.Adapt request, RowSample sample, Decoder current) {
        long begin = System.nanoTime();
        try {
            return fit(request, sample, current, begin);
        } catch (IllegalArgumentException | ArithmeticException e) {
            return new AdaptationOutcome.Keep(failed(request, String.valueOf(e.getMessage()), begin));
        }
    }

    private AdaptationOutcome fit(AdaptationMessage.Adapt request, RowSample sample, Decoder current, long begin) {
        SampleSplit split = SampleSplit.of(sample.rows(), settings.validationShare());
        if (split.refit().size() < 2 || split.judge().size() < 2) {
            return new AdaptationOutcome.Keep(failed(
                    request,
                    "%d sampled rows leave %d to fit on and %d of other requests to check with; the window holds too few requests"
                            .formatted(
                                    sample.size(),
                                    split.refit().size(),
                                    split.judge().size()),
                    begin));
        }
        SampleRows fit = SampleRows.of(explainer.encoder(), split.refit(), explainer.targetWidth());
        SampleRows validation = SampleRows.of(explainer.encoder(), split.judge(), explainer.targetWidth());
        SearchReport search = candidates().search(explainer.decoder(), trainedSubspace, current, fit, validation);
        GateDecision decision =
                new SwapGate(settings.minimumImprovement()).judge(current, search.decoder(), validation, rank);
        String outcome = search.keepsCurrent()
                ? AdaptationReport.KEPT
                : decision instanceof GateDecision.Publish ? AdaptationReport.PUBLISHED : AdaptationReport.REFUSED;
        String reason =
                switch (outcome) {
                    case AdaptationReport.KEPT ->
                        "no candidate reconstructs the validation rows better than the decoder in service";
                    case AdaptationReport.PUBLISHED ->
                        String.format(
                                Locale.ROOT,
                                "held-out FVU %.4f -> %.4f on %d rows",
                                decision.figures().before().fvu(),
                                decision.figures().after().fvu(),
                                validation.rows());
                    default -> ((GateDecision.Refuse) decision).reason();
                };
        AdaptationReport report = new AdaptationReport(
                site,
                request.windowStartMs(),
                request.windowEndMs(),
                outcome,
                reason,
                0,
                request.rows(),
                fit.rows(),
                validation.rows(),
                search.best().candidate().describe(),
                decision.figures().gapBefore(),
                decision.figures().gapAfter(),
                decision.figures().before().fvu(),
                decision.figures().after().fvu(),
                figures(search),
                seconds(begin));
        return outcome.equals(AdaptationReport.PUBLISHED)
                ? new AdaptationOutcome.Publish(
                        report,
                        search.decoder(),
                        settings.dtype(),
                        lineage(report, search.best().candidate()),
                        parentSha256)
                : new AdaptationOutcome.Keep(report);
    }

    private CandidateSearch candidates() {
        CandidateSearch search = settings.fixed() == null
                ? CandidateSearch.withDefaults(rank, explainer.targetWidth())
                : CandidateSearch.of(List.of(settings.fixed()));
        return search.writtenAs(settings.dtype());
    }

    private static List<CandidateFigures> figures(SearchReport search) {
        List<CandidateFigures> figures = new ArrayList<>();
        for (SearchReport.Figures one : search.candidates()) {
            figures.add(new CandidateFigures(
                    one.candidate().describe(), fvu(one.fit()), fvu(one.validation()), one.refusal()));
        }
        return figures;
    }

    private static @Nullable Double fvu(@Nullable Reconstruction reconstruction) {
        return reconstruction == null ? null : reconstruction.fvu();
    }

    private static Map<String, String> lineage(AdaptationReport report, Candidate candidate) {
        Map<String, String> lineage = new TreeMap<>();
        lineage.put("window_start_ms", Long.toString(report.windowStartMs()));
        lineage.put("window_end_ms", Long.toString(report.windowEndMs()));
        lineage.put("rows", Long.toString(report.rows()));
        lineage.put("fit_rows", Integer.toString(report.fitRows()));
        lineage.put("validation_rows", Integer.toString(report.validationRows()));
        lineage.put("candidate", candidate.describe());
        if (candidate instanceof Candidate.Refit refit) {
            lineage.put("rank", Integer.toString(refit.settings().rank()));
            lineage.put("rotation", refit.settings().rotation().name().toLowerCase(Locale.ROOT));
            lineage.put(
                    "lambda_geometric",
                    Double.toString(refit.settings().regularisation().geometric()));
            lineage.put(
                    "lambda_preservation",
                    Double.toString(refit.settings().regularisation().preservation()));
            lineage.put(
                    "relative_lambdas",
                    Boolean.toString(refit.settings().regularisation().relative()));
            lineage.put("alpha", Double.toString(refit.settings().alpha()));
        }
        lineage.put("fvu_before", String.valueOf(report.fvuBefore()));
        lineage.put("fvu_after", String.valueOf(report.fvuAfter()));
        lineage.put("faithfulness_gap_before", String.valueOf(report.faithfulnessGapBefore()));
        lineage.put("faithfulness_gap_after", String.valueOf(report.faithfulnessGapAfter()));
        return lineage;
    }

    /** The answer to a request to return to the trained decoder. */
    AdaptationOutcome.Revert revert(AdaptationMessage.Revert request) {
        AdaptationReport report = answer(
                0,
                request.windowEndMs(),
                AdaptationReport.REVERTED,
                "the site is aligned again; the trained decoder returns",
                0,
                0.0);
        return new AdaptationOutcome.Revert(report, explainer.decoder(), revertType, parentSha256);
    }

    /** The answer to a request that cannot be carried out. */
    AdaptationReport failed(AdaptationMessage.Adapt request, String reason, long beginNanos) {
        return answer(
                request.windowStartMs(),
                request.windowEndMs(),
                AdaptationReport.FAILED,
                reason,
                request.rows(),
                seconds(beginNanos));
    }

    private AdaptationReport answer(
            long windowStartMs, long windowEndMs, String outcome, String reason, long rows, double seconds) {
        return new AdaptationReport(
                site,
                windowStartMs,
                windowEndMs,
                outcome,
                reason,
                0,
                rows,
                0,
                0,
                null,
                null,
                null,
                null,
                null,
                List.of(),
                seconds);
    }

    private static double seconds(long beginNanos) {
        return (System.nanoTime() - beginNanos) / 1e9;
    }
}
