package io.plumbline.judgement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

class AlarmLawTest {

    private static final Duration MINUTE = Duration.ofMinutes(1);
    private static final Duration DAY = Duration.ofDays(1);
    private static final long SEED = 20_261_121L;

    private static AlarmLaw tumbling(int needed, int memory) {
        return AlarmLaw.tumbling(new DriftPolicy(needed, memory), MINUTE);
    }

    @Test
    void oneWindowIsAboveTheCthLargestOfKWithChanceCOverKPlusOne() {
        assertEquals(1.0 / 20, tumbling(1, 1).alarmsPerWindow(19, 1), 1e-15);
        assertEquals(3.0 / 100, tumbling(1, 5).alarmsPerWindow(99, 3), 1e-15);
    }

    @Test
    void debounceOfTumblingWindowsIsTheShareOfAllOrders() {
        for (int needed = 1; needed <= 3; needed++) {
            for (int fromTop = 1; fromTop <= 2; fromTop++) {
                assertEquals(
                        shareOfOrders(3, 3, fromTop, needed),
                        tumbling(needed, 3).alarmsPerWindow(3, fromTop),
                        1e-12,
                        "%d of 3, level %d from the top".formatted(needed, fromTop));
            }
        }
    }

    /**
     * Counts by going through all orders of the clean values and the windows: the last window above, with enough
     * others.
     */
    private static double shareOfOrders(int cleanWindows, int windows, int fromTop, int needed) {
        List<int[]> orders = new ArrayList<>();
        permute(new int[cleanWindows + windows], 0, new boolean[cleanWindows + windows], orders);
        long raised = orders.stream()
                .filter(order -> {
                    int[] clean = Arrays.copyOf(order, cleanWindows);
                    Arrays.sort(clean);
                    int level = clean[cleanWindows - fromTop];
                    long above = Arrays.stream(order)
                            .skip(cleanWindows)
                            .filter(value -> value > level)
                            .count();
                    return order[order.length - 1] > level && above >= needed;
                })
                .count();
        return (double) raised / orders.size();
    }

    private static void permute(int[] order, int next, boolean[] used, List<int[]> orders) {
        if (next == order.length) {
            orders.add(order.clone());
            return;
        }
        for (int value = 0; value < order.length; value++) {
            if (!used[value]) {
                used[value] = true;
                order[next] = value;
                permute(order, next + 1, used, orders);
                used[value] = false;
            }
        }
    }

    @Test
    void thePowerOfTheSingleChanceWouldPromiseTooMuch() {
        double single = tumbling(1, 1).alarmsPerWindow(50, 1);
        double both = tumbling(2, 2).alarmsPerWindow(50, 1);
        assertEquals(2.0 / (51 * 52), both, 1e-15);
        assertTrue(both > 1.9 * single * single, "%s against %s".formatted(both, single * single));
    }

    @Test
    void aSiteThatHasNotDriftedBecomesDriftedNoOftenerThanPromised() {
        Random random = new Random(SEED);
        int streams = 20_000;
        int windows = 50;
        DriftPolicy policy = new DriftPolicy(2, 3);
        long drifts = 0;
        for (int stream = 0; stream < streams; stream++) {
            double level = Arrays.stream(normals(random, 30)).max().orElseThrow();
            drifts += drifts(policy, level, normals(random, windows));
        }
        double measured = (double) drifts / ((long) streams * windows);
        double promised = tumbling(2, 3).alarmsPerWindow(30, 1);
        // A drifted site needs two windows to come back, and a new one has no windows before it: a little below.
        assertTrue(measured <= promised, "seed %d: %s > %s".formatted(SEED, measured, promised));
        assertTrue(measured >= 0.7 * promised, "seed %d: %s << %s".formatted(SEED, measured, promised));
    }

