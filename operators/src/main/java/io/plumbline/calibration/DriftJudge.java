package io.plumbline.calibration;

import io.plumbline.calibration.Threshold.Level;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.OptionalDouble;

/**
 * Judges the windows of one site by one or several statistics: what a command judges a file by and what the monitor judges its
 * windows by. Pure and immutable.
 *
 * <p><b>Several statistics.</b> A window is above when any of them is. One that cannot be judged makes the window undecided
 * unless another is above. A drifted site comes back by windows in which all are at or below their clear levels. The one that
 * decides is {@link #deciding}: its name and numbers are the verdict's.
 *
 * @param statistics names, of {@link GapAssessment#statisticNames()}
 * @param threshold above it a window speaks for drift
 * @param clear at or below it a window speaks against; the threshold itself for no hysteresis
 * @param minimumRows windows with fewer rows are undecided
 */
public record DriftJudge(
        Baseline baseline,
        List<String> statistics,
        Threshold threshold,
        Threshold clear,
        DriftPolicy policy,
        int minimumRows) {

    /** The paper's own statistic. */
    public static final String DEFAULT_TRIGGER = "faithfulness_gap";

    /** Beyond the calibrated sizes by more than this factor a window is undecided, see {@link CalibratedSizes}. */
    public static final double LARGEST_SIZE_RATIO = 2.0;

    public DriftJudge {
        statistics = List.copyOf(statistics);
        if (statistics.isEmpty()) {
            throw new IllegalArgumentException("no statistic to judge by: expected at least one");
        }
    }

    /** Whether a statistic is a gap between subspaces, and so has a largest possible value to take a share of. */
    public static boolean isGap(String statistic) {
        return Statistic.find(statistic).filter(Statistic::isGap).isPresent();
    }

    /** Takes one window's numbers. */
    public DriftPolicy.Outcome judge(DriftState state, GapAssessment window) {
        if (window.rows() < minimumRows) {
            return policy.undecided(
                    state, "the window has %d rows, at least %d are asked for".formatted(window.rows(), minimumRows));
        }
        Reading reading = deciding(state, readings(window));
        Double value = reading.value();
        return reading.undecided() != null || value == null
                ? policy.undecided(state, String.valueOf(reading.undecided()))
                : policy.judge(state, value, reading.level(), reading.clear());
    }

    /** Every statistic of a window beside its levels, in their order. */
    public List<Reading> readings(GapAssessment window) {
        List<Reading> readings = new ArrayList<>();
        for (String statistic : statistics) {
            readings.add(reading(statistic, window));
        }
        return readings;
    }

    /**
     * The reading that decides: one above its level before one that cannot be judged, that before the others, and among those
     * the one farthest above (of a drifted site: above what it must come back below).
     */
    public static Reading deciding(DriftState state, List<Reading> readings) {
        Comparator<Reading> farthest = Comparator.comparing(
                        (Reading reading) -> Boolean.TRUE.equals(reading.exceeded()))
                .thenComparing(reading -> reading.undecided() != null)
                .thenComparingDouble(state.drifted() ? Reading::ratioToClear : Reading::ratio);
        Reading deciding = readings.get(0);
        for (Reading reading : readings) {
            if (farthest.compare(reading, deciding) > 0) {
                deciding = reading;
            }
        }
        return deciding;
    }

    private Reading reading(String statistic, GapAssessment window) {
        OptionalDouble value = window.statistic(statistic);
        Level level = level(statistic, threshold, window);
        Level back = level(statistic, clear, window);
        String undecided = null;
        if (value.isEmpty()) {
            undecided = "%s is undefined: %s"
                    .formatted(statistic, window.undefined().getOrDefault(statistic, "no reason given"));
        } else if (level instanceof Level.Unknown unknown) {
            undecided = unknown.reason();
        } else if (back instanceof Level.Unknown unknown) {
            undecided = unknown.reason();
        }
        return new Reading(statistic, value.isPresent() ? value.getAsDouble() : null, level, back, undecided);
    }

    private Level level(String statistic, Threshold asked, GapAssessment window) {
        if (asked instanceof Threshold.ShareOfLargestGap && !isGap(statistic)) {
            return new Level.Unknown(statistic + " is not a gap: it has no largest value to take a share of");
        }
        return asked.isCalibrated()
                ? new CalibratedSizes(baseline, statistic, asked).level(window)
                : asked.level(window.rank(), window.dimension(), Threshold.Clean.NONE);
    }
}
