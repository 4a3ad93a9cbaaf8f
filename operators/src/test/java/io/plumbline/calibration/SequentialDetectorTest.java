package io.plumbline.calibration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.calibration.SequentialDetector.Step;
import java.nio.ByteBuffer;
import java.time.Duration;
import java.util.Arrays;
import java.util.Random;
import java.util.function.IntToDoubleFunction;
import org.apache.commons.math3.distribution.PoissonDistribution;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SequentialDetectorTest {

    private static final double RUN_LENGTH = 200;

    private static double[] clean(Random random, int windows) {
        return random.doubles(windows, 0, 1).map(Math::sqrt).toArray();
    }

    /** Number of the window of the first alarm, or {@code windows} if there is none. */
    private static int firstAlarm(SequentialDetector detector, double[] clean, int windows, IntToDoubleFunction value) {
        SequentialState state = SequentialState.INITIAL;
        for (int i = 0; i < windows; i++) {
            Step step = detector.next(state, value.applyAsDouble(i), clean);
            if (step.alarm()) {
                return i;
            }
            state = step.state();
        }
        return windows;
    }

    @ParameterizedTest
    @ValueSource(ints = {5, 15, 79, 400})
    void alarmsOnCleanWindowsAreNotOftenerThanTheRunLengthSays(int cleanWindows) {
        SequentialDetector detector = SequentialDetector.ofRunLength(RUN_LENGTH);
        int streams = 60;
        int windows = 1_000;
        int alarms = 0;
        for (int stream = 0; stream < streams; stream++) {
            Random random = new Random(1_000L * cleanWindows + stream);
            double[] clean = clean(random, cleanWindows);
            SequentialState state = SequentialState.INITIAL;
            for (int i = 0; i < windows; i++) {
                Step step = detector.next(state, Math.sqrt(random.nextDouble()), clean);
                alarms += step.alarm() ? 1 : 0;
                state = step.state();
            }
        }
        double expected = streams * windows / RUN_LENGTH;
        double chance = 1.0 - new PoissonDistribution(expected).cumulativeProbability(alarms - 1);
        assertTrue(
                chance >= 0.01,
                "%d clean windows: %d alarms in %d windows, at most %.0f promised; chance %.2g"
                        .formatted(cleanWindows, alarms, streams * windows, expected, chance));
    }

    @Test
    void aSlowRampBelowTheThresholdIsFoundBeforeTheThresholdFindsIt() {
        // Both promise one false alarm in 30 days of windows of a minute: 414 clean windows, 2 of 3 above the largest.
        Threshold.FalseAlarms promise = new Threshold.FalseAlarms(
                new AlarmBudget.PerTime(1, Duration.ofDays(30)),
                AlarmLaw.tumbling(new DriftPolicy(2, 3), Duration.ofMinutes(1)));
        SequentialDetector detector = SequentialDetector.ofRunLength(30.0 * 24 * 60);
        int windows = 500;
        int streams = 50;
        int earlier = 0;
        double detectorWindows = 0;
        double thresholdWindows = 0;
        for (int stream = 0; stream < streams; stream++) {
            Random random = new Random(stream);
            double[] clean = random.doubles(414).map(u -> random.nextGaussian()).toArray();
            double level = ((Threshold.Level.Known) promise.level(1, 2, new Threshold.Clean(1, clean))).value();
            // One standard deviation after 100 windows: two below the largest of the clean ones.
            double[] ramp = new double[windows];
            for (int i = 0; i < windows; i++) {
                ramp[i] = random.nextGaussian() + Math.min(1.0, 0.01 * i);
            }
            int byThreshold = 2;
            while (byThreshold < windows && !twoOfThreeAbove(ramp, byThreshold, level)) {
                byThreshold++;
            }
            int bySum = firstAlarm(detector, clean, windows, i -> ramp[i]);
            earlier += bySum < byThreshold ? 1 : 0;
            detectorWindows += (double) bySum / streams;
            thresholdWindows += (double) byThreshold / streams;
        }
        assertTrue(
                detectorWindows < 0.6 * thresholdWindows && earlier >= 0.8 * streams,
                "after %.0f windows, the threshold after %.0f (500 being never); earlier in %d of %d streams"
                        .formatted(detectorWindows, thresholdWindows, earlier, streams));
    }

    private static boolean twoOfThreeAbove(double[] values, int last, double level) {
        return Arrays.stream(values, last - 2, last + 1)
                        .filter(value -> value > level)
                        .count()
                >= 2;
    }

    @Test
    void theBetHasMeanOneAndFallsWithP() {
        double sum = 0;
        double before = Double.POSITIVE_INFINITY;
        int steps = 2_000_000;
        for (int i = 0; i < steps; i++) {
            double bet = SequentialDetector.bet((i + 0.5) / steps);
            assertTrue(bet <= before, "at " + i);
            before = bet;
            sum += bet / steps;
        }
        // The tail below the first step is 1/ln(steps) of the mean, some of which the first midpoint sees.
        assertEquals(1.0, sum, 0.07);
        assertTrue(sum < 1.0);
        assertEquals(0.5, SequentialDetector.bet(1.0), 1e-12);
    }

    @Test
    void theComparisonStartsOverWithOtherCleanWindowsAndAfterAnEpoch() {
        SequentialDetector detector = SequentialDetector.ofRunLength(1e9);
        double[] clean = clean(new Random(1), 20);
        SequentialState state = SequentialState.INITIAL;
        for (int i = 0; i < SequentialDetector.EPOCH; i++) {
            state = detector.next(state, 0.5, clean).state();
        }
        assertEquals(SequentialDetector.EPOCH, state.windows());
        assertEquals(1, detector.next(state, 0.5, clean).state().windows());
        SequentialState few = detector.next(SequentialState.INITIAL, 0.5, clean).state();
        assertEquals(2, detector.next(few, 0.5, clean).state().windows());
        assertEquals(
                1, detector.next(few, 0.5, clean(new Random(2), 20)).state().windows());
    }

    @Test
    void anAlarmTakesTheEvidenceAway() {
        double[] clean = clean(new Random(1), 99);
        Step step = SequentialDetector.ofRunLength(2).next(SequentialState.INITIAL, 2.0, clean);
        assertTrue(step.alarm());
        // p = 1/100.
        assertEquals(SequentialDetector.bet(0.01), step.evidence(), 1e-12);
        assertEquals(0.0, step.state().evidence());
        assertFalse(SequentialDetector.ofRunLength(10)
                .next(SequentialState.INITIAL, 2.0, clean)
                .alarm());
        assertThrows(IllegalArgumentException.class, () -> SequentialDetector.ofRunLength(0.5));
    }

    @Test
    void stateSurvivesItsBytes() {
        double[] clean = clean(new Random(1), 20);
        SequentialDetector detector = SequentialDetector.ofRunLength(100);
        SequentialState state = SequentialState.INITIAL;
        for (int i = 0; i < 5; i++) {
            state = detector.next(state, 0.1 * i, clean).state();
        }
        byte[] bytes = state.encode();
        assertEquals(state, SequentialState.decode(ByteBuffer.wrap(bytes)));
        for (int cut = 0; cut < bytes.length; cut++) {
            ByteBuffer part = ByteBuffer.wrap(bytes, 0, cut);
            assertThrows(IllegalArgumentException.class, () -> SequentialState.decode(part));
        }
        bytes[4] = (byte) 0xFF;
        assertThrows(IllegalArgumentException.class, () -> SequentialState.decode(ByteBuffer.wrap(bytes)));
    }
}
