package io.plumbline.baseline;

import io.plumbline.baseline.RequestMeans.Mean;
import io.plumbline.groups.GroupSpace;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A {@link RequestModel} and the scores that the baseline's own requests have under models they had no part in.
 *
 * <p>The requests are cut into {@value #FOLDS} stretches of neighbours, since neighbours may be of one conversation or
 * document; each stretch is scored by a model of the others. A request's score under a model that it helped to fit is
 * too small: among 271 requests and 128 components by half, and later requests would all look far.
 *
 * <p><b>Cost.</b> {@value #FOLDS} + 1 times that of {@link WhitenedMeans}.
 *
 * @param scores by the request's place in the recording; a request that is not among them had no part in the model
 */
record CrossFit(RequestModel model, Map<Integer, Double> scores) {

    private static final int FOLDS = 9;

    CrossFit {
        scores = Map.copyOf(scores);
    }

    /** Fits the model; null where the requests are fewer than {@link RequestModel#FEWEST_REQUESTS} or do not differ. */
    static @Nullable CrossFit of(RequestMeans collected) {
        List<Mean> requests = collected.kept();
        int count = requests.size();
        if (count < RequestModel.FEWEST_REQUESTS) {
            return null;
        }
        double usualRows = requests.stream().mapToLong(Mean::rows).average().orElseThrow();
        WhitenedMeans whole = WhitenedMeans.of(requests, usualRows, RequestModel.COMPONENTS);
        if (whole == null) {
            return null;
        }
        Map<Integer, Double> scores = new HashMap<>();
        for (int fold = 0; fold < FOLDS; fold++) {
            int from = (int) ((long) fold * count / FOLDS);
            int to = (int) ((long) (fold + 1) * count / FOLDS);
            List<Mean> others = new ArrayList<>(requests.subList(0, from));
            others.addAll(requests.subList(to, count));
            WhitenedMeans without = WhitenedMeans.of(others, usualRows, RequestModel.COMPONENTS);
            if (without == null) {
                return null;
            }
            requests.subList(from, to)
                    .forEach(request -> scores.put(request.number(), without.score(request, usualRows)));
        }
        ScoreRanks means = ScoreRanks.of(
                scores.values().stream().mapToDouble(Double::doubleValue).toArray());
        RanksByRows reconstructions =
                RanksByRows.of(requests.stream().map(Mean::fvu).toList());
        RanksByRows both = reconstructions == null
                ? null
                : RanksByRows.of(requests.stream()
                        .map(request -> both(
                                means.pValueOfOwn(Objects.requireNonNull(scores.get(request.number()))),
                                reconstructions,
                                request))
                        .toList());
        RequestModel withoutLengths = new RequestModel(
                whole.basis(), whole.location(), usualRows, means, new double[0], reconstructions, both);
        GroupSpace space = withoutLengths.groupSpace();
        double[] lengths = requests.stream()
                .mapToDouble(request -> space.length(WhitenedMeans.total(whole.basis(), request)))
                .sorted()
                .toArray();
        return new CrossFit(
                new RequestModel(whole.basis(), whole.location(), usualRows, means, lengths, reconstructions, both),
                scores);
    }

    /** Returns the evidence of a request's mean and of each cut of its rows, ranked among the other requests. */
    private static double[] both(double pOfMean, RanksByRows reconstructions, Mean request) {
        double[] both = new double[request.fvu().length];
        Arrays.fill(both, Double.NaN);
        for (RanksByRows.Step step : reconstructions.steps()) {
            int cut = RanksByRows.ROWS.indexOf(step.rows());
            if (cut < both.length && Double.isFinite(request.fvu()[cut])) {
                both[cut] = RequestModel.evidenceOfBoth(pOfMean, step.ranks().pValueOfOwn(request.fvu()[cut]));
            }
        }
        return both;
    }
}
