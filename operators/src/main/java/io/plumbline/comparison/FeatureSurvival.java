package io.plumbline.comparison;

import java.util.List;

/**
 * Says which features are, on the same rows, what they were before.
 *
 * @param active features that are active before in 5 requests, or in all where they are fewer
 * @param surviving those of them whose correlation is at least 0.9
 * @param below those of them whose correlation is less beyond chance, by a false discovery rate of a tenth
 * @param worst those that do not survive, the lowest correlation first
 */
public record FeatureSurvival(int active, int surviving, int below, List<Change> worst) {

    /**
     * A feature that does not survive.
     *
     * @param beyondChance whether its correlation is below 0.9 beyond chance
     * @param frequencyBefore share of the rows in which it is active
     */
    public record Change(
            int feature, double correlation, boolean beyondChance, double frequencyBefore, double frequencyAfter) {}
}
