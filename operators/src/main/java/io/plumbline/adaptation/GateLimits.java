package io.plumbline.adaptation;

/**
 * Limits that a refit must stay within to be published. The defaults are such that the refits that helped on a recorded
 * encoder (an autoencoder and a transcoder, German and code) pass with room and the printed form at rank 32 of 384
 * fails: smallest cosines .30 to .89 against .02 to .11, length ratios .80 to 1.6 against .28 to 1.1, cost in
 * distribution .01 to .06 of FVU against .47 to .64.
 *
 * @param minimumImprovement share of the held-out FVU that must go, in [0, 1)
 * @param maximumGapGrowth how much of the largest possible gap the held-out gap may grow by, in [0, 1]
 * @param minimumCosine of a feature's column to its trained one, in [-1, 1]
 * @param maximumNormRatio of a column's length to its trained length, or the inverse, 1 or more
 * @param changedFeatures share of the features that may be beyond the last two, in [0, 1]
 * @param maximumIdCost how much the FVU on rows of the baseline may be above that of the trained decoder, 0 or more
 */
public record GateLimits(
        double minimumImprovement,
        double maximumGapGrowth,
        double minimumCosine,
        double maximumNormRatio,
        double changedFeatures,
        double maximumIdCost) {

    public static final GateLimits DEFAULTS = new GateLimits(0.05, 0.01, 0.25, 2.0, 0.0, 0.1);

    public GateLimits {
        require("minimum_improvement", minimumImprovement, 0.0, Math.nextDown(1.0));
        require("max_gap_growth", maximumGapGrowth, 0.0, 1.0);
        require("minimum_cosine", minimumCosine, -1.0, 1.0);
        require("max_norm_ratio", maximumNormRatio, 1.0, Double.MAX_VALUE);
        require("changed_features", changedFeatures, 0.0, 1.0);
        require("max_id_cost", maximumIdCost, 0.0, Double.MAX_VALUE);
    }

    private static void require(String name, double value, double lowest, double highest) {
        if (!(value >= lowest && value <= highest)) {
            throw new IllegalArgumentException("%s = %s: expected a number from %s to %s"
                    .formatted(name, value, lowest, highest == Double.MAX_VALUE ? "any" : highest));
        }
    }
}
