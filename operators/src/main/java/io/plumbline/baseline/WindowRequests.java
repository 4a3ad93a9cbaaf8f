package io.plumbline.baseline;

import io.plumbline.geometry.Evidence;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.geometry.Value;
import io.plumbline.requests.RequestTotal;
import io.plumbline.requests.RequestTotals;
import java.util.Comparator;
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
 * @param missing why there are no scores; null where the baseline has a model of its requests
 * @param means scores of the requests' means, in any order
 * @param reconstructions scores of their reconstructions, in any order
 */
public record WindowRequests(@Nullable String missing, List<RequestScore> means, List<RequestScore> reconstructions) {

    public WindowRequests {
        means = List.copyOf(means);
        reconstructions = List.copyOf(reconstructions);
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
            return new WindowRequests(RequestModel.MISSING, List.of(), List.of());
        }
        boolean fits =
                totals != null && totals.projection().equals(model.projection().id());
        List<RequestTotal> requests = totals != null && fits ? totals.totals() : List.of();
        Map<Long, String> names = new HashMap<>();
        for (RequestTotal request : requests) {
            if (request.name() != null) {
                names.put(request.request(), request.name());
            }
        }
        return new WindowRequests(
                null,
                model.score(requests),
                model.scoreErrors(errors).stream()
                        .map(score -> score.named(names.get(score.request())))
                        .toList());
    }

    /** Returns the assessment with the statistics of requests. */
    public GapAssessment addTo(GapAssessment assessment) {
        String noMeans = missing != null || !means.isEmpty()
                ? missing
                : Statistic.REQUEST_SHIFT.source().missing();
        String noErrors = missing != null || !reconstructions.isEmpty()
                ? missing
                : Statistic.REQUEST_FVU.source().missing();
        return assessment
                .with(Statistic.REQUEST_SHIFT, value(noMeans, logMeanExp(means)))
                .with(Statistic.WORST_REQUEST, value(noMeans, largest(means)))
                .with(Statistic.REQUEST_FVU, value(noErrors, logMeanExp(reconstructions)));
    }

    /**
     * Returns the scores of the requests' means, in their order; to compare with {@link RequestModel#baselineScores}.
     */
    public double[] scores() {
        return means.stream().mapToDouble(RequestScore::score).toArray();
    }

    /**
     * Returns the requests with most evidence, largest first.
     *
     * @param scores {@link #means} or {@link #reconstructions}
     * @param most how many at most
     */
    public static List<Worst> worst(List<RequestScore> scores, int most) {
        double sum = 0.0;
        for (RequestScore score : scores) {
            sum += Math.exp(Evidence.EXPONENT * score.evidence());
        }
        double whole = sum;
        return scores.stream()
                .sorted(Comparator.comparingDouble(RequestScore::pValue)
                        .thenComparing(
                                Comparator.comparingDouble(RequestScore::score).reversed())
                        .thenComparingLong(RequestScore::request))
                .limit(most)
                .map(score -> new Worst(score, Math.exp(Evidence.EXPONENT * score.evidence()) / whole))
                .toList();
    }

    /**
     * One of the worst requests.
     *
     * @param share of the evidence of the window, {@code exp(0.3 L) / sum exp(0.3 L)}, in [0, 1]
     */
    public record Worst(RequestScore score, double share) {}

    private static double logMeanExp(List<RequestScore> scores) {
        double sum = 0.0;
        for (RequestScore score : scores) {
            sum += Math.exp(Evidence.EXPONENT * score.evidence());
        }
        return Math.log(sum / scores.size());
    }

    private static double largest(List<RequestScore> scores) {
        return scores.stream().mapToDouble(RequestScore::evidence).max().orElse(Double.NaN);
    }

    private static Value value(@Nullable String reason, double number) {
        return reason == null ? new Value.Known(number) : new Value.Undefined(reason);
    }
}
