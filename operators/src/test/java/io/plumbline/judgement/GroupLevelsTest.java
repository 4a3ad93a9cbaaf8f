package io.plumbline.judgement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.judgement.Threshold.Level;
import java.time.Duration;
import java.util.Objects;
import java.util.SplittableRandom;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Windows of a minute, a tenth of the requests unusual, groups of three and more. */
class GroupLevelsTest {

    private static final double UNUSUAL = 0.1;

    private static GroupLevels levels(AlarmBudget budget, int requests) {
        return new GroupLevels(
                new Threshold.FalseAlarms(budget, AlarmLaw.tumbling(DriftPolicy.STANDARD, Duration.ofMinutes(1))),
                requests,
                UNUSUAL,
                3);
    }

    private static Level.Known known(Level level) {
        return assertInstanceOf(Level.Known.class, level);
    }

    /** Draws baselines and pools of traffic whose unusual kinds have one share each. */
    private static double newGroups(int baseline, int pooled, double level, double share, int draws) {
        SplittableRandom random = new SplittableRandom(11);
        int kinds = (int) Math.floor(UNUSUAL / share + 1e-9);
        long alarms = 0;
        for (int draw = 0; draw < draws; draw++) {
            for (int kind = 0; kind < kinds; kind++) {
                boolean isKnown = false;
                for (int i = 0; i < baseline && !isKnown; i++) {
                    isKnown = random.nextDouble() < 0.65 * share;
                }
                int size = 0;
                for (int i = 0; i < pooled; i++) {
                    size += random.nextDouble() < share ? 1 : 0;
                }
                alarms += !isKnown && size > level ? 1 : 0;
            }
        }
        return (double) alarms / draws;
    }

    @ParameterizedTest
    @CsvSource({"271, 120, 0.01", "1000, 120, 0.005"})
    void whateverTheSharesOfRareKindsTheyAlarmNoOftenerThanPromised(int baseline, int pooled, double rate) {
        Level.Known level =
                known(levels(new AlarmBudget.PerWindow(rate), baseline).level(pooled));
        double worst = 0.0;
        for (double share : new double[] {0.002, 0.005, 0.01, 0.02, 0.05, 0.1}) {
            worst = Math.max(worst, newGroups(baseline, pooled, level.value(), share, 4_000));
        }
        double promised = Objects.requireNonNull(level.basis()).windowRate();
        assertTrue(promised <= rate, () -> "promised " + promised);
        double found = worst;
        assertTrue(found < promised + 4.0 * Math.sqrt(promised / 4_000), () -> found + " of " + promised);
        assertTrue(worst > 0.1 * promised, () -> "%s of %s: higher than it must be".formatted(found, promised));
    }

    @ParameterizedTest
    @CsvSource({"271, 10", "1000, 6", "2560, 4"})
    void aTenthOfForeignRequestsAmong120IsAboveTheLevelOfOneAlarmInThirtyDays(int baseline, double level) {
        Level.Known known = known(levels(AlarmBudget.standard(), baseline).level(120));
        assertEquals(level, known.value());
        Basis basis = Objects.requireNonNull(known.basis());
        assertEquals(baseline, basis.countOf(Basis.Clean.REQUESTS));
        assertTrue(Objects.requireNonNull(basis.alarmsPerDay()) <= 1.0 / 30.0, basis.sentence());
    }

    @Test
    void theMoreRequestsArePooledTheHigherTheLevel() {
        GroupLevels levels = levels(AlarmBudget.standard(), 500);
        double before = 0.0;
        for (int pooled : new int[] {40, 120, 400, 1_000, 5_000}) {
            double level = known(levels.level(pooled)).value();
            assertTrue(level > before, pooled + ": " + level);
            before = level;
        }
    }

    @Test
    void aPoolSmallerThanTheGroupThatIsNeededHasNoLevel() {
        Level.Unknown unknown = assertInstanceOf(
                Level.Unknown.class, levels(AlarmBudget.standard(), 40).level(3));
        assertEquals("3 pooled requests, with a baseline of 40, cannot keep 1 false alarm in 30 d", unknown.reason());
    }

    @Test
    void noRequestsAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> levels(AlarmBudget.standard(), 0));
    }
}
