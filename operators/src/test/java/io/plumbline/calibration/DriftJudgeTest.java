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
    private static final Threshold MEDIAN = new Threshold.QuantileOfCleanWindows(0.5);
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
        DriftJudge judge =
                new DriftJudge(baseline(List.of()), List.of("residual_energy"), HALF, HALF, DriftPolicy.immediate(), 1);
        assertInstanceOf(Level.Unknown.class, level(judge, window(2, true)));
        assertInstanceOf(
                DriftVerdict.Undecided.class,
                judge.judge(DriftState.INITIAL, window(2, true)).verdict());
    }

    @Test
    void betweenCalibratedSizesTheLevelIsALineInOneOverTheRootOfTheRows() {
        DriftJudge judge = judge(MEDIAN, 1);
        assertEquals(0.4, known(level(judge, window(10, false))));
        assertEquals(0.1, known(level(judge, window(40, false))));
        double expected = 0.1 + 0.3 * (1 / Math.sqrt(18) - 1 / Math.sqrt(40)) / (1 / Math.sqrt(10) - 1 / Math.sqrt(40));
        assertEquals(expected, known(level(judge, window(18, false))), 1e-12);
        String reason =
                judge.judge(DriftState.INITIAL, window(18, false)).verdict().reason("gap");
        assertTrue(reason.contains("between number 3 from the top of 5 clean windows of 10 rows and"), reason);
    }

    @Test
    void aLevelBetweenTwoSizesIsNeverBelowWhatSamplingAdds() {
        // The root of a square plus c/rows, as a gap that is not 0 on average has it.
        for (double constant : new double[] {0.0, 0.3, 0.8}) {
            DriftJudge judge = judge(
                    MEDIAN, 1, List.of(sample(RANK, 16, floor(constant, 16)), sample(RANK, 400, floor(constant, 400))));
            for (int rows = 16; rows <= 400; rows += 24) {
                double level = known(level(judge, window(rows, false)));
                assertTrue(level >= floor(constant, rows) - 1e-12, "%s at %d rows".formatted(constant, rows));
            }
        }
    }

    private static double floor(double constant, int rows) {
        return Math.sqrt(constant * constant + 1.0 / rows);
    }

    @Test
    void outsideTheCalibratedSizesTheLevelStaysOrRisesWithinAFactorOfTwo() {
        DriftJudge judge = judge(MEDIAN, 1);
        assertEquals(0.1, known(level(judge, window(80, false))), "floors only fall with rows");
        assertInstanceOf(Level.Unknown.class, level(judge, window(81, false)));
        assertEquals(0.4 * Math.sqrt(10.0 / 6), known(level(judge, window(6, false))), 1e-12);
        assertInstanceOf(Level.Unknown.class, level(judge, window(4, false)));
    }

    @Test
    void aLevelThatNoGapReachesIsUndecidedAndNotSilence() {
        DriftJudge judge = judge(MEDIAN, 1, List.of(sample(RANK, 10, 1.2)));
        assertEquals(1.2, known(level(judge, window(10, false))));
        // 1.2 sqrt(10/6) = 1.55 is above sqrt 2, the largest gap.
        Outcome outcome = judge.judge(DriftState.INITIAL, window(6, true));
        String reason = assertInstanceOf(DriftVerdict.Undecided.class, outcome.verdict())
                .reason();
        assertTrue(reason.contains("1.549, is one no gap reaches"), reason);
    }

    @Test
    void cleanWindowsCountWithTheRowsTheyHaveNotThoseTheyWereFilledTo() {
        NullSample overfull = new NullSample(
                RANK,
                10,
                Map.of(DriftJudge.DEFAULT_TRIGGER, new double[] {0.2, 0.2, 0.2}, NullSample.ROWS, new double[] {
                    14, 16, 18
                }));
        DriftJudge judge = judge(MEDIAN, 1, List.of(overfull));
        assertEquals(0.2 * Math.sqrt(1.6), known(level(judge, window(10, false))), 1e-12);
        assertEquals(0.2, known(level(judge, window(16, false))), 1e-12);
    }

    @Test
    void aWindowFarFromEveryCalibratedSizeIsUndecidedWithTheSizesAndWhatToRun() {
        Outcome outcome = judge(MEDIAN, 1).judge(DriftState.INITIAL, window(81, true));
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
                baseline(List.of()),
                List.of(DriftJudge.DEFAULT_TRIGGER),
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

    /** Drift along the second direction moves both; of the two levels the first is passed 1.4 times over, the second 1.1 times. */
    @Test
    void ofSeveralStatisticsTheOneFarthestAboveDecides() {
        GapAssessment clean = window(10, false);
        GapAssessment drifted = window(10, true);
        List<Reading> readings = several(1.0, 0.9).readings(drifted);
        assertEquals(
                "faithfulness_gap",
                DriftJudge.deciding(DriftState.INITIAL, readings).statistic());
        assertEquals(
                "residual_energy",
                DriftJudge.deciding(DriftState.INITIAL, several(1.4, 0.5).readings(drifted))
                        .statistic());
        // One above is enough, whichever it is.
        assertInstanceOf(
                DriftVerdict.Drifted.class,
                several(1.0, 9).judge(DriftState.INITIAL, drifted).verdict());
        assertInstanceOf(
                DriftVerdict.Drifted.class,
                several(1.42, 0.5).judge(DriftState.INITIAL, drifted).verdict());
        assertInstanceOf(
                DriftVerdict.Aligned.class,
                several(1.42, 9).judge(DriftState.INITIAL, drifted).verdict());
        // All must be back at or below.
        DriftState standing = new DriftState(true, 0, 0);
        assertInstanceOf(
                DriftVerdict.Drifted.class,
                several(1.42, 0.5).judge(standing, drifted).verdict());
        assertInstanceOf(
                DriftVerdict.Drifted.class,
                several(1.0, 9).judge(standing, drifted).verdict());
        assertInstanceOf(
                DriftVerdict.Aligned.class,
                several(1.0, 0.5).judge(standing, clean).verdict());
    }

    @Test
    void aStatisticThatCannotBeJudgedMakesTheWindowUndecidedUnlessAnotherIsAbove() {
        // Calibrated for one of the two only.
        DriftJudge judge = new DriftJudge(
                baseline(List.of(sample(RANK, 10, 0.4))),
                List.of("residual_energy", "faithfulness_gap"),
                MEDIAN,
                MEDIAN,
                DriftPolicy.immediate(),
                1);
        assertInstanceOf(
                DriftVerdict.Undecided.class,
                judge.judge(DriftState.INITIAL, window(10, false)).verdict());
        assertInstanceOf(
                DriftVerdict.Drifted.class,
                judge.judge(DriftState.INITIAL, window(10, true)).verdict());
    }

    /** The gap against {@code gap}, and the residual energy against {@code energy}. */
    private static DriftJudge several(double gap, double energy) {
        NullSample sample = new NullSample(
                RANK, 10, Map.of("faithfulness_gap", new double[] {gap}, "residual_energy", new double[] {energy}));
        return new DriftJudge(
                baseline(List.of(sample)),
                List.of("faithfulness_gap", "residual_energy"),
                MEDIAN,
                MEDIAN,
                DriftPolicy.immediate(),
                1);
    }

    private static Level level(DriftJudge judge, GapAssessment window) {
        return judge.readings(window).get(0).level();
    }

    private static double known(Level level) {
        return assertInstanceOf(Level.Known.class, level).value();
    }

    private static DriftJudge judge(Threshold threshold, int minimumRows) {
        return judge(threshold, minimumRows, List.of(sample(RANK, 10, 0.4), sample(RANK, 40, 0.1), sample(2, 20, 9)));
    }

    private static DriftJudge judge(Threshold threshold, int minimumRows, List<NullSample> samples) {
        return new DriftJudge(
                baseline(samples),
                List.of(DriftJudge.DEFAULT_TRIGGER),
                threshold,
                threshold,
                DriftPolicy.immediate(),
                minimumRows);
    }

    private static Baseline baseline(List<NullSample> samples) {
        return new Baseline(
                "0".repeat(64), CLEAN, Matrix.identity(2), 0.1, null, samples, Masking.UNKNOWN, List.of(), null);
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
