package io.plumbline.comparison;

import io.plumbline.linalg.Matrix;

/** Tells whether a 16-bit type holds every value exactly. Not thread-safe. */
final class Precision {

    private static final double LARGEST_F16 = 65_504.0;

    boolean isF16 = true;
    boolean isBf16 = true;
    double largest;

    void add(Matrix rows) {
        for (double value : rows.values()) {
            largest = Math.max(largest, Math.abs(value));
            isBf16 = isBf16 && holds(value, 8, -126);
            isF16 = isF16 && Math.abs(value) <= LARGEST_F16 && holds(value, 11, -14);
        }
    }

    /** Returns whether a value is a whole multiple of the last place that so many binary digits have at its size. */
    private static boolean holds(double value, int digits, int leastExponent) {
        double places = Math.scalb(value, digits - 1 - Math.max(leastExponent, Math.getExponent(value)));
        return places == Math.rint(places);
    }

    /** Returns the narrow type whose values these are and the others are not; empty where there is none. */
    String narrowerThan(Precision other) {
        return largest == 0.0
                ? "" // no row, or rows of zeros, which every type holds
                : isBf16 && !other.isBf16 ? "bfloat16" : isF16 && !other.isF16 ? "float16" : "";
    }
}
