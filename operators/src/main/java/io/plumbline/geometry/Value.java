package io.plumbline.geometry;

/** The value of a statistic in one window: its number, or why there is none. */
public sealed interface Value {

    /** A known value, in the statistic's own unit. */
    record Known(double number) implements Value {}

    /**
     * An undefined value.
     *
     * @param reason a sentence for whoever reads the report
     */
    record Undefined(String reason) implements Value {}
}
