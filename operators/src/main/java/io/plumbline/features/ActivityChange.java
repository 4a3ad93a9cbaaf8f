package io.plumbline.features;

import com.fasterxml.jackson.annotation.JsonPropertyDescription;
import java.util.Locale;

/** A feature that is active more or less often in a window than on the baseline's rows, beyond chance. */
public record ActivityChange(
        @JsonPropertyDescription("its index: the row of `W_dec` as stored")
        int feature,

        @JsonPropertyDescription("`less_active` or `more_active`")
        String direction,

        @JsonPropertyDescription("share of the window's rows in which it is active; 0 where it fell silent")
        double frequency,

        @JsonPropertyDescription("the same on the baseline's rows")
        double frequencyBaseline,

        @JsonPropertyDescription("mean of its codes over the rows in which it is active; 0 where there are none")
        double meanActivation,

        @JsonPropertyDescription("the same on the baseline's rows")
        double meanActivationBaseline,

        @JsonPropertyDescription("requests of the window in which it is active")
        long activeRequests,

        @JsonPropertyDescription(
                "the chance that clean rows are as far off, in either direction; 1e-300 where it is smaller. "
                        + "The features are in its order, also below 1e-300")
        double pValue) {

    /** The direction of a feature that is active less often: it falls silent. */
    public static final String LESS_ACTIVE = "less_active";

    /** The direction of a feature that is active more often: it wakes up. */
    public static final String MORE_ACTIVE = "more_active";

    /** The smallest chance that is reported; every smaller one is reported as this one. */
    public static final double SMALLEST_P_VALUE = 1e-300;

    /** Returns the chance with two digits, or {@code < 1e-300}. */
    public String pValueText() {
        return pValue <= SMALLEST_P_VALUE ? "< 1e-300" : String.format(Locale.ROOT, "%.2g", pValue);
    }
}
