package io.plumbline.toy;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.calibration.AlarmBudget;
import io.plumbline.calibration.AlarmLaw;
import io.plumbline.calibration.Baseline;
import io.plumbline.calibration.DriftJudge;
import io.plumbline.calibration.DriftPolicy;
import io.plumbline.calibration.Threshold;
import io.plumbline.geometry.GapAssessment;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.commons.math3.distribution.BinomialDistribution;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * 5,000 windows that had no part in the calibration, at three rates; prints the figures of
 * docs/concepts/calibration.md.
 */
class HeldOutFalseAlarmsSoak {

    private static final int CLEAN = 999;
    private static final int HELD_OUT = 5_000;
    private static final double MARGIN = 0.01;

    @ParameterizedTest
    @ValueSource(doubles = {0.0, 0.9})
    void cleanWindowsPassNoThresholdOftenerThanPromised(double correlation) {
        HeldOutStream stream = new HeldOutStream(correlation);
        Baseline baseline = stream.calibrated(2, CLEAN);
        List<GapAssessment> windows = stream.heldOut(baseline, 3, HELD_OUT, 0);
        for (double rate : new double[] {0.05, 0.01, 0.002}) {
            int fromTop = (int) Math.round(rate * (CLEAN + 1));
            // On average over baselines, which is lower and so held to more than the promise with confidence is.
            Threshold threshold = new Threshold.QuantileOfCleanWindows(1.0 - rate);
            Map<String, Integer> alarms = HeldOutStream.alarms(baseline, threshold, windows);
            for (List<String> together : List.of(DriftJudge.DEFAULT_TRIGGERS, HeldOutStream.STATISTICS)) {
                alarms.put(
                        "%d judged as one".formatted(together.size()),
                        HeldOutStream.alarms(baseline, together, threshold, windows));
            }
            assertConfident(baseline, rate, windows);
            System.out.printf("correlation %s, rate %s: %s%n", correlation, rate, alarms);
            alarms.forEach((statistic, count) -> {
                double chance = HeldOutStream.chanceOfAsMany(count, HELD_OUT, CLEAN, fromTop);
                assertTrue(
                        chance >= MARGIN,
                        "%s, correlation %s: %d of %d windows, %s asked for; chance %.2g"
                                .formatted(statistic, correlation, count, HELD_OUT, rate, chance));
            });
        }
    }

    /** With confidence the rate itself is kept, whatever the clean windows' own chance: but for that of the windows counted. */
    private static void assertConfident(Baseline baseline, double rate, List<GapAssessment> windows) {
        Threshold confident = new Threshold.FalseAlarms(
                new AlarmBudget.PerWindow(rate), AlarmLaw.tumbling(DriftPolicy.immediate(), Duration.ofMinutes(1)));
        Map<String, Integer> alarms = HeldOutStream.alarms(baseline, confident, windows);
        System.out.printf("with confidence, rate %s: %s%n", rate, alarms);
        long above = alarms.values().stream()
                .filter(count -> new BinomialDistribution(null, windows.size(), rate).cumulativeProbability(count - 1)
                        > 1.0 - MARGIN)
                .count();
        assertTrue(above <= 1, "%d of %d statistics are above %s: %s".formatted(above, alarms.size(), rate, alarms));
    }
}
