package io.plumbline.judgement;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.judgement.SequentialDetector.Step;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import java.util.function.DoubleSupplier;
import java.util.function.IntFunction;
import org.apache.commons.math3.distribution.PoissonDistribution;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Promises of {@link SequentialDetector} on streams of a known law; its formula is held against {@link
 * SequentialOracle}.
 */
class SequentialDetectorTest {

    /** One false alarm in 90 days of windows of a minute. */
    private static final double MINUTES_OF_90_DAYS = 90.0 * 24 * 60;

    private static final double NEVER = 1e300;

    private static double[] several(int count, DoubleSupplier value) {
        double[] values = new double[count];
        Arrays.setAll(values, i -> value.getAsDouble());
        return values;
    }

    /** Returns the number of windows up to the first alarm, or {@code windows + 1} if there is none. */
    private static int untilAlarm(
            SequentialDetector detector,
            SequentialState from,
            double[] clean,
            int windows,
            boolean joins,
            IntFunction<double[]> values) {
        SequentialState state = from;
        for (int i = 0; i < windows; i++) {
            Step step = detector.next(state, values.apply(i), clean, joins);
            if (step.alarm()) {
                return i + 1;
            }
            state = step.state();
        }
        return windows + 1;
    }

    private static void assertKept(
            SequentialDetector detector, int clean, int perWindow, int streams, int windows, boolean exponential) {
        int alarms = 0;
        for (int stream = 0; stream < streams; stream++) {
            Random random = new Random(1_000L * clean + stream);
            DoubleSupplier law =
                    exponential ? () -> -Math.log(1 - random.nextDouble()) : () -> Math.sqrt(random.nextDouble());
            double[] cleanValues = several(clean, law);
            SequentialState state = SequentialState.INITIAL;
            for (int i = 0; i < windows; i++) {
                Step step = detector.next(state, several(perWindow, law), cleanValues, true);
                alarms += step.alarm() ? 1 : 0;
                state = step.state();
            }
        }
        double expected = streams * windows / detector.level();
        double chance = 1.0 - new PoissonDistribution(expected).cumulativeProbability(alarms - 1);
        assertTrue(
                chance >= 0.01,
                "%d clean values, %d a window: %d alarms in %d windows, at most %.0f promised; chance %.2g"
                        .formatted(clean, perWindow, alarms, streams * windows, expected, chance));
    }

    @ParameterizedTest
    @CsvSource({"3, 1", "5, 1", "15, 1", "79, 1", "400, 1", "15, 4", "60, 17"})
    void alarmsOnCleanWindowsAreNotOftenerThanTheRunLengthSays(int clean, int perWindow) {
        assertKept(SequentialDetector.ofRunLength(200), clean, perWindow, 25, 1_000, false);
    }

    @ParameterizedTest
    @CsvSource({"70, 4", "271, 4", "271, 17"})
    void alarmsOnCleanWindowsKeepTheRunLengthWithATailModelWhereTheTailIsExponential(int clean, int perWindow) {
        assertKept(SequentialDetector.ofRunLength(200).withTailModel(), clean, perWindow, 25, 300, true);
    }

    @Test
    void evidenceIsTheSumOverAllWindowsTheDriftMayHaveBegunAt() {
        Random random = new Random(5);
        double[] clean = several(90, random::nextGaussian);
        for (SequentialDetector detector : List.of(
                SequentialDetector.ofRunLength(NEVER),
                SequentialDetector.ofRunLength(1e9).withTailModel())) {
            SequentialCuts cuts = SequentialCuts.of(clean, detector.level() == NEVER ? 0.0 : detector.level());
            List<double[]> windows = new ArrayList<>();
            SequentialState state = SequentialState.INITIAL;
            for (int window = 0; window < 6; window++) {
                // The last windows are partly drifted.
                double shift = window < 3 ? 0.0 : 1.5;
                windows.add(several(window + 1, () -> random.nextGaussian() + shift));
                Step step = detector.next(state, windows.get(window), clean, true);
                assertFalse(step.alarm());
                double expected = SequentialOracle.evidence(cuts, clean.length, windows);
                assertEquals(expected, step.evidence(), 1e-9 * expected);
                state = step.state();
            }
        }
    }

    @ParameterizedTest
    @CsvSource({"2, 1, 3", "3, 1, 2", "1, 2, 2", "4, 2, 1"})
    void evidenceOverEveryOrderOfCleanAndNewValuesHasTheNumberOfWindowsAsItsMean(
            int clean, int perWindow, int windows) {
        List<double[]> orders = new ArrayList<>();
        permutations(new double[clean + perWindow * windows], 0, 0, orders);
        double sum = 0.0;
        SequentialDetector detector = SequentialDetector.ofRunLength(NEVER);
        for (double[] order : orders) {
            double[] cleanValues = Arrays.copyOf(order, clean);
            SequentialState state = SequentialState.INITIAL;
            double evidence = 0.0;
            for (int window = 0; window < windows; window++) {
                int from = clean + perWindow * window;
                Step step = detector.next(state, Arrays.copyOfRange(order, from, from + perWindow), cleanValues, true);
                evidence = step.evidence();
                state = step.state();
            }
            sum += evidence;
        }
        assertEquals(windows, sum / orders.size(), 1e-9);
    }

