package io.plumbline.baseline;

import io.plumbline.baseline.RequestMeans.Mean;
import io.plumbline.groups.GroupSpace;
import io.plumbline.records.ActivationBatch;
import io.plumbline.requests.RequestTotal;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A {@link RequestModel} and the scores that the baseline's own requests have under models they had no part in.
 *
 * <p>The requests are cut into {@value #FOLDS} stretches of neighbours, since neighbours may be of one conversation or
 * document; each stretch is scored by a model of the others. A request's score under a model that it helped to fit is
 * too small: among 271 requests and 128 components by half, and later requests would all look far.
 *
 * <p><b>In clean windows</b> a request of the baseline is ranked among the others: beside itself it would look nearer
 * than a later one. Only the evidence of both respects is ranked beside its own entry. Clean windows hold each rank
 * once, so they scatter less than later ones, and levels are on the safe side as it is: of 60 drawn requests, a later
 * window of 7 was above all eight clean ones in 8 % of 80,000 cases, where 11 % are promised; in 5 % without the entry,
 * in 17 % with each score ranked beside itself.
 *
 * <p><b>Cost.</b> {@value #FOLDS} + 1 times that of {@link WhitenedMeans}.
 *
 * @param scores by the request's place in the recording; a request that is not among them had no part in the model
 * @param cuts of the same requests, see {@link RanksByRows#cut}
 */
record CrossFit(RequestModel model, Map<Integer, Double> scores, Map<Integer, double[]> cuts) {

    private static final int FOLDS = 9;

    CrossFit {
        scores = Map.copyOf(scores);
        cuts = Map.copyOf(cuts);
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
                scores,
                requests.stream().collect(Collectors.toMap(Mean::number, Mean::fvu)));
    }

    /** Scores the mean of a request of the recording. */
    RequestScore scoreMean(long request, int number, ActivationBatch rows) {
        Double score = scores.get(number);
        if (score != null) {
            return RequestScore.ofOwn(model.means(), request, rows.rows(), score);
        }
        double[] sum = new double[model.projection().components()];
        model.projection().add(rows.targetRows(), sum);
        return model.score(List.of(new RequestTotal(request, null, rows.rows(), sum)))
                .get(0);
    }

    /**
     * Scores the reconstructions of requests of the recording; one whose rows do not vary is left out.
     *
     * @param numbers places in the recording by the hashes of the requests
     */
    List<RequestScore> scoreErrors(List<RequestError> requests, Map<Long, Integer> numbers) {
        RanksByRows ranks = model.reconstructions();
        List<RequestScore> scored = new ArrayList<>();
        for (RequestError request : requests) {
            double[] own = cuts.get(Objects.requireNonNull(numbers.get(request.request())));
            RequestScore ofOwn = ranks == null || own == null || !request.varies()
                    ? null
                    : ranks.ofOwn(own, request.request(), request.rows());
            scored.addAll(ofOwn == null ? model.scoreErrors(List.of(request)) : List.of(ofOwn));
        }
        return scored;
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
