package io.plumbline.judgement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.Random;
import org.junit.jupiter.api.Test;

class ThresholdTest {

    private static double known(Threshold threshold, double... clean) {
        return assertInstanceOf(
                        Threshold.Level.Known.class, threshold.level(32, 384, new Threshold.Clean(2_048, clean)))
                .value();
    }

    @Test
    void fixedThresholdsNeedNoBaseline() {
        assertEquals(4.0, known(new Threshold.Fixed(4.0)));
        assertEquals(0.5 * 8.0, known(new Threshold.ShareOfLargestGap(0.5)));
    }

    @Test
    void quantileIsTheOrderStatisticThatKeepsItsPromise() {
        double[] nineteen = new double[19];
        for (int i = 0; i < 19; i++) {
            nineteen[i] = (i * 7) % 19 + 1;
        }
        assertEquals(19.0, known(new Threshold.QuantileOfCleanWindows(0.95), nineteen));
        assertEquals(18.0, known(new Threshold.QuantileOfCleanWindows(0.9), nineteen));
        assertEquals(10.0, known(new Threshold.QuantileOfCleanWindows(0.5), nineteen));
        assertEquals(1.0, known(new Threshold.QuantileOfCleanWindows(0.01), nineteen));
    }

    @Test
    void quantileRefusesTooFewWindowsAndSaysHowManyItNeeds() {
        Threshold.QuantileOfCleanWindows threshold = new Threshold.QuantileOfCleanWindows(0.95);
        assertEquals(19, threshold.windowsNeeded());
        String reason = assertInstanceOf(
                        Threshold.Level.Unknown.class,
                        threshold.level(32, 384, new Threshold.Clean(2_048, new double[18])))
                .reason();
        assertTrue(reason.contains("at least 19 clean windows, the baseline has 18"), reason);
        assertInstanceOf(
                Threshold.Level.Known.class, threshold.level(32, 384, new Threshold.Clean(2_048, new double[19])));
    }

    @Test
    void falseAlarmsStayBelowWhatTheQuantilePromises() {
        Threshold threshold = new Threshold.QuantileOfCleanWindows(0.9);
        long seed = 5;
        Random random = new Random(seed);
        int trials = 20_000;
        int alarms = 0;
        for (int trial = 0; trial < trials; trial++) {
            double level = known(threshold, random.doubles(19).toArray());
            if (random.nextDouble() > level) {
                alarms++;
            }
        }
        // Exactly 2/20 on average; four standard deviations of 20,000 trials.
        assertEquals(0.1, (double) alarms / trials, 0.0085, "seed " + seed);
    }

    @Test
    void aPromisePerWindowThatOnlyTheAverageBaselineKeepsIsTheSameOrderStatistic() {
        double[] fifty = new Random(8).doubles(50).toArray();
        for (double rate : new double[] {0.05, 0.04, 1.0 / 51}) {
            assertEquals(
                    known(new Threshold.QuantileOfCleanWindows(1.0 - rate), fifty),
                    known(promise(new AlarmBudget.PerWindow(rate)), fifty),
                    "rate " + rate);
        }
    }

    @Test
    void aPromiseThatTheWindowsKeepForThisBaselineIsAHigherLevelAndSaysSo() {
        double[] hundred = new Random(8).doubles(100).toArray();
        Threshold.Clean clean = new Threshold.Clean(512, hundred);
        Threshold.Level.Known level = assertInstanceOf(
                Threshold.Level.Known.class,
                promise(new AlarmBudget.PerWindow(0.05)).level(32, 384, clean));
        // 1 - (0.95^100 + 100 0.05 0.95^99) = 0.963: the second largest, where the average would allow the fifth.
        assertEquals(clean.fromTop(2), level.value());
        Basis basis = Objects.requireNonNull(level.basis());
        assertEquals(0.95, basis.confidence());
        assertTrue(basis.windowRate() <= 0.05 && basis.windowRate() > 0.04, basis::sentence);
        assertEquals(
                "number 2 from the top of 100 clean windows of 512 rows: 1 clean window in 21.5 above it,"
                        + " with 95 % confidence for this baseline",
                basis.sentence());
    }

    @Test
    void tooFewWindowsWeakenThePromiseAndSayWhatToCollect() {
        double[] fifteen = new double[15];
        fifteen[7] = 5.32;
        Threshold asked = promise(new AlarmBudget.PerTime(1, Duration.ofDays(30)));
        Threshold.Level.Known level = assertInstanceOf(
                Threshold.Level.Known.class, asked.level(32, 384, new Threshold.Clean(2_048, fifteen)));
        assertEquals(5.32, level.value());
        Basis basis = Objects.requireNonNull(level.basis());
        assertEquals(15, basis.count());
        assertEquals(1.0 / 16, basis.windowRate());
        // 2 of 3: 2 E[p^2] - E[p^3] of the share p above the largest of fifteen, once a minute.
        double rate = 4.0 / (16 * 17) - 6.0 / (16 * 17 * 18);
        assertEquals(1_440 * rate, Objects.requireNonNull(basis.alarmsPerDay()), 1e-9);
        assertEquals(
                "the largest of 15 clean windows of 2,048 rows: 1 clean window in 16 above it, "
                        + "at most 1 false alarm in 1.24 h,"
                        + " on average over baselines; asked for 1 false alarm in 30 d, "
                        + "which needs 414 clean windows: collect 399 more, 817,152 rows",
                basis.sentence());
        assertInstanceOf(
                Threshold.Level.Unknown.class, asked.level(32, 384, new Threshold.Clean(2_048, new double[0])));
    }

    @Test
    void enoughWindowsKeepThePromiseWithoutAWordOfShortfall() {
        double[] clean = new Random(8).doubles(2_000).toArray();
        Threshold.Level.Known level = assertInstanceOf(
                Threshold.Level.Known.class,
                promise(new AlarmBudget.PerTime(1, Duration.ofDays(30)))
                        .level(32, 384, new Threshold.Clean(2_048, clean)));
        Basis basis = Objects.requireNonNull(level.basis());
        assertNull(basis.shortfall());
        assertTrue(Objects.requireNonNull(basis.alarmsPerDay()) <= 1.0 / 30, basis::sentence);
        assertTrue(level.value() < Arrays.stream(clean).max().orElseThrow(), basis::sentence);
    }

    private static Threshold promise(AlarmBudget budget) {
        return new Threshold.FalseAlarms(budget, AlarmLaw.tumbling(new DriftPolicy(2, 3), Duration.ofMinutes(1)));
    }

    @Test
    void nonsenseIsRefusedWithAnExample() {
        assertThrows(IllegalArgumentException.class, () -> new Threshold.Fixed(Double.NaN));
        assertThrows(IllegalArgumentException.class, () -> new Threshold.Fixed(-1.0));
        IllegalArgumentException refusal =
                assertThrows(IllegalArgumentException.class, () -> new Threshold.ShareOfLargestGap(3.0));
        assertTrue(String.valueOf(refusal.getMessage()).contains("0.3 alerts at 30 %"), refusal::toString);
        assertThrows(IllegalArgumentException.class, () -> new Threshold.QuantileOfCleanWindows(1.0));
    }
}
