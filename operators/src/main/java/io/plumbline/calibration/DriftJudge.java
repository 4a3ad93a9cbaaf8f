package io.plumbline.calibration;

import io.plumbline.calibration.Threshold.Level;
import io.plumbline.geometry.GapAssessment;
import java.util.OptionalDouble;
import java.util.Set;

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

    /** Beyond the calibrated sizes by more than this factor a window is undecided, see {@link CalibratedSizes}. */
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
        return asked.isCalibrated()
                ? new CalibratedSizes(baseline, trigger, asked).level(window)
                : asked.level(window.rank(), window.dimension(), Threshold.Clean.NONE);
    }
}
