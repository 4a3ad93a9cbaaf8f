package io.plumbline.geometry;

/** A statistic in one window: its number, or why there is none. */
public sealed interface Value {

    /** The number, in the statistic's own unit. */
    record Known(double number) implements Value {}

    /**
     * No number.
     *
     * @param reason a sentence for whoever reads the report
     */
    record Undefined(String reason) implements Value {}
}
