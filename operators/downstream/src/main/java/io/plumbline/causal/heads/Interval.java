package io.plumbline.causal.heads;

/** A value with the ends of its 95 % interval, NaN where undefined. */
public record Interval(double value, double low, double high) {

    /** Returns whether the value is below 0 beyond chance. */
    public boolean isBelowZero() {
        return high < 0.0;
    }

    /** Returns whether the value is above 0 beyond chance. */
    public boolean isAboveZero() {
        return low > 0.0;
    }
}
