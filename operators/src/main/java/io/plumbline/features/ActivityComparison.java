package io.plumbline.features;

import io.plumbline.explainer.SparseCodes;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * Compares how often features are active in a window with how often they are in the baseline, with a bound on the share
 * of those listed that chance accounts for.
 *
 * <p><b>The test of one feature.</b> With intraclass correlation rho of the feature within requests (the larger of
 * window and baseline), n rows are worth {@code n / (1 + rho (sum n_g^2 / n - 1))} independent ones (Kish, Survey
 * Sampling, 1965), and a count of rarely active rows, divided by that and by {@code 1 - p}, is as scattered as a
 * Poisson count (Rao and Scott, Biometrics 48, 1992). Given the sum of both counts, that of the window is binomial with
 * the share of its rows; its tail is taken in the middle of the step, {@code I_s(x + 1/2, m - x + 1/2)}. A feature that
 * is active in more than half of the rows is tested by the rows in which it is not.
 *
 * <p><b>Which are tested.</b> Decided by the baseline alone, so that being tested says nothing of the window: features
 * that should be active in {@value #FEWEST_ROWS} of the window's rows and were in {@value #FEWEST_REQUESTS} of the
 * baseline's requests, in both directions, with nine tenths of the false discovery rate. All others share the last
 * tenth: those that are hardly ever active can only wake up, those that nearly always are can only fall silent. Each
 * part is cut by Benjamini and Hochberg (JRSS B 57, 1995), so the share of false ones among all that are listed is at
 * most the rate, on average.
 *
 * <p>Chances are compared as logarithms ({@link BetaTails}), so that the surest of many sure changes is known.
 *
 * <p><b>Cost.</b> Two incomplete beta functions a feature: some 10 ms for 16,384. Immutable; any number of threads.
 */
public final class ActivityComparison {

    /** Most features in the report of one window, which bounds its size. */
    public static final int REPORTED = 50;

    /** The share of the features listed that chance may account for, where nothing else is asked for. */
    public static final double DEFAULT_FALSE_DISCOVERY_RATE = 0.1;

    /** The fewest requests on either side, since fewer do not say how alike rows of a request are. */
    public static final int FEWEST_REQUESTS = 5;

    /** The fewest rows of the window in which a feature must be expected. */
    private static final double FEWEST_ROWS = 5.0;

    private static final double SHARE_OF_FREQUENT = 0.9;

    /** The logarithm of the chance of a feature that is tested in the other part. */
    private static final double NOT_HERE = 1.0;

    private final @Nullable FeatureActivity baseline;
    private final double falseDiscoveryRate;

    private ActivityComparison(@Nullable FeatureActivity baseline, double falseDiscoveryRate) {
        this.baseline = baseline;
        this.falseDiscoveryRate = falseDiscoveryRate;
    }

    /**
     * Returns the test against a baseline.
     *
     * @param baseline activity on the baseline's rows; null where its file says nothing of it
     * @param falseDiscoveryRate share of the features listed that may be there by chance, on average, in (0, 0.5]
     */
    public static ActivityComparison of(@Nullable FeatureActivity baseline, double falseDiscoveryRate) {
        if (!(falseDiscoveryRate > 0.0) || falseDiscoveryRate > 0.5) {
            throw new IllegalArgumentException(
                    "false discovery rate = %s: expected more than 0 and at most 0.5".formatted(falseDiscoveryRate));
        }
        return new ActivityComparison(baseline, falseDiscoveryRate);
    }

    /**
     * Returns the features that are active more or less often on rows of a window.
     *
     * @param requests of the rows
     * @param most how many to list at most; all are counted
     */
    public ActivityChanges changes(SparseCodes codes, long[] requests, int most) {
        return codes.rows() == 0
                ? ActivityChanges.undefined(0, 0, "no row of the window was encoded")
                : changes(FeatureActivity.of(codes, requests), most);
    }

    /**
     * Returns the features of a window that are active more or less often.
     *
     * @param most how many to list at most; all are counted
     * @throws IllegalArgumentException if the window has another number of features
     */
    public ActivityChanges changes(FeatureActivity window, int most) {
        FeatureActivity clean = baseline;
        if (clean == null) {
            return ActivityChanges.undefined(
                    window.rows(),
                    window.requests(),
                    "the baseline does not say how often features are active; run `plumbline baseline` again");
        }
        if (clean.features() != window.features()) {
            throw new IllegalArgumentException("activity of %d features, of the baseline's rows of %d"
                    .formatted(window.features(), clean.features()));
        }
        if (Math.min(clean.requests(), window.requests()) < FEWEST_REQUESTS) {
            return ActivityChanges.undefined(
                    window.rows(),
                    window.requests(),
                    ("rows of one request are alike: expected rows of %d or more requests, "
                                    + "the window's sample has rows of %d and the baseline's of %d")
                            .formatted(FEWEST_REQUESTS, window.requests(), clean.requests()));
        }
        return changes(clean, window, most);
    }

    private ActivityChanges changes(FeatureActivity clean, FeatureActivity window, int most) {
        int features = window.features();
        double[] frequent = new double[features];
        double[] rare = new double[features];
        Arrays.fill(frequent, NOT_HERE);
        Arrays.fill(rare, NOT_HERE);
        int tested = 0;
        for (int j = 0; j < features; j++) {
            if (isFrequent(clean, window.rows(), j)) {
                BetaTails chance = chanceOfLess(clean, window, j);
                frequent[j] = Math.min(0.0, Math.log(2.0) + Math.min(chance.below(), chance.above()));
                tested++;
            } else {
                rare[j] = chanceOfRare(clean, window, j);
            }
        }
        double[] ofFrequent = qValues(frequent);
        double[] ofRare = qValues(rare);
        List<Integer> changed = new ArrayList<>();
        int less = 0;
        for (int j = 0; j < features; j++) {
            if (ofFrequent[j] <= SHARE_OF_FREQUENT * falseDiscoveryRate
                    || ofRare[j] <= (1.0 - SHARE_OF_FREQUENT) * falseDiscoveryRate) {
                changed.add(j);
                less += isLess(clean, window, j) ? 1 : 0;
            }
        }
        changed.sort(Comparator.comparingDouble((Integer j) -> Math.min(frequent[j], rare[j]))
                .thenComparingInt(j -> j));
        return new ActivityChanges(
                window.rows(),
                window.requests(),
                tested,
                less,
                changed.size() - less,
                changed.stream()
                        .limit(most)
                        .map(j -> change(clean, window, j, Math.min(frequent[j], rare[j])))
                        .toList(),
                null);
    }

    private static boolean isFrequent(FeatureActivity clean, long rows, int feature) {
        double often = clean.frequency(feature);
        return Math.min(often, 1.0 - often) * rows >= FEWEST_ROWS && clean.activeRequests()[feature] >= FEWEST_REQUESTS;
    }

    private static double[] qValues(double[] logChances) {
        return FalseDiscoveries.qValues(Arrays.stream(logChances).map(Math::exp).toArray());
    }

    private static double chanceOfRare(FeatureActivity clean, FeatureActivity window, int feature) {
        if (clean.frequency(feature) > 0.5) {
            return chanceOfLess(clean, window, feature).below();
        }
        return window.activeRequests()[feature] < FEWEST_REQUESTS
                ? 0.0
                : chanceOfLess(clean, window, feature).above();
    }

    private static boolean isLess(FeatureActivity clean, FeatureActivity window, int feature) {
        return window.frequency(feature) < clean.frequency(feature);
    }

    private static ActivityChange change(FeatureActivity clean, FeatureActivity window, int feature, double logChance) {
        return new ActivityChange(
                feature,
                isLess(clean, window, feature) ? ActivityChange.LESS_ACTIVE : ActivityChange.MORE_ACTIVE,
                window.frequency(feature),
                clean.frequency(feature),
                window.meanActivation(feature),
                clean.meanActivation(feature),
                window.activeRequests()[feature],
                Math.max(ActivityChange.SMALLEST_P_VALUE, Math.exp(logChance)));
    }

    /**
     * Returns the logarithms of the chances that a clean window has the feature active as rarely or more rarely
     * ({@code below}), and as often or more often ({@code above}).
     */
    private static BetaTails chanceOfLess(FeatureActivity clean, FeatureActivity window, int feature) {
        double pooled =
                (double) (clean.activeRows()[feature] + window.activeRows()[feature]) / (clean.rows() + window.rows());
        boolean byInactive = pooled > 0.5;
        double binomial = Math.max(pooled, 1.0 - pooled);
        double correlation = Math.max(clean.correlation(feature), window.correlation(feature));
        double scaleOfClean = clean.designEffect(correlation) * binomial;
        double scaleOfWindow = window.designEffect(correlation) * binomial;
        double inWindow = count(window, feature, byInactive) / scaleOfWindow;
        double inClean = count(clean, feature, byInactive) / scaleOfClean;
        double rowsOfWindow = window.rows() / scaleOfWindow;
        double share = rowsOfWindow / (rowsOfWindow + clean.rows() / scaleOfClean);
        BetaTails tails = BetaTails.at(share, inWindow + 0.5, inClean + 0.5);
        return byInactive ? tails : tails.exchanged();
    }

    private static double count(FeatureActivity activity, int feature, boolean inactive) {
        long active = activity.activeRows()[feature];
        return inactive ? activity.rows() - active : active;
    }
}
