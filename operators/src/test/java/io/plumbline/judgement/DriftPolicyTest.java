package io.plumbline.judgement;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;

class DriftPolicyTest {

    private static final Threshold.Level LEVEL = new Threshold.Level.Known(4.0, null);

    /** One letter per window: D drifted, A aligned, U undecided. "?" is a window that cannot be judged. */
    private static String verdicts(DriftPolicy policy, String values) {
        return verdicts(policy, values, LEVEL);
    }

    private static String verdicts(DriftPolicy policy, String values, Threshold.Level clear) {
        StringBuilder verdicts = new StringBuilder();
        DriftState state = DriftState.INITIAL;
        for (String value : values.split(" ", -1)) {
            double number = value.equals("?") ? Double.NaN : Double.parseDouble(value);
            DriftPolicy.Outcome outcome = policy.judge(DriftState.decode(state.encode()), number, LEVEL, clear);
            verdicts.append(outcome.verdict().getClass().getSimpleName().charAt(0));
            state = outcome.state();
        }
        return verdicts.toString();
    }

    @Test
    void immediatePolicyFollowsTheThreshold() {
        assertEquals("AADDA", verdicts(DriftPolicy.immediate(), "3 4 4.1 9 4"));
    }

    @Test
    void debounceWaitsForSomeOfTheLastWindows() {
        DriftPolicy twoOfThree = new DriftPolicy(2, 3);
        assertEquals("AAAAAAA", verdicts(twoOfThree, "5 3 3 5 3 3 5"));
        assertEquals("AAAAAD", verdicts(twoOfThree, "5 3 3 5 3 5"));
        assertEquals("ADDDA", verdicts(twoOfThree, "5 5 3 5 3"));
    }

    @Test
    void betweenClearLevelAndThresholdNothingChanges() {
        DriftPolicy policy = DriftPolicy.immediate();
        assertEquals("AADDDDAA", verdicts(policy, "3.5 4 5 3.5 3.9 3.1 3 3.5", new Threshold.Level.Known(3.0, null)));
    }

    @Test
    void aClearLevelAboveTheThresholdCountsAsTheThreshold() {
        assertEquals("ADDA", verdicts(DriftPolicy.immediate(), "3 5 4.1 4", new Threshold.Level.Known(6.0, null)));
    }

    @Test
    void aWindowOnTheFarSideOfItsSitesStandingSaysHowManyMoreAreNeeded() {
        DriftPolicy policy = DriftPolicy.STANDARD;
        Threshold.Level clear = new Threshold.Level.Known(3.0, null);
        DriftPolicy.Outcome first = policy.judge(DriftState.INITIAL, 4.5, LEVEL, clear);
        assertEquals(
                "kl = 4.500 is above the threshold 4.000, 1 of 2 windows needed above it",
                first.verdict().reason("kl"));
        DriftPolicy.Outcome second = policy.judge(first.state(), 4.00001, LEVEL, clear);
        assertEquals(
                "kl = 4.00001 is above the threshold 4.00000", second.verdict().reason("kl"));
        DriftPolicy.Outcome between = policy.judge(second.state(), 3.5, LEVEL, clear);
        assertEquals(
                "kl = 3.500 is not above the threshold 4.000, 0 of 2 windows needed at or below 3.000",
                between.verdict().reason("kl"));
    }

    @Test
    void undecidedWindowsNeitherCountNorReset() {
        DriftPolicy twoOfTwo = new DriftPolicy(2, 2);
        assertEquals("AUUDUDA", verdicts(twoOfTwo, "5 ? ? 5 ? 3 3"));
        DriftPolicy.Outcome outcome =
                twoOfTwo.judge(DriftState.INITIAL, 9.0, new Threshold.Level.Unknown("no baseline"), LEVEL);
        assertEquals(
                "no baseline",
                assertInstanceOf(DriftVerdict.Undecided.class, outcome.verdict())
                        .reason());
        assertEquals(DriftState.INITIAL, outcome.state());
    }

    @Test
    void aChangeIsReportedOnce() {
        DriftPolicy policy = DriftPolicy.immediate();
        DriftPolicy.Outcome first = policy.judge(DriftState.INITIAL, 5.0, LEVEL, LEVEL);
        assertEquals(DriftPolicy.Transition.BECAME_DRIFTED, first.transition());
        DriftPolicy.Outcome second = policy.judge(first.state(), 5.0, LEVEL, LEVEL);
        assertEquals(DriftPolicy.Transition.NONE, second.transition());
        assertEquals(
                DriftPolicy.Transition.BECAME_ALIGNED,
                policy.judge(second.state(), 1.0, LEVEL, LEVEL).transition());
    }

    @Test
    void stateSurvivesItsBytesAndOtherBytesAreRefused() {
        DriftState state = new DriftState(true, 64, -3L);
        assertEquals(state, DriftState.decode(state.encode()));
        byte[] otherVersion = state.encode();
        otherVersion[0] = 2;
        assertThrows(IllegalArgumentException.class, () -> DriftState.decode(otherVersion));
        byte[] tooMany = state.encode();
        tooMany[2] = 65;
        assertThrows(IllegalArgumentException.class, () -> DriftState.decode(tooMany));
        assertThrows(IllegalArgumentException.class, () -> DriftState.decode(new byte[10]));
        assertThrows(IllegalArgumentException.class, () -> DriftState.decode(new byte[0]));
    }

    @Test
    void nonsenseIsRefused() {
        assertThrows(IllegalArgumentException.class, () -> new DriftPolicy(3, 2));
        assertThrows(IllegalArgumentException.class, () -> new DriftPolicy(1, 65));
    }
}
