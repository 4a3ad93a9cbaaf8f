package io.plumbline.baseline;

import io.plumbline.geometry.Evidence;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.geometry.Value;
import io.plumbline.requests.RequestTotals;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/**
 * The scores of a window's requests, and the statistics they combine to.
 *
 * <p>A drift reaches a model request by request, and an average of all rows hides the first foreign ones. With the
 * evidence {@code L = -ln p} of each request, {@code request_shift} is the log-mean-exp {@code ln mean exp(0.3 L)}:
 * near 0.36 on clean traffic whatever the number of requests, since {@code exp(0.3 L)} has the mean {@code 1 / 0.7}
 * under a uniform p. It lies between the mean of L, which one foreign request among seventeen hardly moves, and the
 * largest L, {@code worst_request}, which one unusual clean request decides. Exponents of 0.3 to 0.7 found drifts
 * equally often on recorded activations, the smaller ones more evenly. {@code request_fvu} is the log-mean-exp over the
 * requests' reconstructions.
 *
 * <p>{@code request_evidence} takes both together ({@link RequestModel#scoreBoth}): few clean requests are odd in place
 * <em>and</em> in reconstruction, so that the exponent may be 0.7 and two foreign requests count; its usual value is
 * 1.2. {@code request_evidence_by_ranks} is the same of ranks alone, which a level from the baseline's requests holds
 * for.
 *
 * @param missing why there are no scores; null where the baseline has a model of its requests
 * @param means scores of the requests' means
 * @param reconstructions scores of their reconstructions
 * @param both scores of those that have both
 */
public record WindowRequests(
        @Nullable String missing, RequestScores means, RequestScores reconstructions, RequestScores both) {

    private static final String NOT_BOTH = "no request of the window has both its total and encoded rows that vary";

    /** Combines scores of means and reconstructions. */
    WindowRequests(
            @Nullable String missing,
            List<RequestScore> means,
            List<RequestScore> reconstructions,
            List<RequestScore> both) {
        this(
                missing,
                new RequestScores(means, Evidence.EXPONENT),
                new RequestScores(reconstructions, Evidence.EXPONENT),
                new RequestScores(both, Evidence.EXPONENT_OF_BOTH));
    }

    /**
     * Scores the requests of a window.
     *
     * @param model of the baseline's requests; null where it has none
     * @param totals of the window's requests; null where there are none. Totals under another projection than the
     *     model's are as good as none
     * @param errors of the requests' encoded rows
     */
    public static WindowRequests of(
            @Nullable RequestModel model, @Nullable RequestTotals totals, List<RequestError> errors) {
        if (model == null) {
            return new WindowRequests(RequestModel.MISSING, List.of(), List.of(), List.of());
        }
        boolean fits =
                totals != null && totals.projection().equals(model.projection().id());
        return ofScored(
                model, model.score(totals != null && fits ? totals.totals() : List.of()), model.scoreErrors(errors));
    }

    /** Scores the requests of a window whose means and reconstructions are scored. */
    static WindowRequests ofScored(RequestModel model, List<RequestScore> means, List<RequestScore> errors) {
        Map<Long, RequestScore> byRequest = new HashMap<>();
        means.forEach(score -> byRequest.put(score.request(), score));
        List<RequestScore> reconstructions = new ArrayList<>();
        List<RequestScore> both = new ArrayList<>();
        for (RequestScore score : errors) {
            RequestScore mean = byRequest.get(score.request());
            RequestScore named = mean == null ? score : score.named(mean.name());
            reconstructions.add(named);
            RequestScore together = mean == null ? null : model.scoreBoth(mean, named);
            if (together != null) {
                both.add(together);
            }
        }
        return new WindowRequests(null, means, reconstructions, both);
    }

    /** Returns the assessment with the statistics of requests. */
    public GapAssessment addTo(GapAssessment assessment) {
        String noMeans = reason(means, Statistic.REQUEST_SHIFT);
        String noErrors = reason(reconstructions, Statistic.REQUEST_FVU);
        String notBoth = noMeans != null ? noMeans : noErrors != null ? noErrors : reason(both, NOT_BOTH);
        return assessment
                .with(Statistic.REQUEST_SHIFT, value(noMeans, means.combined()))
                .with(Statistic.WORST_REQUEST, value(noMeans, means.largest()))
                .with(Statistic.REQUEST_FVU, value(noErrors, reconstructions.combined()))
                .with(Statistic.REQUEST_EVIDENCE, value(notBoth, both.combined()))
                .with(Statistic.REQUEST_EVIDENCE_BY_RANKS, value(notBoth, both.combinedByRanks()))
                .with(
                        Statistic.REQUESTS_IN_EVIDENCE,
                        value(notBoth, both.requests().size()));
    }

    /**
     * Returns the scores that a statistic combines: of {@code request_fvu} those of reconstructions, of
     * {@code request_evidence} those of both, of all others those of means; where a window lacks these, what it has.
     *
     * @param statistic its name
     */
    public RequestScores of(String statistic) {
        RequestScores asked = statistic.equals(Statistic.REQUEST_FVU.label())
                ? reconstructions
                : statistic.startsWith(Statistic.REQUEST_EVIDENCE.label()) ? both : means;
        return !asked.isEmpty() ? asked : means.isEmpty() ? reconstructions : means;
    }

    private @Nullable String reason(RequestScores scores, Statistic statistic) {
        return reason(scores, statistic.source().missing());
    }

    private @Nullable String reason(RequestScores scores, String none) {
        return missing != null || !scores.isEmpty() ? missing : none;
    }

    private static Value value(@Nullable String reason, double number) {
        return reason == null ? new Value.Known(number) : new Value.Undefined(reason);
    }
}
