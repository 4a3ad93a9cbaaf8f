package io.plumbline.topology.report;

import io.plumbline.geometry.Statistic;
import io.plumbline.judgement.Amounts;
import org.jspecify.annotations.Nullable;

/**
 * Holds the one number that stands for a window in the log, the metrics, the alerts and the page: how many times its
 * threshold the deciding statistic is. Unlike the statistics themselves it can be compared between sites, and between
 * windows that another statistic decides.
 *
 * @param statistic the name of the deciding statistic
 * @param overThreshold its value divided by its threshold: above 1 it counts towards a drift; null where the value is
 *     undefined, or the threshold does not exist or is not above 0
 */
public record Headline(String statistic, @Nullable Double overThreshold) {

    /** The name in sentences of the statistic whose name in a configuration is long. */
    private static final String FVU = "FVU";

    /** Significant digits, more where these would say that the value is its threshold. */
    private static final int DIGITS = 3;

    /** Returns the headline of a statistic with its value and threshold. */
    public static Headline of(String statistic, @Nullable Double value, @Nullable Double threshold) {
        return new Headline(
                statistic,
                value == null || threshold == null || !(threshold > 0.0) ? null : Double.valueOf(value / threshold));
    }

    /** Returns {@link #overThreshold}, or {@code otherwise} where it does not exist. */
    public double orElse(double otherwise) {
        return overThreshold == null ? otherwise : overThreshold;
    }

    /** Returns the number in words: {@code 1.07 of the threshold, by FVU}. */
    public String sentence() {
        String name = statistic.equals(Statistic.RECONSTRUCTION_FVU_TRAINED.label()) ? FVU : statistic;
        return overThreshold == null
                ? "no value over a threshold, by " + name
                : "%s of the threshold, by %s".formatted(Amounts.apart(overThreshold, 1.0, DIGITS), name);
    }
}
