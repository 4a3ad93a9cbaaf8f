package io.plumbline.probes;

import io.plumbline.features.ByRequest;
import io.plumbline.features.MeanTest;
import io.plumbline.features.WatchedChange;
import io.plumbline.features.WatchedNumbers;
import io.plumbline.geometry.Subspace;
import io.plumbline.linalg.Kernels;
import io.plumbline.moments.SampledRow;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.TreeMap;
import java.util.function.IntToDoubleFunction;
import org.jspecify.annotations.Nullable;

/**
 * Compares the scores of probes with those on the rows that the baseline keeps.
 *
 * <p>Two numbers of each are tested by request ({@link MeanTest}): the share above its threshold, and the mean score. A
 * linear probe scores rows, and a request has their mean; a pooling one scores requests. A window's sample has only
 * some rows of a request, and a softmax over few rows is another number than over many. So the baseline's requests are
 * thinned to the same share ({@link ByRequest#thinned}).
 *
 * <p><b>Cost.</b> {@code 2 n d} flops a probe, twice that where it pools, and its tests. Immutable; any number of
 * threads.
 */
public final class WatchedProbes {

    /** Numbers of each probe that are tested. */
    public static final int TESTS = 2;

    /** The mean score of a probe. */
    public static final String SCORE = "score";

    private static final double[] QUANTILES = {0.05, 0.5, 0.95};

    private final List<Probe> probes;
    private final List<SampledRow> clean;

    /**
     * Creates a comparison with rows of clean traffic.
     *
     * @param probes as wide as the rows
     * @param clean rows of whole requests; where there are none, nothing is tested
     */
    public WatchedProbes(List<Probe> probes, List<SampledRow> clean) {
        this.probes = List.copyOf(probes);
        this.clean = List.copyOf(clean);
    }

    /**
     * A probe in a window.
     *
     * @param numbers its rate and its mean score
     * @param quantiles of its scores: .05, .5 and .95
     * @param quantilesBaseline the same on the baseline's rows; null where it keeps none
     */
    public record Scores(
            WatchedNumbers numbers,
            List<Double> quantiles,
            @Nullable List<Double> quantilesBaseline) {}

    /**
     * Compares rows of a window, and returns what each probe says, in their order; nothing where there are no rows.
     *
     * @param share of the window's rows that are given, in (0, 1]
     */
    public List<Scores> scores(MeanTest test, List<SampledRow> window, double share) {
        if (window.isEmpty()) {
            return List.of();
        }
        List<SampledRow> thinned = Arrays.stream(ByRequest.thinned(clean.size(), share))
                .mapToObj(clean::get)
                .toList();
        List<Scores> scores = new ArrayList<>();
        for (Probe probe : probes) {
            ByRequestScores own = ByRequestScores.of(probe, window);
            ByRequestScores before = ByRequestScores.of(probe, thinned);
            scores.add(new Scores(
                    new WatchedNumbers(
                            List.of(
                                    WatchedChange.ofMeans(WatchedChange.RATE, test, before.above(), own.above()),
                                    WatchedChange.ofMeans(SCORE, test, before.means(), own.means())),
                            own.above(),
                            own.means()),
                    quantiles(own.scores()),
                    before.scores().length == 0 ? null : quantiles(before.scores())));
        }
        return scores;
    }

    /** Returns what a probe says of one request, by these rows of it: the mean score of rows where it reads rows. */
    public static double score(Probe probe, List<SampledRow> request) {
        return ByRequest.mean(ByRequestScores.of(probe, request).means());
    }

    /**
     * Returns the share of a probe's read-out energy that lies outside of a subspace, {@code 1 - |U^T w|^2 / |w|^2}:
     * what rows that live in it cannot move.
     */
    public static double outside(Probe probe, Subspace subspace) {
        double[] weight = probe.weight();
        double inside = 0.0;
        for (int j = 0; j < subspace.rank(); j++) {
            double dot = 0.0;
            for (int i = 0; i < weight.length; i++) {
                dot += weight[i] * subspace.basis().get(i, j);
            }
            inside += dot * dot;
        }
        double all = Kernels.dot(weight, 0, weight, 0, weight.length);
        return all > 0.0 ? Math.min(1.0, Math.max(0.0, 1.0 - inside / all)) : Double.NaN;
    }

    private static List<Double> quantiles(double[] scores) {
        double[] sorted = scores.clone();
        Arrays.sort(sorted);
        return Arrays.stream(QUANTILES)
                .map(share -> sorted[(int) Math.round(share * (sorted.length - 1))])
                .boxed()
                .toList();
    }

    /**
     * The scores of a probe.
     *
     * @param scores of rows, or of requests where it pools
     * @param above share of the scores of each request that are above the threshold
     * @param means mean score of each request
     */
    private record ByRequestScores(double[] scores, double[] above, double[] means) {

        static ByRequestScores of(Probe probe, List<SampledRow> rows) {
            long[] requests = rows.stream().mapToLong(SampledRow::request).toArray();
            double[] ofRows = products(probe.weight(), rows);
            double[] query = probe.query();
            if (query == null) {
                IntToDoubleFunction score = row -> ofRows[row] + probe.bias();
                return new ByRequestScores(
                        Arrays.stream(ofRows)
                                .map(product -> product + probe.bias())
                                .toArray(),
                        ByRequest.means(requests, row -> score.applyAsDouble(row) > probe.threshold() ? 1.0 : 0.0),
                        ByRequest.means(requests, score));
            }
            double[] pooled = pooled(requests, ofRows, products(query, rows), probe.bias());
            return new ByRequestScores(
                    pooled,
                    Arrays.stream(pooled)
                            .map(score -> score > probe.threshold() ? 1.0 : 0.0)
                            .toArray(),
                    pooled);
        }

        /**
         * Returns {@code sum_i softmax(q)_i s_i + b} of each request, as the score of a mean is the mean of scores. The
         * largest exponent so far is taken off, so that none overflows and not all vanish.
         */
        private static double[] pooled(long[] requests, double[] scores, double[] attention, double bias) {
            TreeMap<Long, double[]> sums = new TreeMap<>();
            for (int row = 0; row < requests.length; row++) {
                double[] sum =
                        sums.computeIfAbsent(requests[row], name -> new double[] {Double.NEGATIVE_INFINITY, 0.0, 0.0});
                double largest = Math.max(sum[0], attention[row]);
                double before = Math.exp(sum[0] - largest);
                double weight = Math.exp(attention[row] - largest);
                sum[0] = largest;
                sum[1] = sum[1] * before + weight;
                sum[2] = sum[2] * before + weight * scores[row];
            }
            return sums.values().stream()
                    .mapToDouble(sum -> sum[2] / sum[1] + bias)
                    .toArray();
        }

        private static double[] products(double[] direction, List<SampledRow> rows) {
            return rows.stream()
                    .mapToDouble(row -> {
                        float[] values = row.activation();
                        double sum = 0.0;
                        for (int i = 0; i < direction.length; i++) {
                            sum += direction[i] * values[i];
                        }
                        return sum;
                    })
                    .toArray();
        }
    }
}
