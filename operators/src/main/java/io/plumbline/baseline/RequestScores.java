package io.plumbline.baseline;

import java.util.Comparator;
import java.util.List;
import java.util.function.ToDoubleFunction;

/**
 * The scores of a window's requests in one respect, and how their evidence is combined.
 *
 * @param requests in any order
 * @param exponent the weight a of a request's evidence in {@code ln mean exp(a L)}: the larger, the more the farthest
 *     request decides
 */
public record RequestScores(List<RequestScore> requests, double exponent) {

    public RequestScores {
        requests = List.copyOf(requests);
    }

    public boolean isEmpty() {
        return requests.isEmpty();
    }

    /** Returns the scores, in their order; those of means compare with {@link RequestModel#baselineScores}. */
    public double[] scores() {
        return requests.stream().mapToDouble(RequestScore::score).toArray();
    }

    /** Returns {@code ln mean exp(a L)}; NaN for no request. */
    public double combined() {
        return logMeanExp(RequestScore::evidence);
    }

    /** Returns the same of ranks alone, without a model of the tail. */
    double combinedByRanks() {
        return logMeanExp(score -> -Math.log(score.rank()));
    }

    private double logMeanExp(ToDoubleFunction<RequestScore> evidence) {
        double sum = 0.0;
        for (RequestScore score : requests) {
            sum += Math.exp(exponent * evidence.applyAsDouble(score));
        }
        return Math.log(sum / requests.size());
    }

    /** Returns the largest L; NaN for no request. */
    double largest() {
        return requests.stream().mapToDouble(RequestScore::evidence).max().orElse(Double.NaN);
    }

    /** Returns all requests, those with most evidence first. */
    public List<Worst> worstFirst() {
        return worst(requests.size());
    }

    /**
     * Returns the requests with most evidence, largest first.
     *
     * @param most how many at most
     */
    public List<Worst> worst(int most) {
        double sum = 0.0;
        for (RequestScore score : requests) {
            sum += Math.exp(exponent * score.evidence());
        }
        double whole = sum;
        return requests.stream()
                .sorted(Comparator.comparingDouble(RequestScore::pValue)
                        .thenComparing(
                                Comparator.comparingDouble(RequestScore::score).reversed())
                        .thenComparingLong(RequestScore::request))
                .limit(most)
                .map(score -> new Worst(score, Math.exp(exponent * score.evidence()) / whole))
                .toList();
    }

    /**
     * One of the worst requests.
     *
     * @param share of the evidence of the window, {@code exp(a L) / sum exp(a L)}, in [0, 1]
     */
    public record Worst(RequestScore score, double share) {}
}
