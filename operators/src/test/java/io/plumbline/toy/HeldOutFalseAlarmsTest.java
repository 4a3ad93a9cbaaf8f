package io.plumbline.toy;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.calibration.AlarmBudget;
import io.plumbline.calibration.AlarmLaw;
import io.plumbline.calibration.Baseline;
import io.plumbline.calibration.DriftJudge;
import io.plumbline.calibration.DriftPolicy;
import io.plumbline.calibration.SequentialDetector;
import io.plumbline.calibration.SequentialState;
import io.plumbline.calibration.Threshold;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.commons.math3.distribution.PoissonDistribution;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * False alarms on windows that had no part in the calibration, against the rate that was asked for; {@link
 * HeldOutFalseAlarmsSoak} is the long form.
 */
class HeldOutFalseAlarmsTest {

    private static final int CLEAN = 79;
    private static final int HELD_OUT = 250;
    private static final double RATE = 0.05;
    /** With 79 clean windows the largest value keeps 5 % with 95 % confidence. */
    private static final int FROM_TOP = 1;

    private static final double RUN_LENGTH = 50;
    private static final double MARGIN = 0.01;
    private static final long CALIBRATION = 2;
    private static final long LATER = 3;

    private static final Threshold THRESHOLD = new Threshold.FalseAlarms(
            new AlarmBudget.PerWindow(RATE), AlarmLaw.tumbling(DriftPolicy.immediate(), Duration.ofMinutes(1)));

    @ParameterizedTest
    @ValueSource(doubles = {0.0, 0.9})
    void cleanWindowsPassNoThresholdOftenerThanPromised(double correlation) {
        HeldOutStream stream = new HeldOutStream(correlation);
        Baseline baseline = stream.calibrated(CALIBRATION, CLEAN);
        HeldOutStream.alarms(baseline, THRESHOLD, stream.heldOut(baseline, LATER, HELD_OUT, 0))
                .forEach((statistic, alarms) -> {
                    double chance = HeldOutStream.chanceOfAsMany(alarms, HELD_OUT, CLEAN, FROM_TOP);
                    assertTrue(
                            chance >= MARGIN,
                            "%s, correlation %s, streams %d and %d: %d of %d windows, %s asked for; chance %.2g"
                                    .formatted(
                                            statistic,
                                            correlation,
                                            CALIBRATION,
                                            LATER,
                                            alarms,
                                            HELD_OUT,
                                            RATE,
                                            chance));
                });
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.0, 0.9})
    void statisticsJudgedAsOneKeepThePromiseOfOneAndSeeWhatEachSees(double correlation) {
        HeldOutStream stream = new HeldOutStream(correlation);
        Baseline baseline = stream.calibrated(CALIBRATION, CLEAN);
        List<GapAssessment> windows = stream.heldOut(baseline, LATER, HELD_OUT, 0);
        List<GapAssessment> shifted = stream.heldOut(baseline, LATER, 10, ToyStream.SEVERITIES - 1);
        for (List<String> together : List.of(
                DriftJudge.DEFAULT_TRIGGERS,
                List.of("faithfulness_gap", "residual_energy", "whitened_mean_shift"),
                HeldOutStream.STATISTICS)) {
            int alarms = HeldOutStream.alarms(baseline, together, THRESHOLD, windows);
            double chance = HeldOutStream.chanceOfAsMany(alarms, HELD_OUT, CLEAN, FROM_TOP);
            assertTrue(
                    chance >= MARGIN,
                    "%s, correlation %s, streams %d and %d: %d of %d windows, chance %.2g"
                            .formatted(together, correlation, CALIBRATION, LATER, alarms, HELD_OUT, chance));
            int seen = HeldOutStream.alarms(baseline, together, THRESHOLD, shifted);
            assertTrue(seen >= 9, "%s see the full shift in %d of 10 windows".formatted(together, seen));
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.0, 0.9})
    void addedUpEvidenceRaisesNoMoreAlarmsThanItsRunLengthSays(double correlation) {
        HeldOutStream stream = new HeldOutStream(correlation);
        Baseline baseline = stream.calibrated(CALIBRATION, CLEAN);
        List<GapAssessment> windows = stream.heldOut(baseline, LATER, HELD_OUT, 0);
        SequentialDetector detector = SequentialDetector.ofRunLength(RUN_LENGTH);
        for (String statistic : HeldOutStream.STATISTICS) {
            double[] clean = baseline.samples().get(0).values(statistic);
            SequentialState state = SequentialState.INITIAL;
            int alarms = 0;
            for (GapAssessment window : windows) {
                double[] value = {window.statistic(statistic).orElseThrow()};
                SequentialDetector.Step step = detector.next(state, value, clean, true);
                alarms += step.alarm() ? 1 : 0;
                state = step.state();
            }
            double expected = HELD_OUT / RUN_LENGTH;
            double chance = 1.0 - new PoissonDistribution(expected).cumulativeProbability(alarms - 1);
            assertTrue(
                    chance >= MARGIN,
                    "%s, correlation %s, streams %d and %d: %d alarms in %d windows, at most %s promised; chance %.2g"
                            .formatted(statistic, correlation, CALIBRATION, LATER, alarms, HELD_OUT, expected, chance));
        }
    }

    @ParameterizedTest
    @ValueSource(doubles = {0.0, 0.9})
    void theReconstructionOfSampledRowsKeepsItsPromiseInWindowsOfMoreRows(double correlation) {
        HeldOutStream stream = new HeldOutStream(correlation, HeldOutStream.LARGE_WINDOW);
        Baseline baseline = stream.calibrated(CALIBRATION, CLEAN);
        int alarms = HeldOutStream.alarms(baseline, THRESHOLD, stream.heldOut(baseline, LATER, HELD_OUT, 0))
                .getOrDefault(Statistic.RECONSTRUCTION_FVU_TRAINED.label(), HELD_OUT);
        double chance = HeldOutStream.chanceOfAsMany(alarms, HELD_OUT, CLEAN, FROM_TOP);
        assertTrue(
                chance >= MARGIN,
                "correlation %s, streams %d and %d: %d of %d windows, %s asked for; chance %.2g"
                        .formatted(correlation, CALIBRATION, LATER, alarms, HELD_OUT, RATE, chance));
    }

    @Test
    void everyThresholdIsLowEnoughForTheFullShiftToPassIt() {
        HeldOutStream stream = new HeldOutStream(0.0);
        Baseline baseline = stream.calibrated(CALIBRATION, 25);
        HeldOutStream.alarms(baseline, THRESHOLD, stream.heldOut(baseline, LATER, 10, ToyStream.SEVERITIES - 1))
                .forEach((statistic, alarms) -> assertTrue(
                        alarms >= 9, "%s sees the full shift in %d of 10 windows".formatted(statistic, alarms)));
    }

    @Test
    void windowsOfIndependentRowsWouldPromiseTooMuchForWholeRequests() {
        Baseline independent = new HeldOutStream(0.0).calibrated(CALIBRATION, CLEAN);
        HeldOutStream requests = new HeldOutStream(0.9);
        Map<String, Integer> alarms =
                HeldOutStream.alarms(independent, THRESHOLD, requests.heldOut(independent, LATER, 50, 0));
        alarms.forEach((statistic, count) -> {
            double chance = HeldOutStream.chanceOfAsMany(count, 50, CLEAN, FROM_TOP);
            assertTrue(chance < MARGIN, "%s: %d of 50 windows, chance %.2g".formatted(statistic, count, chance));
        });
    }
}
