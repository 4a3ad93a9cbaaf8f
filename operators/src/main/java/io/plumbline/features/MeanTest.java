package io.plumbline.features;

import java.util.Arrays;
import java.util.SplittableRandom;
import java.util.stream.DoubleStream;
import org.apache.commons.math3.util.CombinatoricsUtils;
import org.jspecify.annotations.Nullable;

/**
 * Tests whether requests of a window have another mean than those of the baseline, by permutation.
 *
 * <p>The chance of a difference of means is found by exchanging requests of both sides, so it is exact where requests
 * are exchangeable, however skewed: where a window is a sample, the baseline's rows are {@link ByRequest#thinned}. Two
 * statistics were not taken. Dividing by the standard errors of both sides (Welch) calls neighbouring requests, which
 * are alike, a sure change: on recorded English in windows of five requests 1.2 % at a rate of 1 %, where the plain
 * difference calls .8 %. Ranks of shares of few rows and of many differ though their means do not.
 *
 * <p>Drawing ends with the {@value #ENOUGH}-th permutation that is as far apart, after which the chance is known well
 * enough (Besag and Clifford, Biometrika 78, 1991). The same requests give the same chance.
 *
 * <p><b>Cost.</b> {@code 2 min(n_w, n_b)} steps a permutation: some 20 of them for most clean windows. Immutable; any
 * number of threads.
 */
public final class MeanTest {

    /** The fewest requests on either side. */
    public static final int FEWEST_REQUESTS = ActivityComparison.FEWEST_REQUESTS;

    private static final int ENOUGH = 20;
    private static final int FEWEST_DRAWS = 999;
    private static final int MOST_DRAWS = 199_999;
    private static final long SEED = 7;

    /** The rounding by which sums of one split differ in another order, as a share of all that is summed. */
    private static final double ROUNDING = 1e-12;

    /** The smallest chance that any test finds. */
    public static final double LEAST = 1.0 / (MOST_DRAWS + 1);

    private final int draws;

    private MeanTest(int draws) {
        this.draws = draws;
    }

    /**
     * Returns a test that can find chances as small as a quarter of this one.
     *
     * @param chance in (0, 1)
     */
    public static MeanTest resolving(double chance) {
        return new MeanTest((int) Math.max(FEWEST_DRAWS, Math.min(MOST_DRAWS, Math.ceil(4.0 / chance))));
    }

    /**
     * Returns the two-sided chance; null where either side has fewer than {@value #FEWEST_REQUESTS} requests.
     *
     * @param baseline a number of each request of the baseline
     * @param window a number of each request of the window
     */
    public @Nullable Double pValue(double[] baseline, double[] window) {
        if (Math.min(baseline.length, window.length) < FEWEST_REQUESTS) {
            return null;
        }
        double[] all = DoubleStream.concat(Arrays.stream(window), Arrays.stream(baseline))
                .toArray();
        double centre = ByRequest.mean(all);
        for (int i = 0; i < all.length; i++) {
            all[i] -= centre;
        }
        int fewer = Math.min(window.length, baseline.length);
        // Both sides sum to 0 together, so that the sum of either says how far apart they are.
        double observed = Math.abs(sum(all, window.length));
        observed -= ROUNDING * Arrays.stream(all).map(Math::abs).sum();
        SplittableRandom random = new SplittableRandom(SEED);
        int asFar = 0;
        for (int draw = 1; draw <= draws; draw++) {
            for (int i = 0; i < fewer; i++) {
                int other = i + random.nextInt(all.length - i);
                double kept = all[i];
                all[i] = all[other];
                all[other] = kept;
            }
            if (Math.abs(sum(all, fewer)) >= observed && ++asFar == ENOUGH) {
                return (double) asFar / draw;
            }
        }
        return (asFar + 1.0) / (draws + 1.0);
    }

    /** Returns the smallest chance that requests can have: that of one split of them all, or of no draw of all. */
    double least(int baseline, int window) {
        return Math.max(
                1.0 / (draws + 1.0), Math.exp(-CombinatoricsUtils.binomialCoefficientLog(baseline + window, window)));
    }

    private static double sum(double[] values, int first) {
        double sum = 0.0;
        for (int i = 0; i < first; i++) {
            sum += values[i];
        }
        return sum;
    }
}
