package io.plumbline.features;

import io.plumbline.moments.SplitMix;
import java.util.Arrays;
import java.util.function.IntToDoubleFunction;
import java.util.stream.IntStream;

/** Means over the rows of each request, since rows of one request are not independent. */
public final class ByRequest {

    private ByRequest() {}

    /**
     * Returns the mean over the rows of each request, in ascending order of the requests' names.
     *
     * @param requests of the rows; rows of one request may stand anywhere
     * @param ofRow the number of each row
     */
    public static double[] means(long[] requests, IntToDoubleFunction ofRow) {
        long[] distinct = Arrays.stream(requests).distinct().sorted().toArray();
        double[] sums = new double[distinct.length];
        int[] rows = new int[distinct.length];
        for (int row = 0; row < requests.length; row++) {
            int request = Arrays.binarySearch(distinct, requests[row]);
            sums[request] += ofRow.applyAsDouble(row);
            rows[request]++;
        }
        for (int request = 0; request < sums.length; request++) {
            sums[request] /= rows[request];
        }
        return sums;
    }

    /**
     * Returns the places of rows of whole requests to compare with rows that were sampled from other ones. A sample has
     * a long request rather than a short one, and a mean of few rows scatters more: both are so here too.
     *
     * @param rows how many there are
     * @param share chance of each to be kept, a function of its place alone
     */
    public static int[] thinned(int rows, double share) {
        return IntStream.range(0, rows)
                .filter(row -> (SplitMix.mix(row) >>> 11) * 0x1p-53 < share)
                .toArray();
    }

    /** Returns the mean of numbers; NaN where there are none. */
    public static double mean(double[] values) {
        return Arrays.stream(values).average().orElse(Double.NaN);
    }
}
