package io.plumbline.baseline;

import io.plumbline.judgement.Threshold;
import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The statistics of a site's clean windows of one size at one rank.
 *
 * @param rank the rank the subspaces were taken at
 * @param rowsPerWindow rows a window was filled to: it holds at least these, up to the end of its last request
 * @param statistics by name, one value per clean window, NaN where it was undefined, in the order of the windows
 */
public record NullSample(int rank, int rowsPerWindow, Map<String, double[]> statistics) {

    /** Name of the series of the windows' own rows. */
    static final String ROWS = "rows";

    public NullSample {
        if (rank < 1 || rowsPerWindow < 1) {
            throw new IllegalArgumentException(
                    "rank = %d, rows per window = %d: expected 1 or more of each".formatted(rank, rowsPerWindow));
        }
        if (statistics.values().stream()
                        .mapToInt(values -> values.length)
                        .distinct()
                        .count()
                > 1) {
            throw new IllegalArgumentException(
                    ("clean windows of rank %d and %d rows: their statistics have different numbers of values, "
                                    + "expected one for every window")
                            .formatted(rank, rowsPerWindow));
        }
        Map<String, double[]> copy = new LinkedHashMap<>();
        statistics.forEach((name, values) -> copy.put(name, values.clone()));
        statistics = Collections.unmodifiableMap(copy);
    }

    /** Returns the clean windows' values of one statistic where it was defined; empty where it never was. */
    public double[] values(String statistic) {
        return Arrays.stream(series(statistic))
                .filter(value -> !Double.isNaN(value))
                .toArray();
    }

    /**
     * Returns the values of one statistic in all windows, NaN where it was undefined; empty where it never was defined.
     */
    double[] series(String statistic) {
        return statistics.getOrDefault(statistic, new double[0]);
    }

    /**
     * Returns the rows that the windows have on average: more than they were filled to by half a request or so. Files
     * written before this was kept give the latter.
     */
    public double meanRows() {
        return Arrays.stream(values(ROWS)).average().orElse(rowsPerWindow);
    }

    /**
     * Returns the level of a statistic for windows of this size.
     *
     * @param together the statistics that are judged as one, this one among them
     * @param dimension of the target space
     */
    public Threshold.Level level(List<String> together, String statistic, Threshold threshold, int dimension) {
        return CleanScores.of(this, together).level(statistic, threshold, rank, dimension);
    }

    /** Returns the number of rows of the smallest window. */
    double fewestRows() {
        return Arrays.stream(values(ROWS)).min().orElse(rowsPerWindow);
    }
}
