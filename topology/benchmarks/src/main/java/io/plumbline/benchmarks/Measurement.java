package io.plumbline.benchmarks;

/**
 * One line of the table.
 *
 * @param what the work and its sizes
 * @param variant who did it
 * @param unit of {@code median} and {@code best}, such as {@code GFLOP/s}
 * @param spread (largest - smallest) / median over the rounds
 * @param rounds how often it was measured
 * @param ahead how many times faster the first variant of the same work is than this one, by medians; 1 for itself
 */
public record Measurement(
        String what, String variant, String unit, double median, double best, double spread, int rounds, double ahead) {

    /** Returns this figure as a share of another one; both are the higher the better. */
    Measurement comparedWith(Measurement first) {
        return new Measurement(what, variant, unit, median, best, spread, rounds, first.median / median);
    }

    /** Returns a measurement of figures of which the larger is the better. */
    static Measurement of(String what, String variant, String unit, double[] figures) {
        double[] sorted = figures.clone();
        java.util.Arrays.sort(sorted);
        int n = sorted.length;
        double median = n % 2 == 1 ? sorted[n / 2] : (sorted[n / 2 - 1] + sorted[n / 2]) / 2;
        return new Measurement(
                what, variant, unit, median, sorted[n - 1], (sorted[n - 1] - sorted[0]) / median, n, 1.0);
    }
}
