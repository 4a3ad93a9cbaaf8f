package io.plumbline.geometry;

/**
 * An upper bound of a gap. Dimensionless.
 *
 * @param value the bound
 * @param vacuous true when it is not below the largest possible gap, so that it says nothing
 */
public record GapBound(double value, boolean vacuous) {

    static GapBound of(double value, double largestGap) {
        return new GapBound(value, !(value < largestGap));
    }
}
