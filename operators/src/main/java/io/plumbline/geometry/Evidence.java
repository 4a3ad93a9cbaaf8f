package io.plumbline.geometry;

/** The scale of the evidence {@code L = -ln p} that single requests give against the baseline. */
public final class Evidence {

    /** The most one request gives: p is counted as at least {@code exp(-30)}. */
    public static final double LARGEST = 30.0;

    /** The weight of a request's evidence in {@code ln mean exp(0.3 L)}. */
    public static final double EXPONENT = 0.3;

    /** The weight of a request's evidence in {@code ln mean exp(0.7 L)}, where few clean requests are far. */
    public static final double EXPONENT_OF_BOTH = 0.7;

    /** The most that place or reconstruction each add to the evidence of a request in both. */
    public static final double LARGEST_OF_EACH = 12.0;

    /** The most {@code ln mean exp(0.3 L)} comes to, when each request gives the most. */
    static final double LARGEST_COMBINED = EXPONENT * LARGEST;

    /** The most {@code ln mean exp(0.7 L)} comes to. */
    static final double LARGEST_OF_BOTH = EXPONENT_OF_BOTH * LARGEST;

    private Evidence() {}
}
