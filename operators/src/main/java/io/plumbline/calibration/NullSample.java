package io.plumbline.calibration;

import java.util.Arrays;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;

/**
 * The statistics of a site's clean windows of one size at one rank.
 *
 * @param rank the rank the subspaces were taken at
 * @param rowsPerWindow rows a window was filled to: it holds at least these, up to the end of its last request
 * @param statistics by name, one value per clean window in which it was defined, in the order of the windows
 */
public record NullSample(int rank, int rowsPerWindow, Map<String, double[]> statistics) {

    /** Name of the series of the windows' own rows. */
    static final String ROWS = "rows";

    public NullSample {
        if (rank < 1 || rowsPerWindow < 1) {
            throw new IllegalArgumentException(
                    "rank = %d, rows per window = %d: expected 1 or more of each".formatted(rank, rowsPerWindow));
        }
        Map<String, double[]> copy = new LinkedHashMap<>();
        statistics.forEach((name, values) -> copy.put(name, values.clone()));
        statistics = Collections.unmodifiableMap(copy);
    }

    /** The clean windows' values of one statistic; empty where it was never defined. */
    public double[] values(String statistic) {
        double[] values = statistics.get(statistic);
        return values == null ? new double[0] : values.clone();
    }

    /**
     * Rows the windows have on average: more than they were filled to by half a request or so. Files written before this was
     * kept give the latter.
     */
    public double meanRows() {
        return Arrays.stream(values(ROWS)).average().orElse(rowsPerWindow);
    }

    /** One statistic, as a threshold takes it. */
    public Threshold.Clean clean(String statistic) {
        return new Threshold.Clean(rowsPerWindow, values(statistic));
    }
}
