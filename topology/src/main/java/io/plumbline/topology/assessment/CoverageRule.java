package io.plumbline.topology.assessment;

import org.jspecify.annotations.Nullable;

/**
 * Decides when a window is marked because its rows are another part of the traffic than usual.
 *
 * @param limit how far the delivered or the cached share may be from the expected one, in [0, 1]
 * @param delivered expected share of the tokens that come as rows, in [0, 1]; null: the mean of the first windows
 * @param cached expected share of the tokens that a prefix cache keeps, in [0, 1]; null: the mean of the first windows
 */
public record CoverageRule(
        double limit, @Nullable Double delivered, @Nullable Double cached) {

    /** The default rule: a tenth, from what the first windows have. */
    public static final CoverageRule STANDARD = new CoverageRule(0.1, null, null);
}
