package io.plumbline.judgement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.judgement.RequestDetector.Memory;
import io.plumbline.judgement.RequestDetector.Mode;
import io.plumbline.judgement.RequestDetector.Step;
import java.util.Arrays;
import java.util.Random;
import org.apache.commons.math3.distribution.PoissonDistribution;
import org.junit.jupiter.api.Test;

class RequestDetectorTest {

    private static final double MINUTES_OF_90_DAYS = 90.0 * 24 * 60;
    private static final double FAR = 100.0;

    private static double[] clean(Random random, int requests) {
        double[] scores = new double[requests];
        Arrays.setAll(scores, i -> -Math.log(1.0 - random.nextDouble()));
        return scores;
    }

    /** Returns the scores of a window with {@code foreign} foreign requests. */
    private static double[] window(Random random, int requests, int foreign) {
        double[] scores = clean(random, requests);
        Arrays.fill(scores, 0, foreign, FAR);
        return scores;
    }

    @Test
    void aShareThatTheBaselineCanTellFromChanceIsAConformalAlarm() {
        Random random = new Random(1);
        double[] baseline = clean(random, 271);
        RequestDetector detector = RequestDetector.ofRunLength(MINUTES_OF_90_DAYS);
        Step step = detector.next(Memory.INITIAL, window(random, 17, 17), baseline, true);
        assertTrue(step.alarm());
        assertEquals(Mode.CONFORMAL, step.mode());
        assertTrue(step.evidence() >= detector.level());
    }

    @Test
    void ranksFindABitMoreThanTheSmallestShareAndNotAThirdOfIt() {
        RequestDetector detector = RequestDetector.ofRunLength(MINUTES_OF_90_DAYS);
        double share = detector.smallestShareByRanks(271);
        assertEquals(0.06, share, 0.005);
        int found = 0;
        int ofLess = 0;
        for (int seed = 0; seed < 10; seed++) {
            found += conformalAlarm(detector, 1.4 * share, seed) ? 1 : 0;
            ofLess += conformalAlarm(detector, share / 3.0, seed) ? 1 : 0;
        }
        assertTrue(found >= 9 && ofLess <= 1, "%d of 10, of a third %d".formatted(found, ofLess));
        assertEquals(1.0, detector.smallestShareByRanks(5));
    }

    /** Returns whether ranks alone find this share of foreign requests in 100 windows of 17. */
    private static boolean conformalAlarm(RequestDetector detector, double share, long seed) {
        Random random = new Random(seed);
        double[] baseline = clean(random, 271);
        SequentialDetector ranks = SequentialDetector.ofRunLength(detector.level());
        SequentialState state = SequentialState.INITIAL;
        boolean alarm = false;
        for (int window = 0; window < 100 && !alarm; window++) {
            int foreign = 0;
            for (int request = 0; request < 17; request++) {
                foreign += random.nextDouble() < share ? 1 : 0;
            }
            SequentialDetector.Step step = ranks.next(state, window(random, 17, foreign), baseline, true);
            state = step.state();
            alarm = step.alarm();
        }
        return alarm;
    }

    @Test
    void aShareTooSmallForTheBaselineIsAWarningOfTheTailModel() {
        Random random = new Random(1);
        double[] baseline = clean(random, 271);
        RequestDetector detector = RequestDetector.ofRunLength(MINUTES_OF_90_DAYS);
        Memory memory = Memory.INITIAL;
        int windows = 0;
        boolean alarm = false;
        while (!alarm && windows < 10) {
            Step step = detector.next(memory, window(random, 17, windows % 2), baseline, true);
            memory = step.memory();
            alarm = step.alarm();
            assertFalse(alarm && step.mode() == Mode.CONFORMAL);
            assertTrue(!alarm || windows >= 3, "one foreign request is no drift");
            windows++;
        }
        assertTrue(alarm, "no alarm in 10 windows");
    }

    @Test
    void aDriftThatTheVerdictAlreadySaysKeepsAlarming() {
        Random random = new Random(1);
        double[] baseline = clean(random, 100);
        RequestDetector detector = RequestDetector.ofRunLength(MINUTES_OF_90_DAYS);
        Memory memory = Memory.INITIAL;
        int alarms = 0;
        for (int i = 0; i < 100; i++) {
            Step step = detector.next(memory, window(random, 10, 9), baseline, false);
            memory = step.memory();
            alarms += step.alarm() && step.mode() == Mode.CONFORMAL ? 1 : 0;
        }
        assertTrue(alarms >= 40, alarms + " conformal alarms in 100 windows");
        assertEquals(0, memory.ranks().values());
        assertEquals(0, memory.tail().values());
    }

    @Test
    void bothModesTogetherKeepThePromise() {
        RequestDetector detector = RequestDetector.ofRunLength(100);
        assertEquals(200, detector.level());
        int alarms = 0;
        int streams = 25;
        int windows = 400;
        for (int stream = 0; stream < streams; stream++) {
            Random random = new Random(stream);
            double[] baseline = clean(random, 60);
            Memory memory = Memory.INITIAL;
            for (int i = 0; i < windows; i++) {
                Step step = detector.next(memory, clean(random, 1 + random.nextInt(8)), baseline, true);
                memory = step.memory();
                alarms += step.alarm() ? 1 : 0;
            }
        }
        double expected = streams * windows / 100.0;
        double chance = 1.0 - new PoissonDistribution(expected).cumulativeProbability(alarms - 1);
        assertTrue(chance >= 0.01, "%d alarms, at most %.0f promised".formatted(alarms, expected));
    }

    @Test
    void theLeastNumberOfBaselineRequestsIsThatOfRanksAlone() {
        assertEquals(
                SequentialDetector.ofRunLength(2.0 * MINUTES_OF_90_DAYS).leastClean(),
                RequestDetector.ofRunLength(MINUTES_OF_90_DAYS).leastClean());
    }
}