    private static void permutations(double[] order, int place, int used, List<double[]> out) {
        if (place == order.length) {
            out.add(order.clone());
            return;
        }
        for (int value = 0; value < order.length; value++) {
            if ((used & (1 << value)) == 0) {
                order[place] = value;
                permutations(order, place + 1, used | (1 << value), out);
            }
        }
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
            double[] clean = several(414, random::nextGaussian);
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
            int bySum =
                    untilAlarm(detector, SequentialState.INITIAL, clean, windows, true, i -> new double[] {ramp[i]});
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

    @ParameterizedTest
    @ValueSource(ints = {0, 20, 200})
    void fifteenCleanWindowsFindAFullDriftWithinFourteenWindows(int cleanBefore) {
        SequentialDetector detector = SequentialDetector.ofRunLength(MINUTES_OF_90_DAYS);
        Random random = new Random(cleanBefore);
        double[] clean = several(15, random::nextDouble);
        SequentialState state = SequentialState.INITIAL;
        for (int i = 0; i < cleanBefore; i++) {
            state = detector.next(state, new double[] {random.nextDouble()}, clean, true)
                    .state();
        }
        int windows = untilAlarm(detector, state, clean, 100, true, i -> new double[] {2.0});
        assertTrue(windows <= 14, "an alarm after %d windows".formatted(windows));
    }

    @Test
    void theLeastNumberOfCleanWindowsIsTheOneFromWhichAFullDriftIsFound() {
        SequentialDetector detector = SequentialDetector.ofRunLength(MINUTES_OF_90_DAYS);
        int least = detector.leastClean();
        assertEquals(7, least);
        for (int clean : new int[] {least - 1, least, 15, 400}) {
            double[] cleanValues = several(clean, new Random(clean)::nextDouble);
            int windows =
                    untilAlarm(detector, SequentialState.INITIAL, cleanValues, SequentialDetector.REACH, true, i ->
                            new double[] {2.0});
            assertEquals(clean >= least, windows <= SequentialDetector.REACH, clean + " clean windows");
            assertEquals(clean >= least, detector.reaches(clean));
        }
        assertEquals(1, SequentialDetector.ofRunLength(1).leastClean());
        assertFalse(SequentialDetector.ofRunLength(1).reaches(0));
    }

    @Test
    void aDriftThatLastsAlarmsAgainAsFastWhereItsWindowsDoNotJoin() {
        SequentialDetector detector = SequentialDetector.ofRunLength(MINUTES_OF_90_DAYS);
        double[] clean = several(15, new Random(1)::nextDouble);
        int[] apart = alarms(detector, clean, false);
        assertEquals(apart[0], apart[1] - apart[0]);
        assertEquals(apart[0], apart[2] - apart[1]);
        int[] joined = alarms(detector, clean, true);
        assertTrue(joined[1] - joined[0] > 2 * joined[0], Arrays.toString(joined));
    }

    /** Returns the windows of the first three alarms of a full drift. */
    private static int[] alarms(SequentialDetector detector, double[] clean, boolean joins) {
        SequentialState state = SequentialState.INITIAL;
        int[] at = new int[3];
        int found = 0;
        for (int window = 1; found < at.length && window < 1_000; window++) {
            Step step = detector.next(state, new double[] {2.0}, clean, joins);
            state = step.state();
            if (step.alarm()) {
                at[found++] = window;
            }
        }
        return at;
    }

    @Test
    void aTwentiethOfTheRequestsFarOutIsFoundByTheTailModelAndNeedsMoreThanOneOfThem() {
        Random random = new Random(3);
        DoubleSupplier law = () -> -Math.log(1 - random.nextDouble());
        double[] clean = several(271, law);
        SequentialDetector conformal = SequentialDetector.ofRunLength(MINUTES_OF_90_DAYS);
        SequentialDetector tail = conformal.withTailModel();
        // The twentieth request of every second window of ten is far out.
        IntFunction<double[]> drifted = window -> {
            double[] values = several(10, law);
            values[0] = window % 2 == 0 ? 100.0 : values[0];
            return values;
        };
        SequentialState state = SequentialState.INITIAL;
        for (int i = 0; i < 50; i++) {
            state = tail.next(state, several(10, law), clean, true).state();
        }
        assertFalse(tail.next(state, new double[] {100.0}, clean, true).alarm());
        int byTail = untilAlarm(tail, state, clean, 200, true, drifted);
        assertTrue(byTail >= 3 && byTail <= 6, "an alarm after %d windows".formatted(byTail));
        int byRanks = untilAlarm(conformal, SequentialState.INITIAL, clean, 20, true, drifted);
        assertEquals(21, byRanks, "271 clean values do not tell a twentieth from chance so fast");
    }

    @Test
    void theOrderOfTheValuesOfAWindowDoesNotMatter() {
        Random random = new Random(2);
        double[] clean = several(30, random::nextDouble);
        double[] values = {0.2, 1.5, 0.9, 2.0};
        double[] other = {2.0, 0.2, 0.9, 1.5};
        SequentialDetector detector = SequentialDetector.ofRunLength(1e6).withTailModel();
        Step one = detector.next(SequentialState.INITIAL, values, clean, true);
        Step two = detector.next(SequentialState.INITIAL, other, clean, true);
        assertEquals(one.evidence(), two.evidence());
        assertEquals(one.state(), two.state());
    }

    @Test
    void valuesThatAreAllEqualAreNoEvidence() {
        SequentialDetector detector = SequentialDetector.ofRunLength(1_000).withTailModel();
        double[] clean = new double[40];
        assertEquals(201, untilAlarm(detector, SequentialState.INITIAL, clean, 200, true, i -> new double[3]));
    }

    @Test
    void aWindowWithoutValuesCountsAndSaysNothing() {
        SequentialDetector detector = SequentialDetector.ofRunLength(100);
        Step step = detector.next(SequentialState.INITIAL, new double[0], new double[] {1, 2, 3}, true);
        assertEquals(1.0, step.evidence(), 1e-12);
        assertEquals(1, step.state().windows());
        assertEquals(0, step.state().values());
    }

    @Test
    void anAlarmTakesTheEvidenceAwayAndLeavesTheComparison() {
        double[] clean = several(99, new Random(1)::nextDouble);
        Step step = SequentialDetector.ofRunLength(2).next(SequentialState.INITIAL, new double[] {2.0}, clean, true);
        assertTrue(step.alarm());
        assertEquals(1, step.state().values());
        Step after = SequentialDetector.ofRunLength(NEVER).next(step.state(), new double[0], clean, true);
        assertEquals(1.0, after.evidence(), 1e-12);
    }

    @Test
    void theComparisonStartsOverWithOtherCleanValues() {
        SequentialDetector detector = SequentialDetector.ofRunLength(1e9);
        double[] clean = several(20, new Random(1)::nextDouble);
        SequentialState state = detector.next(SequentialState.INITIAL, new double[] {0.5}, clean, true)
                .state();
        assertTrue(state.goesOnWith(clean));
        assertEquals(
                2, detector.next(state, new double[] {0.5}, clean, true).state().windows());
        double[] others = several(20, new Random(2)::nextDouble);
        assertFalse(state.goesOnWith(others));
        assertEquals(
                1,
                detector.next(state, new double[] {0.5}, others, true).state().windows());
    }

    @Test
    void whatCannotBeComparedIsRefused() {
        SequentialDetector detector = SequentialDetector.ofRunLength(10);
        double[] clean = {1, 2, 3};
        double[] values = {Double.NaN};
        assertThrows(IllegalArgumentException.class, () -> detector.next(SequentialState.INITIAL, values, clean, true));
        assertThrows(
                IllegalArgumentException.class,
                () -> detector.next(SequentialState.INITIAL, clean, new double[0], true));
        assertThrows(IllegalArgumentException.class, () -> detector.next(SequentialState.INITIAL, clean, values, true));
        assertThrows(IllegalArgumentException.class, () -> SequentialDetector.ofRunLength(0.5));
    }

    @Test
    void cutsLieAtEveryFourthPowerAndBeyondWithATailModel() {
        double[] clean = new double[271];
        Arrays.setAll(clean, i -> i + 1.0);
        assertArrayEquals(
                new int[] {1, 4, 16, 64}, SequentialCuts.of(clean, 0.0).ranks());
        SequentialCuts tail = SequentialCuts.of(clean, 1e5);
        assertArrayEquals(new int[] {32}, tail.ranks());
        double least = tail.cuts().get(0).beyond() * 32 / 272;
        assertTrue(least >= 1 / 8e5 && least < 4 / 8e5, "the farthest cut has chance " + least);
        assertEquals(240.0, tail.cuts().get(0).cleanValue());
        // Mean excess 16, 31 excesses, 5 % point of chi² with 62 degrees 44.889.
        SequentialCuts.Cut first = tail.cuts().get(tail.cuts().size() - 2);
        assertEquals(0.25, first.beyond());
        assertEquals(240.0 + 2 * 31 * 16 / 44.889 * Math.log(4), first.value(), 1e-3);
        double[] few = Arrays.copyOf(clean, 63);
        assertArrayEquals(new int[] {1, 4, 16}, SequentialCuts.of(few, 1e5).ranks(), "too few for a tail");
        assertArrayEquals(
                new int[] {1}, SequentialCuts.of(new double[] {5}, 0.0).ranks());
    }
}
