package io.plumbline.comparison;

import java.util.function.IntToDoubleFunction;
import org.apache.commons.math3.distribution.TDistribution;

/**
 * A figure with the ends of its 95 % interval, from the same figure without one group of whole requests at a time.
 *
 * <p>With G groups, {@code se^2 = (G - 1)/G Σ (θ_g - mean θ)^2}, where θ_g leaves out group g (Efron and Tibshirani,
 * An Introduction to the Bootstrap, 1993, 11.5), and the interval is {@code θ ± t(0.975, G - 1) se}. Of a mean over
 * groups of equal size it is Student's interval of their means. A bootstrap was not taken: each of its draws would need
 * an eigenspace. A group is a stretch of requests in their order, since neighbours may be parts of one document.
 */
public record Estimate(double value, double low, double high) {

    /** The most groups, which bounds memory: each has a second moment of its own. */
    static final int MOST_GROUPS = 16;

    /** Stands for no group where a figure is asked for without one. */
    static final int NONE = -1;

    private static final double UPPER = 0.975;

    /**
     * @param groups 2 or more
     * @param least what the figure can be; the interval is cut there, as at {@code most}
     * @param without the figure without a group, or of all rows for {@link #NONE}
     */
    static Estimate of(int groups, double least, double most, IntToDoubleFunction without) {
        double value = without.applyAsDouble(NONE);
        double width = quantile(groups) * error(groups, without);
        return new Estimate(value, Math.max(least, value - width), Math.min(most, value + width));
    }

    /** Returns how many standard errors the end of an interval over so many groups, 2 or more, is away. */
    static double quantile(long groups) {
        return new TDistribution(null, groups - 1.0).inverseCumulativeProbability(UPPER);
    }

    /** Returns the standard error. */
    static double error(int groups, IntToDoubleFunction without) {
        double[] parts = new double[groups];
        double mean = 0.0;
        for (int g = 0; g < groups; g++) {
            parts[g] = without.applyAsDouble(g);
            mean += parts[g] / groups;
        }
        double squares = 0.0;
        for (double part : parts) {
            squares += (part - mean) * (part - mean);
        }
        return Math.sqrt(squares * (groups - 1) / groups);
    }

    /** Returns the sum over all other groups. */
    static double without(double[] byGroup, int group) {
        double sum = 0.0;
        for (int g = 0; g < byGroup.length; g++) {
            sum += g == group ? 0.0 : byGroup[g];
        }
        return sum;
    }
}
