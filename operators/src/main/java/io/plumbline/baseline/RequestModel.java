package io.plumbline.baseline;

import io.plumbline.geometry.Evidence;
import io.plumbline.groups.GroupSpace;
import io.plumbline.linalg.Matrix;
import io.plumbline.requests.RequestProjection;
import io.plumbline.requests.RequestTotal;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Says how the requests of a baseline differ from each other, and so how far another request is from them.
 *
 * <p><b>Score of the mean:</b> {@code min(1, n/n0) (x - m)' P (x - m)} with the mean x of the request's n rows in the
 * target space, location m and precision P of the baseline's request means ({@link WhitenedMeans}) and n0 the mean
 * number of rows of its requests. <b>Score of the reconstruction:</b> FVU of the request's n encoded rows. Each becomes
 * a p-value among the scores of the baseline's own requests: those of the means ({@link ScoreRanks}) are cross-fitted,
 * so that they are not smaller than what later requests get; those of reconstructions are of requests that are cut to
 * as many rows ({@link RanksByRows}). <b>Score of both:</b> the sum of the two evidences {@code -ln p}, each counted up
 * to 12, ranked once more among the baseline's requests, which were ranked among each other. A request that is
 * odd in one respect alone is not unusual; one that is odd in both is.
 *
 * <p><b>Means of few rows.</b> The variance of a mean of n rows lies between that of n0 rows (one request is one topic)
 * and {@code n0/n} times it (independent rows). The correction takes the latter. On recorded activations (n0 = 118) the
 * share of clean requests below p = 0.05 was at most 0.04 in means of 3 to 60 rows.
 *
 * <p><b>Cost.</b> p flops a request beside its projection. <b>Size.</b> {@code 16 p d} bytes, a number a baseline
 * request, and those of {@link RanksByRows}. Immutable; any number of threads.
 */
public final class RequestModel {

    /** How many numbers are kept of a request's sum. */
    static final int COMPONENTS = 128;

    /** The fewest requests that say how requests differ. */
    public static final int FEWEST_REQUESTS = ScoreRanks.FEWEST;

    /** The reason why nothing can be said of requests where a baseline has no model of them. */
    public static final String MISSING =
            "the baseline does not say how its requests differ: build it again from a recording of at least "
                    + FEWEST_REQUESTS
                    + " requests that is divided into them, each one batch, record or value of the header `request`";

    private final Matrix basis;
    private final RequestProjection projection;
    private final double[] location;
    private final double usualRows;
    private final ScoreRanks means;
    private final double[] lengths;
    private final @Nullable RanksByRows reconstructions;
    private final @Nullable RanksByRows both;

    /**
     * A model from its parts.
     *
     * @param basis p x d
     * @param location p numbers
     * @param usualRows n0, at least 1
     * @param means cross-fitted scores of the baseline's request means
     * @param lengths of their deviations ({@link GroupSpace#length}), ascending; empty where they are not known
     * @param reconstructions how badly the baseline's requests are reconstructed; null where too few have rows that
     *     vary
     * @param both the sums of their two evidences; null where that is null
     * @throws IllegalArgumentException if they do not fit together or are not finite
     */
    RequestModel(
            Matrix basis,
            double[] location,
            double usualRows,
            ScoreRanks means,
            double[] lengths,
            @Nullable RanksByRows reconstructions,
            @Nullable RanksByRows both) {
        this.basis = basis;
        this.projection = RequestProjection.of(basis);
        this.location = location.clone();
        this.usualRows = usualRows;
        this.means = means;
        this.lengths = lengths.clone();
        this.reconstructions = reconstructions;
        this.both = both;
        if (location.length != basis.rows()) {
            throw new IllegalArgumentException(
                    "a location of %d components beside a basis of %d".formatted(location.length, basis.rows()));
        }
        for (double value : location) {
            if (!Double.isFinite(value)) {
                throw new IllegalArgumentException(
                        "a location that holds %s: expected finite numbers".formatted(value));
            }
        }
        for (int i = 0; i < lengths.length; i++) {
            if (!(lengths[i] >= (i == 0 ? 0.0 : lengths[i - 1]) && lengths[i] < Double.POSITIVE_INFINITY)) {
                throw new IllegalArgumentException(
                        "a length %s at %d of requests: expected finite ones, ascending".formatted(lengths[i], i));
            }
        }
        // Written so that NaN fails them.
        if (!(usualRows >= 1.0 && usualRows < Double.POSITIVE_INFINITY)) {
            throw new IllegalArgumentException("requests of %s rows: expected at least 1".formatted(usualRows));
        }
    }

    /** Returns what the sums of requests must be taken under to be scored. */
    public RequestProjection projection() {
        return projection;
    }

    /**
     * Scores the means of requests.
     *
     * @param requests totals under {@link #projection()}
     */
    public List<RequestScore> score(List<RequestTotal> requests) {
        List<RequestScore> scores = new ArrayList<>(requests.size());
        for (RequestTotal request : requests) {
            double score = scoreOfMean(request.sum(), request.rows());
            scores.add(RequestScore.among(means, request.request(), request.name(), request.rows(), score));
        }
        return scores;
    }

    /**
     * Scores the reconstructions of requests; one whose rows do not vary is left out.
     *
     * @return empty where the baseline has too few requests whose rows vary
     */
    List<RequestScore> scoreErrors(List<RequestError> requests) {
        List<RequestScore> scores = new ArrayList<>(requests.size());
        if (reconstructions != null) {
            for (RequestError request : requests) {
                ScoreRanks ranks = request.varies() ? reconstructions.of(request.rows()) : null;
                if (ranks != null) {
                    scores.add(RequestScore.among(ranks, request.request(), null, request.rows(), request.fvu()));
                }
            }
        }
        return scores;
    }

    /**
     * Scores a request by its mean and its reconstruction together.
     *
     * @param reconstruction of the same request
     * @return null where the baseline has no such scores of its requests
     */
    @Nullable
    RequestScore scoreBoth(RequestScore mean, RequestScore reconstruction) {
        ScoreRanks ranks = both == null ? null : both.of(reconstruction.rows());
        if (ranks == null) {
            return null;
        }
        double evidence = evidenceOfBoth(mean.pValue(), reconstruction.pValue());
        // Cuts that fewer requests have rank no farther than the one with the fewest: levels are drawn for that.
        return new RequestScore(
                mean.request(),
                mean.name(),
                mean.rows(),
                evidence,
                ranks.pValue(evidence),
                Math.max(ranks.rank(evidence), 1.0 / (requestsInEvidence() + 1.0)));
    }

    /** Returns the sum of two evidences. */
    static double evidenceOfBoth(double pOfMean, double pOfReconstruction) {
        return Math.min(Evidence.LARGEST_OF_EACH, -Math.log(pOfMean))
                + Math.min(Evidence.LARGEST_OF_EACH, -Math.log(pOfReconstruction));
    }

    private double scoreOfMean(double[] sum, long rows) {
        double[] mean = new double[sum.length];
        for (int i = 0; i < sum.length; i++) {
            mean[i] = sum[i] / rows;
        }
        return WhitenedMeans.score(mean, location, WhitenedMeans.weight(rows, usualRows));
    }

    /** Requests of the baseline whose scores other requests are ranked among. */
    public int requests() {
        return means.size();
    }

    /** Returns the fewest requests of the baseline that another one is ranked among in both; 0 where none is. */
    public int requestsInEvidence() {
        return both == null ? 0 : both.fewestRequests();
    }

    ScoreRanks means() {
        return means;
    }

    Matrix basis() {
        return basis;
    }

    double[] location() {
        return location.clone();
    }

    double[] lengths() {
        return lengths.clone();
    }

    double usualRows() {
        return usualRows;
    }

    /**
     * Returns a copy of the cross-fitted scores of the baseline's request means, ascending. Later clean requests have
     * scores like these.
     */
    public double[] baselineScores() {
        return means.scores();
    }

    /** Returns how badly the baseline's requests are reconstructed; null where that is not known. */
    @Nullable
    RanksByRows reconstructions() {
        return reconstructions;
    }

    @Nullable
    RanksByRows both() {
        return both;
    }

    /** Returns in which direction other requests lie from the baseline's, and which of them are unusual. */
    public GroupSpace groupSpace() {
        return GroupSpace.of(projection.id(), basis, location, usualRows, means.scores(), lengths);
    }
}
