package io.plumbline.features;

import org.jspecify.annotations.Nullable;

/**
 * Compares one number of a watched feature or probe with the baseline.
 *
 * @param what names the number, in the words of the report
 * @param baseline its value on the baseline's rows; null where it has none there
 * @param window its value in the window
 * @param pValue chance that a clean window differs as much; null where it is not tested
 * @param least the smallest that this chance could have been; 1 where it is not tested
 */
public record WatchedChange(
        String what,
        @Nullable Double baseline,
        double window,
        @Nullable Double pValue,
        double least) {

    /** The share of rows on which a feature is active. */
    public static final String RATE = "rate";

    /** The mean of a feature's code. */
    public static final String ACTIVATION = "activation";

    /** The part of the explainer's error that goes with a feature's code. */
    public static final String SYSTEMATIC_RESIDUAL = "systematic_residual";

    /** Compares the means over requests. */
    public static WatchedChange ofMeans(String what, MeanTest test, double[] baseline, double[] window) {
        Double pValue = test.pValue(baseline, window);
        return new WatchedChange(
                what,
                baseline.length == 0 ? null : ByRequest.mean(baseline),
                ByRequest.mean(window),
                pValue,
                pValue == null ? 1.0 : test.least(baseline.length, window.length));
    }
}
