package io.plumbline.requests;

import io.plumbline.moments.SampledRow;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Counts how much of a window is sent again: clients that retry send the same rows, and a window of few distinct
 * requests looks unlike the baseline without any drift.
 *
 * <p>Copies under names of their own are found by {@link DistinctRequests}. A request that comes again under its name
 * has its rows several times: of m rows sampled at rate q the pairs of equal ones come to {@code 1 + 2 pairs / (q m)}
 * times a row, on average. Rows are equal when they differ by no more than the rounding of half precision.
 *
 * <p><b>Cost.</b> That of {@link RowContents}, twice: 2.2 GFLOP for 4,096 rows.
 *
 * @param requests with sampled rows
 * @param copies of these, copies of another one
 * @param times how often a row comes in its request, on average; 1 where none comes again
 */
public record RepeatedTraffic(int requests, int copies, double times) {

    private static final double STORM_COPIES = 0.5;
    private static final double STORM_TIMES = 1.5;

    /**
     * Counts the repeats of a window.
     *
     * @param rows a sample of it
     * @param rate share of its rows that were sampled, in (0, 1]
     */
    public static RepeatedTraffic of(List<SampledRow> rows, double rate) {
        if (rows.isEmpty()) {
            return new RepeatedTraffic(0, 0, 1.0);
        }
        DistinctRequests distinct = DistinctRequests.among(rows, rate, CleanRequests.UNKNOWN, Set.of());
        int[] contents = RowContents.of(rows, CleanRequests.UNKNOWN.tolerance());
        Map<List<Long>, Integer> times = new HashMap<>();
        for (int row = 0; row < contents.length; row++) {
            times.merge(List.of(rows.get(row).request(), (long) contents[row]), 1, Integer::sum);
        }
        double pairs = times.values().stream()
                .mapToDouble(number -> 0.5 * number * (number - 1.0))
                .sum();
        return new RepeatedTraffic(
                distinct.requests() + distinct.repeats(), distinct.repeats(), 1.0 + 2.0 * pairs / (rate * rows.size()));
    }

    /** Returns whether half of the requests are copies, or every other row comes again in its own request. */
    public boolean isStorm() {
        return (copies > 0 && copies >= STORM_COPIES * requests) || times >= STORM_TIMES;
    }
}
