package io.plumbline.activity;

import java.util.Locale;

/**
 * A feature that is active more or less often in a window than on the baseline's rows, beyond chance.
 *
 * @param feature its index, row of {@code W_dec} as stored
 * @param direction {@code less_active} or {@code more_active}
 * @param frequency share of the window's rows in which it is active; 0 where it fell silent
 * @param frequencyBaseline the same on the baseline's rows
 * @param meanActivation mean of its codes over the rows in which it is active; 0 where there are none
 * @param meanActivationBaseline the same on the baseline's rows
 * @param activeRequests requests of the window in which it is active
 * @param pValue the chance that clean rows are as far off, in either direction; at least {@value #SMALLEST_P_VALUE}
 */
public record ActivityChange(
        int feature,
        String direction,
        double frequency,
        double frequencyBaseline,
        double meanActivation,
        double meanActivationBaseline,
        long activeRequests,
        double pValue) {

    /** The direction of a feature that is active less often: it falls silent. */
    public static final String LESS_ACTIVE = "less_active";

    /** The direction of a feature that is active more often: it wakes up. */
    public static final String MORE_ACTIVE = "more_active";

    /** The smallest chance that is told apart: a smaller one stands as this. */
    public static final double SMALLEST_P_VALUE = 1e-300;

    /** Returns the chance with two digits, or {@code < 1e-300}. */
    public String pValueText() {
        return pValue <= SMALLEST_P_VALUE ? "< 1e-300" : String.format(Locale.ROOT, "%.2g", pValue);
    }
}
