package io.plumbline.calibration;

import io.plumbline.calibration.Threshold.Level;
import io.plumbline.geometry.GapAssessment;
import java.util.Comparator;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;
import java.util.stream.Collectors;

/**
 * Judges the windows of one site by one statistic: what a command judges a file by and what the monitor judges its windows
 * by. Pure and immutable.
 *
 * @param trigger name of the statistic, one of {@link GapAssessment#statisticNames()}
 * @param threshold above it a window speaks for drift
 * @param clear at or below it a window speaks against; the threshold itself for no hysteresis
 * @param minimumRows windows with fewer rows are undecided
 */
public record DriftJudge(
        Baseline baseline, String trigger, Threshold threshold, Threshold clear, DriftPolicy policy, int minimumRows) {

    /** The paper's own statistic. */
    public static final String DEFAULT_TRIGGER = "faithfulness_gap";

    /** The statistics whose largest possible value is that of a gap. */
    private static final Set<String> GAPS = Set.of("faithfulness_gap", "baseline_gap", "reconstruction_gap");

    /** The sampling floor of a gap falls as one over the root of the rows: farther sizes do not speak about a window. */
    public static final double LARGEST_SIZE_RATIO = 2.0;

    /** Whether a statistic is a gap between subspaces, and so has a largest possible value to take a share of. */
    public static boolean isGap(String statistic) {
        return GAPS.contains(statistic);
    }

    /** Takes one window's numbers. */
    public DriftPolicy.Outcome judge(DriftState state, GapAssessment window) {
        if (window.rows() < minimumRows) {
            return policy.undecided(
                    state, "the window has %d rows, at least %d are asked for".formatted(window.rows(), minimumRows));
        }
        OptionalDouble value = window.statistic(trigger);
        if (value.isEmpty()) {
            return policy.undecided(
                    state,
                    "%s is undefined: %s"
                            .formatted(trigger, window.undefined().getOrDefault(trigger, "no reason given")));
        }
        return policy.judge(state, value.getAsDouble(), level(threshold, window), level(clear, window));
    }

    /** What the threshold comes to for a window of this size. */
    public Level level(GapAssessment window) {
        return level(threshold, window);
    }

    private Level level(Threshold asked, GapAssessment window) {
        if (asked instanceof Threshold.ShareOfLargestGap && !isGap(trigger)) {
            return new Level.Unknown(trigger + " is not a gap: it has no largest value to take a share of");
        }
        Optional<NullSample> clean = cleanWindows(window);
        if (clean.isEmpty() && !baseline.samples().isEmpty() && asked instanceof Threshold.QuantileOfCleanWindows) {
            return new Level.Unknown(
                    "the window has %d rows and rank %d, the baseline's clean windows are of %s; none is of this rank and within a factor of two of its rows: run `plumbline baseline --rank %d --window-rows %d`, or set a number"
                            .formatted(window.rows(), window.rank(), calibrated(), window.rank(), window.rows()));
        }
        double[] values = clean.map(sample -> sample.values(trigger)).orElse(new double[0]);
        return asked.level(window.rank(), window.dimension(), values);
    }

    private String calibrated() {
        return baseline.samples().stream()
                .map(sample -> "%d rows, rank %d".formatted(sample.rowsPerWindow(), sample.rank()))
                .collect(Collectors.joining("; "));
    }

    /** The clean windows of the calibrated size nearest by ratio, within a factor of two. */
    private Optional<NullSample> cleanWindows(GapAssessment window) {
        return baseline.samples().stream()
                .filter(sample -> sample.rank() == window.rank())
                .filter(sample -> distance(sample, window) <= Math.log(LARGEST_SIZE_RATIO))
                .min(Comparator.comparingDouble(sample -> distance(sample, window)));
    }

    private static double distance(NullSample sample, GapAssessment window) {
        return Math.abs(Math.log((double) window.rows() / sample.rowsPerWindow()));
    }
}
