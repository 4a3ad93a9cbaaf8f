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
 *     those of other sites, where sites are judged as one, under {@link OtherSite#nameOf}
 */
public record NullSample(int rank, int rowsPerWindow, Map<String, double[]> statistics) {

    /** Name of the series of the windows' own rows. */
    static final String ROWS = "rows";

    /** Name of the series that tells windows apart: the same number is a window of the same requests at every site. */
    static final String IDENTITY = "window_identity";

    private static final String OF_OTHERS = "@";

    /**
     * Another site that the same requests pass, which is judged together with this one.
     *
     * @param site its name
     * @param sizes its clean windows at the rank that it is watched at
     * @param statistics those that decide there
     */
    public record OtherSite(String site, List<NullSample> sizes, List<String> statistics) {

        /** Returns the name of the series of one of its statistics in the clean windows of another site. */
        private String nameOf(String statistic) {
            return OF_OTHERS + site + "/" + statistic;
        }

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
     * Returns the windows that every one of these sites has, too, with what is measured there beside what is measured
     * here; empty where there is none.
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
        Map<String, double[]> together = new LinkedHashMap<>();
        statistics.forEach((name, values) -> together.put(
                name,
                Arrays.stream(common).mapToDouble(window -> values[window]).toArray()));
        for (int at = 0; at < others.size(); at++) {
            OtherSite other = others.get(at);
            Map<Double, Integer> placeOf = places.get(at);
            NullSample size = other.ofSize(rowsPerWindow).orElseThrow();
            for (String statistic : other.statistics()) {
                double[] values = size.series(statistic);
                if (values.length > 0) {
                    together.put(
                            other.nameOf(statistic),
                            Arrays.stream(common)
                                    .mapToDouble(window -> values[placeOf.getOrDefault(series(IDENTITY)[window], -1)])
                                    .toArray());
                }
            }
        }
        return Optional.of(new NullSample(rank, rowsPerWindow, together));
    }

    private Map<Double, Integer> places() {
        Map<Double, Integer> places = new HashMap<>();
        double[] identities = series(IDENTITY);
        for (int window = 0; window < identities.length; window++) {
            places.put(identities[window], window);
        }
        return places;
    }

    /** Returns the names of the statistics of other sites. */
    List<String> ofOthers() {
        return statistics.keySet().stream()
                .filter(name -> name.startsWith(OF_OTHERS))
                .toList();
    }

    /** Returns how many sites are judged as one by these windows. */
    int sites() {
        return 1
                + (int) ofOthers().stream()
                        .map(name -> name.substring(0, name.lastIndexOf('/')))
                        .distinct()
                        .count();
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
