package io.plumbline.baseline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.judgement.Threshold;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class BaselineDiffTest {

    private static final Threshold LARGEST = new Threshold.QuantileOfCleanWindows(0.75);

    private static Baseline baseline(double[] lengths, String sha256, NullSample... samples) {
        Matrix rows = Matrix.zeros(lengths.length, lengths.length);
        for (int i = 0; i < lengths.length; i++) {
            rows.set(i, i, lengths[i]);
        }
        SecondMoment moment = SecondMoment.of(rows);
        return new Baseline(
                sha256,
                moment,
                Matrix.identity(lengths.length),
                0.1,
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
    }

    private static NullSample sample(int rank, int rows, double... values) {
        return new NullSample(rank, rows, Map.of("faithfulness_gap", values));
    }

    private static BaselineDiff.Change change(BaselineDiff diff, int rank, int rows) {
        return diff.thresholds().stream()
                .filter(change -> change.statistic().equals("faithfulness_gap")
                        && change.rank() == rank
                        && change.rowsPerWindow() == rows)
                .findFirst()
                .orElseThrow();
    }

    @Test
    void thresholdsGapsAndShiftStandSideBySide() {
        String sha256 = "1".repeat(64);
        Baseline old = baseline(new double[] {3, 2, 1}, sha256, sample(1, 10, 1, 2, 3), sample(2, 10, 1, 2, 3));
        Baseline other = baseline(
                new double[] {2, 3, 1}, sha256, sample(1, 10, 4, 5, 6, 7), sample(1, 40, 1, 1, 1), sample(2, 10));
        BaselineDiff diff = BaselineDiff.between(old, other, LARGEST, List.of());
        // diag(9, 4, 1)/3 against diag(4, 9, 1)/3.
        assertEquals(Math.sqrt(50.0 / 98.0), diff.shiftRatio(), 1e-12);
        assertEquals(Math.sqrt(2.0), diff.gaps().get(1).value(), 1e-12);
        assertEquals(0.0, diff.gaps().get(2).value(), 1e-12);
        assertEquals(new BaselineDiff.Change("faithfulness_gap", 1, 10, 3.0, 7.0, 3, 4), change(diff, 1, 10));
        assertEquals(new BaselineDiff.Change("faithfulness_gap", 1, 40, null, 1.0, 0, 3), change(diff, 1, 40));
        assertNull(change(diff, 2, 10).newLevel(), "too few clean windows: no level");
        assertEquals(3 * BaselineDiff.STATISTICS.size(), diff.thresholds().size());
    }

    @Test
    void atOneRankNothingOfAnotherIsCompared() {
        String sha256 = "1".repeat(64);
        Baseline old = baseline(new double[] {3, 2, 1}, sha256, sample(1, 10, 1, 2, 3), sample(2, 10, 1, 2, 3));
        Baseline other = baseline(new double[] {2, 3, 1}, sha256, sample(1, 10, 4, 5, 6, 7), sample(2, 40, 1, 2, 3));
        BaselineDiff all = BaselineDiff.between(old, other, LARGEST, List.of());
        BaselineDiff one = BaselineDiff.betweenAt(2, old, other, LARGEST, List.of());
        assertEquals(all.shiftRatio(), one.shiftRatio());
        assertEquals(Map.of(2, all.gaps().get(2)), one.gaps());
        assertEquals(
                all.thresholds().stream().filter(change -> change.rank() == 2).toList(), one.thresholds());
    }

    @Test
    void statisticsThatAreJudgedAsOneAreComparedByTheLevelsTheyHaveTogether() {
        Map<String, double[]> clean = Map.of(
                "faithfulness_gap", new double[] {1, 2, 3, 2}, "residual_energy", new double[] {0.1, 0.4, 0.2, 0.3});
        Baseline baseline = baseline(new double[] {3, 2, 1}, "1".repeat(64), new NullSample(1, 10, clean));
        List<String> both = List.of("faithfulness_gap", "residual_energy");
        BaselineDiff.Change alone = change(BaselineDiff.between(baseline, baseline, LARGEST, List.of()), 1, 10);
        BaselineDiff.Change together = change(BaselineDiff.between(baseline, baseline, LARGEST, both), 1, 10);
        assertEquals(3.0, alone.newLevel());
        assertEquals(
                CleanScores.of(baseline.samples().get(0), both)
                        .clean("faithfulness_gap")
                        .fromTop(1),
                together.newLevel());
        assertTrue(together.newLevel() > 3.0, together::toString);
    }

    @Test
    void baselinesOfTwoExplainersAreNotCompared() {
        Baseline one = baseline(new double[] {2, 1}, "1".repeat(64));
        Baseline two = baseline(new double[] {2, 1}, "2".repeat(64));
        assertThrows(IllegalArgumentException.class, () -> BaselineDiff.between(one, two, LARGEST, List.of()));
    }
}
