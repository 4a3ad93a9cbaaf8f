package io.plumbline.features;

import java.util.Arrays;
import org.apache.commons.math3.distribution.TDistribution;
import org.jspecify.annotations.Nullable;

/**
 * Finds columns that are more wrong on a window than on clean rows, with a bound on how many are listed by chance.
 *
 * <p>Tested is the squared length of the change that a refit would make to a column, value over variance of the code,
 * window less baseline, by Student's t with the bootstrap's variances and one degree of freedom less than there are
 * groups of requests. Of all features tested those are taken that keep the share listed by chance below
 * {@value #FALSE_SHARE} on average (Benjamini and Hochberg, Controlling the false discovery rate, 1995).
 */
final class Excess {

    /** The share of the features listed that chance may account for, on average. */
    static final double FALSE_SHARE = 0.1;

    /** The fewest groups of requests, since a bootstrap of fewer says little. */
    static final int FEWEST_GROUPS = 5;

    private static final double NOT_TESTED = 2.0;

    private Excess() {}

    static boolean[] of(Costs window, @Nullable Costs baseline, int groups) {
        int features = window.squaredNorms().length;
        double[] chances = new double[features];
        Arrays.fill(chances, NOT_TESTED);
        if (groups >= FEWEST_GROUPS) {
            TDistribution student = new TDistribution(null, groups - 1.0);
            for (int j = 0; j < features; j++) {
                if (isKnown(window, j)) {
                    chances[j] = chance(window, baseline, j, student);
                }
            }
        }
        double[] qValues = FalseDiscoveries.qValues(chances);
        boolean[] taken = new boolean[features];
        for (int j = 0; j < features; j++) {
            taken[j] = qValues[j] <= FALSE_SHARE;
        }
        return taken;
    }

    /** Returns whether rows of enough requests say something of a column. */
    static boolean isKnown(Costs costs, int feature) {
        return costs.removable().activeGroups()[feature] >= FEWEST_GROUPS
                && costs.removable().variance()[feature] > 0.0;
    }

    /** Returns the chance that a column is more wrong by as much on clean rows; one-sided. */
    static double chance(Costs window, @Nullable Costs baseline, int feature, TDistribution student) {
        double difference = change(window, feature);
        double noise = noise(window, feature);
        if (baseline != null && isKnown(baseline, feature)) {
            difference -= change(baseline, feature);
            noise += noise(baseline, feature);
        } else if (baseline != null) {
            double norm = baseline.squaredNorms()[feature];
            difference -= baseline.removable().typical() * norm;
            noise += baseline.removable().spread() * norm * norm;
        }
        return difference <= 0.0
                ? 1.0
                : noise <= 0.0 ? 0.0 : student.cumulativeProbability(-difference / Math.sqrt(noise));
    }

    private static double change(Costs costs, int feature) {
        return costs.removable().value()[feature] / costs.removable().variance()[feature];
    }

    private static double noise(Costs costs, int feature) {
        double variance = costs.removable().variance()[feature];
        return costs.removable().noise()[feature] / (variance * variance);
    }
}