    @Test
    void overlappingWindowsStayBelowTheUnionBound() {
        Random random = new Random(SEED);
        int clean = 50;
        int hops = 3;
        AlarmLaw law = new AlarmLaw(new DriftPolicy(4, 6), Duration.ofMinutes(3), MINUTE);
        double promised = law.alarmsPerWindow(clean, 1);
        assertTrue(promised < law.perWindow(clean, 1), "the debounce counts for something: " + promised);
        int streams = 5_000;
        int windows = 30;
        long drifts = 0;
        for (int stream = 0; stream < streams; stream++) {
            double level = Arrays.stream(sums(random, clean, hops, hops)).max().orElseThrow();
            drifts += drifts(law.debounce(), level, sums(random, windows, hops, 1));
        }
        double measured = (double) drifts / ((long) streams * windows);
        assertTrue(
                measured > 0.0 && measured <= promised, "seed %d: %s, promised %s".formatted(SEED, measured, promised));
    }

    /** Sums over {@code length} panes, every {@code step} panes: step = length for disjoint windows. */
    private static double[] sums(Random random, int count, int length, int step) {
        double[] panes = normals(random, (count - 1) * step + length);
        double[] sums = new double[count];
        for (int i = 0; i < count; i++) {
            for (int j = 0; j < length; j++) {
                sums[i] += panes[i * step + j];
            }
        }
        return sums;
    }

    private static long drifts(DriftPolicy policy, double level, double[] values) {
        DriftState state = DriftState.INITIAL;
        long drifts = 0;
        Threshold.Level known = new Threshold.Level.Known(level, null);
        for (double value : values) {
            DriftPolicy.Outcome outcome = policy.judge(state, value, known, known);
            state = outcome.state();
            drifts += outcome.transition() == DriftPolicy.Transition.BECAME_DRIFTED ? 1 : 0;
        }
        return drifts;
    }

    private static double[] normals(Random random, int count) {
        double[] values = new double[count];
        for (int i = 0; i < count; i++) {
            values[i] = random.nextGaussian();
        }
        return values;
    }

    @Test
    void theWindowsNeededAreJustEnough() {
        assertEquals(99, tumbling(1, 1).windowsNeeded(new AlarmBudget.PerWindow(0.01)));
        assertEquals(
                19,
                tumbling(2, 3).windowsNeeded(new AlarmBudget.PerWindow(0.05)),
                "a rate per window knows no debounce");
        // 30 days hold 43,200 windows of a minute; without debounce one in 43,200 needs as many less one.
        assertEquals(43_199, tumbling(1, 1).windowsNeeded(new AlarmBudget.PerTime(1, DAY.multipliedBy(30))));
        for (int[] debounce : new int[][] {{2, 3}, {3, 3}, {2, 5}, {3, 8}}) {
            for (AlarmLaw law : List.of(
                    tumbling(debounce[0], debounce[1]),
                    new AlarmLaw(new DriftPolicy(debounce[0], debounce[1]), MINUTE, Duration.ofSeconds(30)))) {
                AlarmBudget budget = new AlarmBudget.PerTime(1, DAY.multipliedBy(30));
                int needed = law.windowsNeeded(budget);
                double target =
                        (double) law.advance().toMillis() / DAY.multipliedBy(30).toMillis();
                assertTrue(law.alarmsPerWindow(needed, 1) <= target * (1 + 1e-9), law::toString);
                assertTrue(law.alarmsPerWindow(needed - 1, 1) > target, law::toString);
                assertEquals(0, law.atOrAbove(budget, needed - 1), law::toString);
                assertEquals(1, law.atOrAbove(budget, needed), law::toString);
            }
        }
    }

    @Test
    void theLowestLevelThatKeepsTheBudgetIsTaken() {
        AlarmLaw law = tumbling(2, 3);
        AlarmBudget budget = new AlarmBudget.PerTime(1, DAY);
        int fromTop = law.atOrAbove(budget, 1_000);
        assertTrue(fromTop > 1, "fromTop = " + fromTop);
        assertTrue(law.alarmsPerWindow(1_000, fromTop) <= 1.0 / 1_440);
        assertTrue(law.alarmsPerWindow(1_000, fromTop + 1) > 1.0 / 1_440);
        assertEquals(5, law.atOrAbove(new AlarmBudget.PerWindow(0.05), 99));
    }

