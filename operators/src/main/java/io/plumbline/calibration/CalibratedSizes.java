package io.plumbline.calibration;

import io.plumbline.calibration.Threshold.Level;
import io.plumbline.geometry.FaithfulnessGap;
import io.plumbline.geometry.GapAssessment;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/**
 * A level for windows of any number of rows, from the clean windows of a few sizes.
 *
 * <p>What sampling adds to a statistic falls as {@code 1/sqrt(rows)} (a mean shift, a share), or as the root of a square plus
 * {@code c/rows} (a gap that is not 0 on average). As functions of {@code u = 1/sqrt(rows)} these are straight or convex, and
 * that is the whole rule:
 *
 * <ul>
 *   <li><b>between two calibrated sizes</b> the straight line in u through their levels, which lies at or above a convex
 *       function: exact, or on the safe side;
 *   <li><b>above the largest, up to twice its rows</b> the largest size's level: floors only fall with rows;
 *   <li><b>below the smallest, down to half its rows</b> its level times {@code sqrt(size/rows)}, the steepest such a floor can
 *       rise; where no gap can be that large there is no level;
 *   <li><b>farther away</b> there is no level, and the window is undecided.
 * </ul>
 */
final class CalibratedSizes {

    private record Size(double rows, double level, Basis basis) {
        Level known() {
            return new Level.Known(level, basis);
        }
    }

    private final Baseline baseline;
    private final String statistic;
    private final Threshold threshold;

    CalibratedSizes(Baseline baseline, String statistic, Threshold threshold) {
        this.baseline = baseline;
        this.statistic = statistic;
        this.threshold = threshold;
    }

    Level level(GapAssessment window) {
        List<NullSample> samples = baseline.samplesOf(window.rank());
        List<Size> sizes = new ArrayList<>();
        Level.@Nullable Unknown missing = null;
        for (NullSample sample : samples) {
            Level level = threshold.level(window.rank(), window.dimension(), sample.clean(statistic));
            if (level instanceof Level.Known known && known.basis() != null) {
                sizes.add(new Size(sample.meanRows(), known.value(), known.basis()));
            } else if (level instanceof Level.Unknown unknown && within(sample.meanRows(), window.rows())) {
                missing = unknown;
            }
        }
        if (baseline.samples().isEmpty()) {
            return threshold.level(window.rank(), window.dimension(), Threshold.Clean.NONE);
        }
        return between(sizes, window, missing);
    }

    private Level between(List<Size> sizes, GapAssessment window, Level.@Nullable Unknown missing) {
        Size smaller = null;
        Size larger = null;
        for (Size size : sizes) {
            if (size.rows() <= window.rows()) {
                smaller = size;
            } else if (larger == null) {
                larger = size;
            }
        }
        if (smaller != null && larger != null) {
            return interpolated(smaller, larger, window.rows());
        }
        if (smaller != null && within(smaller.rows(), window.rows())) {
            return smaller.known();
        }
        if (larger != null && within(larger.rows(), window.rows())) {
            return raised(larger, window);
        }
        return missing == null ? far(window) : missing;
    }

    private static boolean within(double size, long rows) {
        return size <= DriftJudge.LARGEST_SIZE_RATIO * rows && rows <= DriftJudge.LARGEST_SIZE_RATIO * size;
    }

    private static Level interpolated(Size smaller, Size larger, long rows) {
        double from = 1.0 / Math.sqrt(larger.rows());
        double to = 1.0 / Math.sqrt(smaller.rows());
        double weight = (1.0 / Math.sqrt((double) rows) - from) / (to - from);
        if (smaller.rows() == rows) {
            return smaller.known();
        }
        double value = larger.level() + weight * (smaller.level() - larger.level());
        return new Level.Known(
                value,
                smaller.basis()
                        .and(
                                larger.basis(),
                                "between %s and %s, in 1/sqrt(rows)"
                                        .formatted(
                                                smaller.basis().rule(),
                                                larger.basis().rule())));
    }

    private Level raised(Size size, GapAssessment window) {
        double factor = Math.sqrt(size.rows() / window.rows());
        double value = size.level() * factor;
        double largest = new FaithfulnessGap(0.0, window.rank(), window.dimension()).largest();
        if (DriftJudge.isGap(statistic) && value >= largest) {
            return new Level.Unknown(
                    "the window has %d rows, fewer than the %.0f the smallest clean windows have, and the threshold allowed for that, %.4g, is one no gap reaches: run `plumbline baseline --rank %d --window-rows %d`"
                            .formatted(window.rows(), size.rows(), value, window.rank(), window.rows()));
        }
        return new Level.Known(
                value,
                size.basis()
                        .withRule("%.3g times %s, for a window of fewer rows"
                                .formatted(factor, size.basis().rule())));
    }

    private Level far(GapAssessment window) {
        String calibrated = baseline.samples().stream()
                .map(sample -> "%d rows, rank %d".formatted(sample.rowsPerWindow(), sample.rank()))
                .collect(Collectors.joining("; "));
        return new Level.Unknown(
                "the window has %d rows and rank %d, the baseline's clean windows are of %s; none is of this rank and within a factor of two of its rows: run `plumbline baseline --rank %d --window-rows %d`, or set a number"
                        .formatted(window.rows(), window.rank(), calibrated, window.rank(), window.rows()));
    }
}
