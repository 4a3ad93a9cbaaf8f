package io.plumbline.baseline;

import io.plumbline.judgement.Threshold;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.stream.IntStream;

/**
 * The statistics of a site's clean windows of one size at one rank.
 *
 * @param rank the rank the subspaces were taken at
 * @param rowsPerWindow rows a window was filled to, too long ones counted: at least these came, up to the end of its
 *     last request
 * @param statistics by name, one value per clean window, NaN where it was undefined, in the order of the windows;
 *     where sites are judged as one, what the others have in the same windows, too
 */
public record NullSample(int rank, int rowsPerWindow, Map<String, double[]> statistics) {

    /** Name of the series of the windows' own rows. */
    static final String ROWS = "rows";

    /** Name of the series that tells windows apart: the same number is a window of the same requests at every site. */
    static final String IDENTITY = "window_identity";

    /** Name of the series of the largest score that each window has in any statistic of another site. */
    private static final String SCORE_OF_OTHERS = "@score";

    /** Names of series that say, for each window the same, how many sites and statistics the scores are of. */
    private static final String OTHER_SITES = "@sites";

    private static final String OTHER_STATISTICS = "@statistics";

    /**
     * Another site that the same requests pass, which is judged together with this one.
     *
     * @param sizes its clean windows at the rank that it is watched at
     * @param statistics those that decide there
     */
    public record OtherSite(List<NullSample> sizes, List<String> statistics) {

        private Optional<NullSample> ofSize(int rowsPerWindow) {
            return sizes.stream()
                    .filter(size -> size.rowsPerWindow() == rowsPerWindow)
                    .findFirst();
        }
    }

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
     * Returns the windows that every one of these sites has, too, with the largest score that each has in any statistic
     * of another site; empty where there is no such window. One series, however many sites there are.
     */
    Optional<NullSample> with(List<OtherSite> others) {
        List<Map<Double, Integer>> places = new ArrayList<>();
        for (OtherSite other : others) {
            places.add(other.ofSize(rowsPerWindow).map(NullSample::places).orElse(Map.of()));
        }
        int[] common = IntStream.range(0, series(IDENTITY).length)
                .filter(window -> places.stream().allMatch(of -> of.containsKey(series(IDENTITY)[window])))
                .toArray();
        if (common.length == 0) {
            return Optional.empty();
        }
        double[] score = new double[common.length];
        Arrays.fill(score, Double.NEGATIVE_INFINITY);
        int series = 0;
        for (int at = 0; at < others.size(); at++) {
            Map<Double, Integer> placeOf = places.get(at);
            NullSample size = others.get(at).ofSize(rowsPerWindow).orElseThrow();
            for (String statistic : others.get(at).statistics()) {
                double[] all = size.series(statistic);
                if (all.length > 0) {
                    series++;
                    double[] own = Arrays.stream(common)
                            .mapToDouble(window -> all[placeOf.getOrDefault(series(IDENTITY)[window], -1)])
                            .toArray();
                    double[] scores = CleanScores.largestScores(own);
                    Arrays.setAll(score, window -> Math.max(score[window], scores[window]));
                }
            }
        }
        Map<String, double[]> together = new LinkedHashMap<>();
        statistics.forEach((name, values) -> together.put(
                name,
                Arrays.stream(common).mapToDouble(window -> values[window]).toArray()));
        together.put(SCORE_OF_OTHERS, score);
        together.put(OTHER_SITES, constant(common.length, others.size()));
        together.put(OTHER_STATISTICS, constant(common.length, series));
        return Optional.of(new NullSample(rank, rowsPerWindow, together));
    }

    private static double[] constant(int windows, int value) {
        double[] values = new double[windows];
        Arrays.fill(values, value);
        return values;
    }

    private Map<Double, Integer> places() {
        Map<Double, Integer> places = new HashMap<>();
        double[] identities = series(IDENTITY);
        for (int window = 0; window < identities.length; window++) {
            places.put(identities[window], window);
        }
        return places;
    }

    /** Returns these windows without what other sites have in them. */
    NullSample byItself() {
        Map<String, double[]> own = new LinkedHashMap<>(statistics);
        own.keySet().removeAll(List.of(SCORE_OF_OTHERS, OTHER_SITES, OTHER_STATISTICS));
        return new NullSample(rank, rowsPerWindow, own);
    }

    /** Returns the largest score of each window in any statistic of another site; empty where there is no other. */
    double[] scoreOfOthers() {
        return series(SCORE_OF_OTHERS);
    }

    /** Returns how many sites are judged as one by these windows. */
    int sites() {
        return 1 + (int) Arrays.stream(series(OTHER_SITES)).findFirst().orElse(0.0);
    }

    /** Returns how many statistics of other sites are judged as one with those of this one. */
    int statisticsOfOthers() {
        return (int) Arrays.stream(series(OTHER_STATISTICS)).findFirst().orElse(0.0);
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
    public double fewestRows() {
        return Arrays.stream(values(ROWS)).min().orElse(rowsPerWindow);
    }

    /** Returns the number of rows of the largest window. */
    double mostRows() {
        return Arrays.stream(values(ROWS)).max().orElse(rowsPerWindow);
    }
}
