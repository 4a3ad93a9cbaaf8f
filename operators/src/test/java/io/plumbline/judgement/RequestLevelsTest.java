package io.plumbline.judgement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.judgement.Threshold.Level;
import java.time.Duration;
import java.util.Arrays;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Exponent 0.7; windows of a minute. */
class RequestLevelsTest {

    private static final double EXPONENT = 0.7;

    private static RequestLevels levels(AlarmBudget budget, int requests) {
        return new RequestLevels(
                new Threshold.FalseAlarms(budget, AlarmLaw.tumbling(DriftPolicy.STANDARD, Duration.ofMinutes(1))),
                requests,
                EXPONENT);
    }

    private static double known(Level level) {
        return assertInstanceOf(Level.Known.class, level).value();
    }

    /** Scores of a skewed distribution, since only ranks may count. */
    private static double score(SplittableRandom random) {
        return Math.exp(3.0 * random.nextDouble());
    }

    private static double value(double[] ascending, int requests, SplittableRandom random) {
        double sum = 0.0;
        for (int g = 0; g < requests; g++) {
            int found = Arrays.binarySearch(ascending, score(random));
            int atLeast = ascending.length - (found < 0 ? -found - 1 : found);
            sum += Math.pow((ascending.length + 1.0) / (atLeast + 1.0), EXPONENT);
        }
        return Math.log(sum / requests);
    }

    @ParameterizedTest
    @CsvSource({"40, 5, 0.05", "271, 17, 0.02", "271, 60, 0.02", "1000, 4, 0.005"})
    void cleanWindowsAreAboveNoOftenerThanPromisedWhateverTheScores(int baseline, int ofWindow, double rate) {
        double level = known(levels(new AlarmBudget.PerWindow(rate), baseline).level(ofWindow));
        SplittableRandom random = new SplittableRandom(7);
        int above = 0;
        int windows = 40_000;
        double[] scores = new double[baseline];
        for (int window = 0; window < windows; window++) {
            if (window % 20 == 0) {
                Arrays.setAll(scores, i -> score(random));
                Arrays.sort(scores);
            }
            above += value(scores, ofWindow, random) > level ? 1 : 0;
        }
        double found = (double) above / windows;
        // Twenty windows share a baseline: they count as fewer.
        assertTrue(found < rate + 5.0 * Math.sqrt(rate / windows) * 2.0, () -> "%s of %s".formatted(found, rate));
        assertTrue(found > 0.7 * rate, () -> "%s of %s: higher than it must be".formatted(found, rate));
    }

    @Test
    void halfAnHourOfRequestsKeepsOneAlarmInThirtyDays() {
        Level.Known level = assertInstanceOf(
                Level.Known.class, levels(AlarmBudget.standard(), 271).level(17));
        Basis basis = Objects.requireNonNull(level.basis());
        assertEquals(Basis.Clean.REQUESTS, basis.clean());
        assertEquals(271, basis.countOf(Basis.Clean.REQUESTS));
        assertNull(basis.countOf(Basis.Clean.WINDOWS));
        assertTrue(basis.isKept());
        assertEquals(1.0 / 30.0, Objects.requireNonNull(basis.alarmsPerDay()), 0.004);
        assertEquals(0.002, basis.windowRate(), 0.0008, "two of three windows, which share their baseline");
        assertEquals(
                "ranks of 17 requests among 271 of the baseline: 1 clean window in "
                        + Amounts.number(1.0 / basis.windowRate())
                        + " above it, at most 1 false alarm in "
                        + Amounts.time(86_400_000.0 / basis.alarmsPerDay())
                        + ", on average over baselines",
                basis.sentence());
    }

    @Test
    void theMoreRequestsAWindowHasTheLowerItsLevel() {
        RequestLevels levels = levels(AlarmBudget.standard(), 271);
        double before = Double.POSITIVE_INFINITY;
        for (int requests : new int[] {3, 4, 8, 16, 40, 200}) {
            double level = known(levels.level(requests));
            assertTrue(level < before, requests + " requests");
            before = level;
        }
        assertEquals(known(levels.level(200)), known(levels.level(201)), "of the next smaller number drawn for");
    }

    @Test
    void oneRequestAmongFewCannotKeepTheStandardPromise() {
        Level level = levels(AlarmBudget.standard(), 40).level(1);
        String reason = assertInstanceOf(Level.Unknown.class, level).reason();
        assertEquals("1 request, among 40 of the baseline, cannot keep 1 false alarm in 30 d", reason);
    }

    @Test
    void aPromiseFinerThanTheDrawnWindowsIsNotGiven() {
        RequestLevels finest = levels(new AlarmBudget.PerWindow(2e-6), 271);
        assertTrue(Objects.requireNonNull(assertInstanceOf(Level.Known.class, finest.level(17))
                                .basis())
                        .windowRate()
                > 0.0);
        Level level = levels(new AlarmBudget.PerWindow(1e-7), 271).level(17);
        String reason = assertInstanceOf(Level.Unknown.class, level).reason();
        assertTrue(reason.startsWith("17 requests, among 271 of the baseline, cannot keep 1 clean window in "), reason);
    }

    @Test
    void everyInstanceHasTheSameLevel() {
        assertEquals(
                known(levels(AlarmBudget.standard(), 100).level(12)),
                known(levels(AlarmBudget.standard(), 100).level(12)));
    }
}
