package io.plumbline.topology.cli;

import io.plumbline.calibration.Baseline;
import io.plumbline.calibration.DriftPolicy;
import io.plumbline.calibration.DriftState;
import io.plumbline.calibration.DriftVerdict;
import io.plumbline.calibration.NullSample;
import io.plumbline.calibration.Threshold;
import io.plumbline.geometry.GapAssessment;
import java.util.Comparator;
import java.util.Locale;
import java.util.Optional;
import java.util.OptionalDouble;
import java.util.Set;

/** Judges one window on its own: no debounce, no memory. */
final class Verdicts {

    static final String DEFAULT_TRIGGER = "faithfulness_gap";

    /** The statistics whose largest possible value is that of a gap. */
    private static final Set<String> GAPS = Set.of("faithfulness_gap", "baseline_gap", "reconstruction_gap");

    private Verdicts() {}

    static DriftVerdict judge(GapAssessment window, Baseline baseline, String trigger, Threshold threshold) {
        OptionalDouble value = window.statistic(trigger);
        if (value.isEmpty()) {
            return new DriftVerdict.Undecided("%s is undefined: %s"
                    .formatted(trigger, window.undefined().getOrDefault(trigger, "no reason was given")));
        }
        if (threshold instanceof Threshold.ShareOfLargestGap && !GAPS.contains(trigger)) {
            return new DriftVerdict.Undecided(trigger + " is not a gap: it has no largest value to take a share of");
        }
        Threshold.Level level =
                threshold.level(window.rank(), window.dimension(), cleanWindows(window, baseline, trigger));
        return DriftPolicy.immediate()
                .judge(DriftState.INITIAL, value.getAsDouble(), level, 0)
                .verdict();
    }

    static String label(DriftVerdict verdict) {
        if (verdict instanceof DriftVerdict.Undecided) {
            return "undecided";
        }
        return verdict instanceof DriftVerdict.Drifted ? "drifted" : "aligned";
    }

    static String reason(DriftVerdict verdict, String trigger) {
        if (verdict instanceof DriftVerdict.Undecided undecided) {
            return undecided.reason();
        }
        if (verdict instanceof DriftVerdict.Drifted drifted) {
            return compared(trigger, drifted.value(), "above", drifted.threshold());
        }
        DriftVerdict.Aligned aligned = (DriftVerdict.Aligned) verdict;
        return compared(trigger, aligned.value(), "not above", aligned.threshold());
    }

    private static String compared(String trigger, double value, String relation, double threshold) {
        return String.format(Locale.ROOT, "%s = %.4g is %s the threshold %.4g", trigger, value, relation, threshold);
    }

    /**
     * The clean windows nearest in size from below. Smaller windows scatter more, so their quantile is on the safe side of
     * a false alarm.
     */
    private static double[] cleanWindows(GapAssessment window, Baseline baseline, String trigger) {
        Optional<NullSample> nearest = baseline.samples().stream()
                .filter(sample -> sample.rank() == window.rank() && sample.rowsPerWindow() <= window.rows())
                .max(Comparator.comparingInt(NullSample::rowsPerWindow));
        return nearest.map(sample -> sample.values(trigger)).orElse(new double[0]);
    }
}
