package io.plumbline.calibration;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.calibration.DriftPolicy.Outcome;
import io.plumbline.calibration.Threshold.Level;
import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;

class DriftJudgeTest {

    private static final int RANK = 1;
    private static final Threshold HALF = new Threshold.ShareOfLargestGap(0.5);

    /** The site explains the first of two directions. */
    private static final SecondMoment CLEAN = SecondMoment.of(new Matrix(2, 2, new double[] {3, 0, 0, 1}));

    private static final SiteGeometry SITE = SiteGeometry.of(
            new Decoder(new Matrix(2, 2, new double[] {1, 0, 0, 0.1}), new double[2]), CLEAN, null, RANK);

    @Test
    void aWindowOnTheExplainedDirectionIsAlignedAndOnTheOtherDrifted() {
        assertInstanceOf(
                DriftVerdict.Aligned.class,
                judge(HALF, 2).judge(DriftState.INITIAL, window(2, false)).verdict());
        Outcome drifted = judge(HALF, 2).judge(DriftState.INITIAL, window(2, true));
        DriftVerdict.Drifted verdict = assertInstanceOf(DriftVerdict.Drifted.class, drifted.verdict());
        assertEquals(Math.sqrt(2.0), verdict.value(), 1e-12);
        assertEquals(0.5 * Math.sqrt(2.0), verdict.threshold(), 1e-12);
    }

    @Test
    void tooFewRowsAreUndecidedAndLeaveTheStateAlone() {
        DriftState before = new DriftState(true, 1, 1);
        Outcome outcome = judge(HALF, 3).judge(before, window(2, true));
        assertTrue(assertInstanceOf(DriftVerdict.Undecided.class, outcome.verdict())
                .reason()
                .contains("2 rows, at least 3"));
        assertEquals(before, outcome.state());
    }

    @Test
    void anUndefinedStatisticIsUndecidedWithItsReason() {
        GapAssessment zeros = SITE.assess(SecondMoment.of(Matrix.zeros(4, 2)));
        String reason = zeros.undefined().get("faithfulness_gap");
        Outcome outcome = judge(HALF, 1).judge(DriftState.INITIAL, zeros);
        assertTrue(
                assertInstanceOf(DriftVerdict.Undecided.class, outcome.verdict())
                        .reason()
                        .contains(reason),
                reason);
    }

    @Test
    void aShareOfAStatisticThatIsNoGapIsUnknown() {
        DriftJudge judge = new DriftJudge(baseline(), "residual_energy", HALF, HALF, DriftPolicy.immediate(), 1);
        assertInstanceOf(Level.Unknown.class, judge.level(window(2, true)));
        assertInstanceOf(
                DriftVerdict.Undecided.class,
                judge.judge(DriftState.INITIAL, window(2, true)).verdict());
    }

    @Test
    void quantilesComeFromTheCleanWindowsNearestInSizeWithinAFactorOfTwo() {
        Threshold median = new Threshold.QuantileOfCleanWindows(0.5);
        DriftJudge judge = judge(median, 1);
        assertEquals(0.1, known(judge.level(window(10, false))));
        assertEquals(0.1, known(judge.level(window(20, false))), "exactly twice the size");
        assertEquals(0.4, known(judge.level(window(26, false))), "nearer to 40 by ratio");
        assertEquals(0.4, known(judge.level(window(80, false))));
        assertInstanceOf(Level.Unknown.class, judge.level(window(81, false)));
        assertInstanceOf(Level.Unknown.class, judge.level(window(4, false)));
    }

    @Test
    void aWindowFarFromEveryCalibratedSizeIsUndecidedWithTheSizesAndWhatToRun() {
        Threshold median = new Threshold.QuantileOfCleanWindows(0.5);
        Outcome outcome = judge(median, 1).judge(DriftState.INITIAL, window(81, true));
        assertEquals(
                "the window has 81 rows and rank 1, the baseline's clean windows are of 10 rows, rank 1; 40 rows, rank 1; 20 rows, rank 2;"
                        + " none is of this rank and within a factor of two of its rows: run `plumbline baseline --rank 1 --window-rows 81`, or set a number",
                assertInstanceOf(DriftVerdict.Undecided.class, outcome.verdict())
                        .reason());
    }

    @Test
    void betweenClearAndThresholdTheStandingStays() {
        GapAssessment window = window(2, true);
        DriftJudge judge = new DriftJudge(
                baseline(),
                DriftJudge.DEFAULT_TRIGGER,
                new Threshold.Fixed(1.42),
                new Threshold.Fixed(1.0),
                DriftPolicy.immediate(),
                1);
        assertInstanceOf(
                DriftVerdict.Aligned.class,
                judge.judge(DriftState.INITIAL, window).verdict());
        DriftState drifted = new DriftState(true, 0, 0);
        assertInstanceOf(
                DriftVerdict.Drifted.class, judge.judge(drifted, window).verdict());
        assertEquals(
                DriftPolicy.Transition.BECAME_ALIGNED,
                judge.judge(drifted, window(2, false)).transition());
    }

    private static double known(Level level) {
        return assertInstanceOf(Level.Known.class, level).value();
    }

    private static DriftJudge judge(Threshold threshold, int minimumRows) {
        return new DriftJudge(
                baseline(), DriftJudge.DEFAULT_TRIGGER, threshold, threshold, DriftPolicy.immediate(), minimumRows);
    }

    private static Baseline baseline() {
        return new Baseline(
                "0".repeat(64),
                CLEAN,
                Matrix.identity(2),
                0.1,
                List.of(sample(RANK, 10, 0.1), sample(RANK, 40, 0.4), sample(2, 20, 9)));
    }

    private static NullSample sample(int rank, int rows, double value) {
        double[] values = new double[5];
        Arrays.fill(values, value);
        return new NullSample(rank, rows, Map.of(DriftJudge.DEFAULT_TRIGGER, values));
    }

    /** Rows along one direction, with a faint second one. */
    private static GapAssessment window(int rows, boolean drifted) {
        Matrix matrix = Matrix.zeros(rows, 2);
        for (int i = 0; i < rows; i++) {
            matrix.set(i, drifted ? 1 : 0, i % 2 == 0 ? 3 : -3);
        }
        matrix.set(0, drifted ? 0 : 1, 1e-8);
        return SITE.assess(SecondMoment.of(matrix));
    }
}
