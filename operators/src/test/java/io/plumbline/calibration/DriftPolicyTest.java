package io.plumbline.calibration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.plumbline.calibration.DriftPolicy.Step;
import io.plumbline.calibration.DriftPolicy.Transition;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class DriftPolicyTest {

    private static final double THRESHOLD = 4.0;
    private static final double CLEAR = 3.0;

    @Test
    void oneWindowOverIsEnoughWithoutDebounce() {
        assertEquals(
                List.of(Transition.NONE, Transition.DRIFTED, Transition.NONE),
                transitions(new DriftPolicy(1, 1), 3.9, 4.1, 4.2));
    }

    @Test
    void aSingleOutlierDoesNotTurnADebouncedSite() {
        assertEquals(
                List.of(Transition.NONE, Transition.NONE, Transition.NONE, Transition.NONE, Transition.DRIFTED),
                transitions(new DriftPolicy(2, 3), 5.0, 1.0, 1.0, 5.0, 5.0));
    }

    @Test
    void betweenClearLevelAndThresholdADriftedSiteStaysDrifted() {
        assertEquals(
                List.of(Transition.DRIFTED, Transition.NONE, Transition.NONE, Transition.CLEARED),
                transitions(new DriftPolicy(1, 1), 4.5, 3.5, 3.1, 3.0));
    }

    @Test
    void clearingIsDebouncedLikeDrifting() {
        assertEquals(
                List.of(
                        Transition.NONE,
                        Transition.DRIFTED,
                        Transition.NONE,
                        Transition.NONE,
                        Transition.NONE,
                        Transition.CLEARED),
                transitions(new DriftPolicy(2, 2), 5, 5, 1, 5, 1, 1));
    }

    @Test
    void theStateSurvivesItsBytes() {
        DriftState state = DriftState.initial();
        DriftPolicy policy = new DriftPolicy(3, 5);
        for (double value : new double[] {5, 1, 5, 3.5, 5, 1, 1}) {
            state = policy.step(state, "faithfulness_gap", value, THRESHOLD, CLEAR)
                    .state();
            assertEquals(state, DriftState.decode(state.encode()));
        }
    }

    @Test
    void foreignBytesAreRefused() {
        assertThrows(IllegalArgumentException.class, () -> DriftState.decode(new byte[3]));
        byte[] other = DriftState.initial().encode();
        other[0] = 9;
        assertThrows(IllegalArgumentException.class, () -> DriftState.decode(other));
    }

    @Test
    void aQuantileIsTheConformalOrderStatistic() {
        double[] windows = {9, 1, 8, 2, 7, 3, 6, 4, 5};
        assertEquals(9.0, level(new Threshold.Quantile(0.9), windows));
        assertEquals(5.0, level(new Threshold.Quantile(0.5), windows));
        Threshold.Level tooFew = new Threshold.Quantile(0.91).resolve("faithfulness_gap", 8, windows);
        assertEquals(
                "the 0.91 quantile of faithfulness_gap needs 11 clean windows, the baseline has 9 of this rank and size; "
                        + "collect more activations and run `plumbline baseline` again, or set a number",
                assertInstanceOf(Threshold.Level.Unknown.class, tooFew).reason());
    }

    @Test
    void aShareNeedsALargestValue() {
        assertEquals(4.8, level(new Threshold.Share(0.6), new double[0]), 1e-12);
        assertInstanceOf(
                Threshold.Level.Unknown.class,
                new Threshold.Share(0.6).resolve("whitened_mean_shift", Double.NaN, new double[0]));
    }

    private static double level(Threshold threshold, double[] windows) {
        return assertInstanceOf(Threshold.Level.Known.class, threshold.resolve("faithfulness_gap", 8.0, windows))
                .value();
    }

    private static List<Transition> transitions(DriftPolicy policy, double... values) {
        List<Transition> transitions = new ArrayList<>();
        DriftState state = DriftState.initial();
        for (double value : values) {
            Step step = policy.step(state, "faithfulness_gap", value, THRESHOLD, CLEAR);
            transitions.add(step.transition());
            state = step.state();
        }
        return transitions;
    }
}
