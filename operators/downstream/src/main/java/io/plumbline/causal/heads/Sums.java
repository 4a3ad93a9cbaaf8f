package io.plumbline.causal.heads;

import java.util.Arrays;
import java.util.EnumMap;
import java.util.Map;
import java.util.Objects;

/**
 * Holds what is added up over requests: every {@link Metric} is a function of these sums, so that a resample of
 * requests is an addition. Immutable.
 */
public final class Sums {

    /** The summands; rows are those behind the first. */
    public enum Of {
        REQUESTS,
        /** Rows with a next token: all but the last. */
        ROWS_CE,
        /** Rows behind the first. */
        ROWS,
        CE_ORIGINAL,
        CE_PATCHED,
        CE_ZERO,
        /** Sum over requests: the absolute difference of the request's mean cross-entropies. */
        ABS_DELTA_CE,
        REQUESTS_CE,
        KL,
        KL_ZERO,
        AGREEMENTS,
        /** Squared error of the reconstruction. */
        ERROR,
        /** Squared distance of the targets to their mean over all requests. */
        SPREAD,
        /** Squares of the targets. */
        SQUARES,
        /** Codes that are not zero. */
        ACTIVE,
        /** Requests whose logit moves enough to divide by. */
        ABLATED,
        /** Sum over ablated requests: the mean of the drops over all budgets. */
        AOPC,
        /** The mean of {@link #AOPC} with each drop clipped to 0 to 1. */
        AOPC_CLIPPED,
        COMP_32,
        COMP_8,
        COMP_4
    }

    private static final int LENGTH = Of.values().length;

    /** The index of each sum in the array. */
    private static final Map<Of, Integer> PLACES = places();

    private final double[] values;

    private Sums(double[] values) {
        this.values = values;
    }

    private static Map<Of, Integer> places() {
        Map<Of, Integer> places = new EnumMap<>(Of.class);
        for (Of of : Of.values()) {
            places.put(of, places.size());
        }
        return places;
    }

    private static int place(Of of) {
        return Objects.requireNonNull(PLACES.get(of));
    }

    public double get(Of of) {
        return values[place(of)];
    }

    /** Returns the first sum for each of the second; NaN where that is 0. */
    double ratio(Of of, Of each) {
        return get(each) == 0.0 ? Double.NaN : get(of) / get(each);
    }

    /** Adds up without a new object each time. */
    static final class Builder {

        private final double[] values = new double[LENGTH];

        void add(Sums sums) {
            for (int i = 0; i < LENGTH; i++) {
                values[i] += sums.values[i];
            }
        }

        void add(Of of, double value) {
            values[place(of)] += value;
        }

        Sums build() {
            return new Sums(values.clone());
        }
    }

    /** Compares by content. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Sums sums && Arrays.equals(values, sums.values);
    }

    @Override
    public int hashCode() {
        return Arrays.hashCode(values);
    }

    @Override
    public String toString() {
        return "Sums" + Arrays.toString(values);
    }
}
