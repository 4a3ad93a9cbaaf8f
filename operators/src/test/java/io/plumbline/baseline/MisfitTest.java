package io.plumbline.baseline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import org.junit.jupiter.api.Test;

class MisfitTest {

    private static final int WIDTH = 64;

    /** The gap that two random subspaces of rank 16 have: the root of 2 r (1 - r / d). */
    private static final double CHANCE = Math.sqrt(2.0 * 16 * (1.0 - 16.0 / WIDTH));

    private static Optional<String> misfit(double fvu, NullSample... samples) {
        Baseline baseline = new Baseline(
                "a".repeat(64),
                SecondMoment.of(Matrix.identity(WIDTH)),
                Matrix.identity(WIDTH),
                fvu,
                null,
                List.of(samples),
                Masking.UNKNOWN,
                List.of(),
                256,
                null,
                null,
                null,
                List.of(),
                null);
        return Misfit.of(baseline, baseline.samples());
    }

    private static NullSample gaps(int rows, double... values) {
        return new NullSample(16, rows, Map.of("faithfulness_gap", values));
    }

    @Test
    void anExplainerThatFitsIsNoMisfit() {
        assertEquals(Optional.empty(), misfit(0.9, gaps(512, 0.7 * CHANCE, 0.7 * CHANCE)));
        assertEquals(Optional.empty(), misfit(1.0));
    }

    @Test
    void moreErrorThanVarianceIsAMisfitAlsoWithoutCleanWindows() {
        String sentence = misfit(1.83).orElseThrow();
        assertTrue(sentence.startsWith("the explainer explains less than nothing of these rows: FVU 1.83,"), sentence);
        assertTrue(sentence.contains("of another hook or layer"), sentence);
    }

    @Test
    void theLargestWindowsSayWhetherTheGapIsAtChance() {
        // Windows of few rows are far from everything.
        assertEquals(Optional.empty(), misfit(0.5, gaps(128, CHANCE), gaps(512, 0.8 * CHANCE)));
        String sentence = misfit(0.5, gaps(128, 0.8 * CHANCE), gaps(512, 0.1, 0.99 * CHANCE, CHANCE))
                .orElseThrow();
        assertTrue(
                sentence.startsWith("the gap of rank 16 is at chance level: 4.850, "
                        + "and its square is 0.98 of what random subspaces"),
                sentence);
    }

    @Test
    void anExplainerThatFitsAPartOfTheTrafficIsSaidSo() {
        NullSample uneven = new NullSample(
                16, 2_048, Map.of("reconstruction_fvu_trained", new double[] {0.19, 0.2, 0.2, 0.21, 0.43}));
        String sentence = misfit(0.24, uneven).orElseThrow();
        assertTrue(
                sentence.startsWith("the explainer does not fit part of this traffic: FVU 0.190 to 0.430 in clean"
                        + " windows of 2,048 rows."),
                sentence);
        NullSample even = new NullSample(
                16, 2_048, Map.of("reconstruction_fvu_trained", new double[] {0.19, 0.2, 0.2, 0.21, 0.28}));
        assertEquals(Optional.empty(), misfit(0.22, even));
    }
}
