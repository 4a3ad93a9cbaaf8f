package io.plumbline.geometry;

/** The scale of the evidence {@code L = -ln p} that single requests give against the baseline. */
public final class Evidence {

    /** The most one request gives: p is counted as at least {@code exp(-30)}. */
    public static final double LARGEST = 30.0;

    /** The weight of a request's evidence in {@code ln mean exp(0.3 L)}. */
    public static final double EXPONENT = 0.3;

    /** The most {@code ln mean exp(0.3 L)} comes to, when each request gives the most. */
    static final double LARGEST_COMBINED = EXPONENT * LARGEST;

    private Evidence() {}
}