    /**
     * Counts baselines whose levels let more clean windows pass than asked: with the level that keeps the rate on
     * average a third or more, with the confident one one in twenty.
     */
    @Test
    void aPromiseWithConfidenceHoldsForNineteenBaselinesOfTwenty() {
        AlarmBudget rate = new AlarmBudget.PerWindow(0.05);
        AlarmBudget time = new AlarmBudget.PerTime(1, DAY.dividedBy(4));
        for (AlarmLaw law : List.of(
                tumbling(1, 1), tumbling(2, 3), new AlarmLaw(new DriftPolicy(2, 3), MINUTE.multipliedBy(2), MINUTE))) {
            for (AlarmBudget budget : List.of(rate, time)) {
                int windows = 2 * law.windowsNeededConfidently(budget);
                int confident = law.confidentlyAtOrAbove(budget, windows);
                int average = law.atOrAbove(budget, windows);
                assertTrue(confident >= 1 && confident < average, "%d and %d: %s".formatted(confident, average, law));
                assertEquals(0.0, Math.max(0.0, broken(law, budget, windows, confident) - 0.05), 0.015, law::toString);
                assertTrue(broken(law, budget, windows, average) > 0.2, law::toString);
            }
        }
    }

    /** The share of baselines of uniform values at which more alarms are to be expected than the budget allows. */
    private static double broken(AlarmLaw law, AlarmBudget budget, int windows, int fromTop) {
        Random random = new Random(SEED);
        int baselines = 2_000;
        int broken = 0;
        for (int i = 0; i < baselines; i++) {
            double exceedance = 1.0;
            double[] clean = random.doubles(windows).toArray();
            Arrays.sort(clean);
            exceedance -= clean[windows - fromTop];
            double kept = budget instanceof AlarmBudget.PerTime ? law.alarmsGiven(exceedance) : exceedance;
            broken += kept > law.target(budget) ? 1 : 0;
        }
        return (double) broken / baselines;
    }

    @Test
    void theAlarmsOfABaselineAreThoseOfItsIndependentWindows() {
        Random random = new Random(SEED);
        double level = 0.9;
        AlarmLaw law = tumbling(2, 3);
        int windows = 400_000;
        DriftState state = DriftState.INITIAL;
        long drifts = 0;
        for (int i = 0; i < windows; i++) {
            DriftState next = state.remembering(random.nextDouble() > level, 3);
            // The newest window above, with one of the two before it: counted whether or not the site is drifted
            // already.
            drifts += (next.outcomes() & 1) == 1 && Long.bitCount(next.outcomes()) >= 2 ? 1 : 0;
            state = next;
        }
        double expected = law.alarmsGiven(1.0 - level);
        assertEquals(2 * 0.01 * 0.9 + 0.001, expected, 1e-12);
        assertEquals(expected, (double) drifts / windows, 4 * Math.sqrt(2 * expected / windows), "seed " + SEED);
    }

    @Test
    void theWindowsNeededForConfidenceAreJustEnough() {
        assertEquals(59, tumbling(1, 1).windowsNeededConfidently(new AlarmBudget.PerWindow(0.05)));
        for (AlarmLaw law : List.of(tumbling(1, 1), tumbling(2, 3), tumbling(3, 5))) {
            AlarmBudget budget = new AlarmBudget.PerTime(1, DAY);
            int needed = law.windowsNeededConfidently(budget);
            assertEquals(1, law.confidentlyAtOrAbove(budget, needed), law::toString);
            assertEquals(0, law.confidentlyAtOrAbove(budget, needed - 1), law::toString);
            assertTrue(needed > law.windowsNeeded(budget), law::toString);
        }
    }

    @Test
    void nonsenseIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new AlarmBudget.PerWindow(0.0));
        assertThrows(IllegalArgumentException.class, () -> new AlarmBudget.PerWindow(Double.NaN));
        assertThrows(IllegalArgumentException.class, () -> new AlarmBudget.PerTime(0, DAY));
        assertThrows(IllegalArgumentException.class, () -> new AlarmBudget.PerTime(1, Duration.ZERO));
        assertThrows(IllegalArgumentException.class, () -> new AlarmLaw(DriftPolicy.immediate(), MINUTE, DAY));
        assertThrows(IllegalArgumentException.class, () -> tumbling(1, 1).alarmsPerWindow(3, 4));
    }
}
