package io.plumbline.baseline;

import io.plumbline.geometry.Statistic;
import io.plumbline.judgement.Amounts;
import io.plumbline.judgement.Basis;
import io.plumbline.judgement.Threshold;
import io.plumbline.judgement.Threshold.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * The level of one statistic for windows of any number of rows, from the clean windows of a few sizes.
 *
 * <p>What sampling adds to a statistic falls as {@code 1/sqrt(rows)} (a mean shift, a share), or as the root of a
 * square plus {@code c/rows} (a gap that is not 0 on average). As functions of {@code u = 1/sqrt(rows)} these are
 * straight or convex. The rows of a size are those its clean windows have on average.
 *
 * <ul>
 *   <li><b>Between two sizes</b> the level is on the straight line in u through theirs, which lies at or above a convex
 *       function: exact, or on the safe side.
 *   <li><b>Above the largest size</b> the level is the largest size's, however many rows a window has: floors only fall
 *       with rows. A statistic that grows with requests ({@link Statistic#growsWithRequests}) has no level above the
 *       most rows that one of its clean windows has.
 *   <li><b>Below the smallest size, down to half its rows,</b> the level continues the line through the two smallest
 *       sizes. Where that line would fall towards fewer rows, two noisy sizes are its cause and the level stays the
 *       smallest size's.
 *   <li><b>Below the only size</b> no line is known, so a window is judged by its level down to the fewest rows that
 *       one of its clean windows has, and is undecided below: the same level would alarm too often, a higher one could
 *       hide a drift.
 *   <li><b>Below half the smallest size</b> a window is undecided.
 *   <li><b>A size without a level</b>, because its clean windows are too few for the quantile asked for, is passed
 *       over: its windows take the level of the next smaller size, which is on the safe side.
 * </ul>
 *
 * <p>Immutable; any number of threads.
 */
final class CalibratedSizes {

    /**
     * The number that the rows of the smallest size are divided by: windows with fewer rows than that are undecided.
     */
    private static final double SMALLEST_RATIO = 2.0;

    private record Size(
            double rows, double fewestRows, double mostRows, double level, CleanScores.Spread spread, Basis basis) {
        Level known() {
            return new Level.Known(level, basis);
        }
    }

    /**
     * The place of a window between two sizes, by the weight of the smaller: 0 to 1 between them, above 1 below both.
     */
    private record Place(Size smaller, Size larger, double weight) {
        static Place of(Size smaller, Size larger, long rows) {
            double from = 1.0 / Math.sqrt(larger.rows());
            double to = 1.0 / Math.sqrt(smaller.rows());
            return new Place(smaller, larger, (1.0 / Math.sqrt((double) rows) - from) / (to - from));
        }

        double on(double ofSmaller, double ofLarger) {
            return ofLarger + weight * (ofSmaller - ofLarger);
        }
    }

    private final Baseline baseline;
    private final String statistic;
    private final int rank;
    private final boolean grows;
    private final List<Size> sizes = new ArrayList<>();
    private Level.@Nullable Unknown missing;

    /**
     * The levels of a statistic.
     *
     * @param together the statistics that are judged as one, this one among them
     * @param threshold a calibrated one
     */
    CalibratedSizes(Baseline baseline, List<String> together, String statistic, Threshold threshold, int rank) {
        this.baseline = baseline;
        this.statistic = statistic;
        this.rank = rank;
        this.grows =
                Statistic.find(statistic).filter(Statistic::growsWithRequests).isPresent();
        if (baseline.samples().isEmpty()
                && threshold.level(rank, baseline.dimension(), Threshold.Clean.NONE) instanceof Level.Unknown unknown) {
            missing = unknown;
        }
        for (NullSample sample : baseline.samplesOf(rank)) {
            CleanScores scores = CleanScores.of(sample, together);
            Level level = scores.level(statistic, threshold, rank, baseline.dimension());
            if (level instanceof Level.Known known && known.basis() != null) {
                sizes.add(new Size(
                        sample.meanRows(),
                        sample.fewestRows(),
                        sample.mostRows(),
                        known.value(),
                        scores.spread(statistic),
                        known.basis()));
            } else if (level instanceof Level.Unknown unknown && missing == null) {
                // Of the smallest size, which has the most windows.
                missing = unknown;
            }
        }
    }

    /**
     * Returns the level of windows as large as the clean windows of a size: the size's own, or where it has none that
     * of the next smaller size.
     */
    Level level(NullSample size) {
        for (Size known : sizes) {
            if (known.rows() == size.meanRows()) {
                return known.known();
            }
        }
        return level(Math.round(size.meanRows()));
    }

    /** Returns the level of windows of so many rows. */
    Level level(long rows) {
        Place place = place(rows);
        if (place == null) {
            return unknown(rows);
        }
        if (place.weight() <= 1.0) {
            return between(place);
        }
        return below(place);
    }

    /**
     * Returns how many standard deviations of clean windows a value is above their mean, in windows of so many rows;
     * null if unknown.
     */
    @Nullable
    Double score(double value, long rows) {
        Place place = place(rows);
        if (place == null) {
            return null;
        }
        CleanScores.Spread smaller = place.smaller().spread();
        CleanScores.Spread larger = place.larger().spread();
        double mean = place.on(smaller.mean(), larger.mean());
        double deviation = place.on(smaller.deviation(), larger.deviation());
        return deviation > 0.0 ? Double.valueOf((value - mean) / deviation) : null;
    }

    /**
     * Returns the rows below which no window has a level, where every size has one.
     *
     * @param sizes of one rank, the smallest first; at least one
     */
    static long fewestRows(List<NullSample> sizes) {
        NullSample smallest = sizes.get(0);
        return (long) Math.ceil(sizes.size() == 1 ? smallest.fewestRows() : smallest.meanRows() / SMALLEST_RATIO);
    }

    /** Returns the place of a window of so many rows; null where there is no level. */
    private @Nullable Place place(long rows) {
        if (sizes.isEmpty()) {
            return null;
        }
        Size smaller = null;
        Size larger = null;
        for (Size size : sizes) {
            if (size.rows() <= rows) {
                smaller = size;
            } else if (larger == null) {
                larger = size;
            }
        }
        if (isTooLarge(rows)) {
            return null;
        }
        if (smaller != null) {
            return larger == null || smaller.rows() == rows
                    ? new Place(smaller, smaller, 1.0)
                    : Place.of(smaller, larger, rows);
        }
        Size smallest = sizes.get(0);
        if (sizes.size() == 1) {
            return rows >= smallest.fewestRows() ? new Place(smallest, smallest, 1.0) : null;
        }
        return rows * SMALLEST_RATIO >= smallest.rows() ? Place.of(smallest, sizes.get(1), rows) : null;
    }

    private boolean isTooLarge(long rows) {
        return grows && !sizes.isEmpty() && rows > sizes.get(sizes.size() - 1).mostRows();
    }

    private static Level between(Place place) {
        Size smaller = place.smaller();
        Size larger = place.larger();
        if (place.weight() == 1.0) {
            return smaller.known();
        }
        return new Level.Known(
                place.on(smaller.level(), larger.level()),
                smaller.basis()
                        .and(
                                larger.basis(),
                                "between %s and %s, in 1/sqrt(rows)"
                                        .formatted(
                                                smaller.basis().rule(),
                                                larger.basis().rule())));
    }

    private static Level below(Place place) {
        Size smaller = place.smaller();
        Size larger = place.larger();
        double value = Math.max(smaller.level(), place.on(smaller.level(), larger.level()));
        return new Level.Known(
                value,
                smaller.basis()
                        .and(
                                larger.basis(),
                                "below %s and %s, on the line in 1/sqrt(rows) through both"
                                        .formatted(
                                                smaller.basis().rule(),
                                                larger.basis().rule())));
    }

    private Level unknown(long rows) {
        if (sizes.isEmpty() && missing != null) {
            return missing;
        }
        String calibrated = baseline.samples().stream()
                .map(sample -> "%s, rank %d".formatted(Amounts.count(sample.rowsPerWindow(), "row"), sample.rank()))
                .collect(Collectors.joining("; "));
        return new Level.Unknown(("the window has %s and rank %d, the baseline's clean windows are of %s: %s; "
                        + "run `plumbline baseline --rank %d --window-rows %d`, or set a number")
                .formatted(
                        Amounts.count(rows, "row"),
                        rank,
                        calibrated.isEmpty() ? "no size" : calibrated,
                        sizes.isEmpty()
                                ? "none has a threshold for %s".formatted(statistic)
                                : isTooLarge(rows)
                                        ? "%s grows with requests, and none is as large".formatted(statistic)
                                        : sizes.size() == 1
                                                ? "of one size alone it is not known how much higher the threshold"
                                                        + " is for fewer rows"
                                                : "none is as small as twice its rows",
                        rank,
                        rows));
    }
}
