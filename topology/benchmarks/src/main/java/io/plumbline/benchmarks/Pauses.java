package io.plumbline.benchmarks;

import java.util.Arrays;

/**
 * Says how often, and for how long, something stood still during a run; milliseconds. Of a histogram a percentile is
 * the upper end of the bucket it falls in.
 *
 * @param what who stood still, and while what was done
 * @param longest exact; no percentile is above it
 */
public record Pauses(String what, long number, double median, double ninetyNinth, double longest, double total) {

    static Pauses none(String what) {
        return new Pauses(what, 0, 0.0, 0.0, 0.0, 0.0);
    }

    /** Makes a summary of pauses that are all known. */
    static Pauses of(String what, double[] milliseconds) {
        double[] sorted = milliseconds.clone();
        Arrays.sort(sorted);
        int n = sorted.length;
        return n == 0
                ? none(what)
                : new Pauses(
                        what,
                        n,
                        sorted[(n - 1) / 2],
                        sorted[(int) Math.ceil(0.99 * n) - 1],
                        sorted[n - 1],
                        Arrays.stream(sorted).sum());
    }

    Pauses named(String name) {
        return new Pauses(name, number, median, ninetyNinth, longest, total);
    }
}
