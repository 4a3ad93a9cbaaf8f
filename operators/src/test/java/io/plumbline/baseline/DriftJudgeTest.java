package io.plumbline.baseline;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.SiteGeometry;
import io.plumbline.geometry.Statistic;
import io.plumbline.judgement.AlarmBudget;
import io.plumbline.judgement.AlarmLaw;
import io.plumbline.judgement.Basis;
import io.plumbline.judgement.DriftPolicy;
import io.plumbline.judgement.DriftPolicy.Outcome;
import io.plumbline.judgement.DriftState;
import io.plumbline.judgement.DriftVerdict;
import io.plumbline.judgement.Reading;
import io.plumbline.judgement.Threshold;
import io.plumbline.judgement.Threshold.Level;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMoment;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

class DriftJudgeTest {

    private static final int RANK = 1;
    private static final Threshold MEDIAN = new Threshold.QuantileOfCleanWindows(0.5);
    private static final Threshold HALF = new Threshold.ShareOfLargestGap(0.5);

    /** The moment of a site that explains the first of two directions. */
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

    private static String basis(DriftVerdict verdict) {
        DriftVerdict.Aligned aligned = assertInstanceOf(DriftVerdict.Aligned.class, verdict);
        return Objects.requireNonNull(aligned.basis()).sentence();
    }

    @Test
    void betweenCalibratedSizesTheLevelIsALineInOneOverTheRootOfTheRows() {
        DriftJudge judge = judge(MEDIAN, 1);
        assertEquals(0.4, known(level(judge, window(10, false))));
        assertEquals(0.1, known(level(judge, window(40, false))));
        double expected = 0.1 + 0.3 * (1 / Math.sqrt(18) - 1 / Math.sqrt(40)) / (1 / Math.sqrt(10) - 1 / Math.sqrt(40));
        assertEquals(expected, known(level(judge, window(18, false))), 1e-12);
        String reason = basis(judge.judge(DriftState.INITIAL, window(18, false)).verdict());
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
    void aboveTheLargestSizeItsLevelHoldsForAnyNumberOfRows() {
        DriftJudge judge = judge(MEDIAN, 1);
        for (int rows : new int[] {40, 80, 81, 4_000}) {
            assertEquals(0.1, known(level(judge, window(rows, false))), "%d rows: floors only fall".formatted(rows));
        }
    }

    @Test
    void aStatisticThatGrowsWithRequestsHasNoLevelAboveItsLargestCleanWindow() {
        String worst = Statistic.WORST_REQUEST.label();
        NullSample clean = new NullSample(
                RANK, 40, Map.of(worst, new double[] {4, 5, 6}, NullSample.ROWS, new double[] {40, 44, 48}));
        DriftJudge judge =
                new DriftJudge(baseline(List.of(clean)), List.of(worst), MEDIAN, MEDIAN, DriftPolicy.immediate(), 1);
        assertEquals(
                5.0,
                judge.readings(window(48, false).with(Statistic.WORST_REQUEST, 4.0))
                        .get(0)
                        .threshold());
        String reason = String.valueOf(judge.readings(window(49, false).with(Statistic.WORST_REQUEST, 4.0))
                .get(0)
                .undecided());
        assertTrue(reason.contains("worst_request grows with requests, and none is as large; run"), reason);
    }

    @Test
    void belowTheSmallestSizeTheLevelGoesOnAlongTheLineOfTheTwoSmallest() {
        DriftJudge judge = judge(MEDIAN, 1);
        double slope = (0.4 - 0.1) / (1 / Math.sqrt(10) - 1 / Math.sqrt(40));
        assertEquals(
                0.4 + slope * (1 / Math.sqrt(6) - 1 / Math.sqrt(10)), known(level(judge, window(6, false))), 1e-12);
        String reason = basis(judge.judge(DriftState.INITIAL, window(6, false)).verdict());
        assertTrue(reason.contains("clean windows of 40 rows, on the line in 1/sqrt(rows) through both"), reason);
        // A constant and little sampling: the steepest possible rise, 2 sqrt(10/6), would hide a drift to 2.3.
        DriftJudge flat = judge(MEDIAN, 1, List.of(sample(RANK, 10, 1.01), sample(RANK, 40, 1.0)));
        double level = known(level(flat, window(6, false)));
        assertEquals(1.01 + 0.01 * (1 / Math.sqrt(6) - 1 / Math.sqrt(10)) * 2 * Math.sqrt(10), level, 1e-12);
        // A line that would fall is noise.
        DriftJudge falling = judge(MEDIAN, 1, List.of(sample(RANK, 10, 0.4), sample(RANK, 40, 0.5)));
        assertEquals(0.4, known(level(falling, window(6, false))));
    }

    @Test
    void belowTheOnlySizeAWindowIsJudgedDownToTheRowsTheCleanWindowsHave() {
        NullSample overfull = new NullSample(
                RANK,
                10,
                Map.of(DriftJudge.DEFAULT_TRIGGER, new double[] {0.2, 0.2, 0.2}, NullSample.ROWS, new double[] {
                    14, 16, 18
                }));
        DriftJudge judge = judge(MEDIAN, 1, List.of(overfull));
        assertEquals(0.2, known(level(judge, window(14, false))));
        Level below = level(judge, window(13, false));
        assertTrue(
                assertInstanceOf(Level.Unknown.class, below)
                        .reason()
                        .contains("of one size alone it is not known how much higher the threshold is for fewer rows"),
                below::toString);
    }

    @Test
    void cleanWindowsCountWithTheRowsTheyHaveNotThoseTheyWereFilledTo() {
        double[] rows = {14, 16, 18};
        NullSample overfull = new NullSample(
                RANK, 10, Map.of(DriftJudge.DEFAULT_TRIGGER, new double[] {0.2, 0.2, 0.2}, NullSample.ROWS, rows));
        DriftJudge judge = judge(MEDIAN, 1, List.of(overfull, sample(RANK, 64, 0.1)));
        assertEquals(0.2, known(level(judge, window(16, false))), 1e-12);
        assertEquals(0.1 + 0.1 * (1 / Math.sqrt(12) - 0.125) / 0.125, known(level(judge, window(12, false))), 1e-12);
    }

    @Test
    void aSizeThatCannotGiveTheQuantileTakesTheNextSmallerSizesLevel() {
        Threshold high = new Threshold.QuantileOfCleanWindows(0.95);
        double[] many = new double[19];
        Arrays.fill(many, 0.4);
        NullSample small = new NullSample(RANK, 10, Map.of(DriftJudge.DEFAULT_TRIGGER, many));
        DriftJudge judge = judge(high, 1, List.of(small, sample(RANK, 40, 0.1)));
        for (int rows : new int[] {10, 20, 40, 4_000}) {
            assertEquals(0.4, known(level(judge, window(rows, false))), rows + " rows");
        }
        Level none = level(judge(high, 1, List.of(sample(RANK, 40, 0.1))), window(40, false));
        assertTrue(
                assertInstanceOf(Level.Unknown.class, none).reason().contains("at least 19 clean windows"),
                none::toString);
    }

    @Test
    void aLevelThatNoGapReachesIsUndecidedAndNotSilence() {
        DriftJudge judge = judge(MEDIAN, 1, List.of(sample(RANK, 10, 1.2), sample(RANK, 40, 0.6)));
        assertEquals(1.2, known(level(judge, window(10, false))));
        // 1.2 sqrt(10/6) = 1.55 is above sqrt 2, the largest gap.
        Outcome outcome = judge.judge(DriftState.INITIAL, window(6, true));
        String reason = assertInstanceOf(DriftVerdict.Undecided.class, outcome.verdict())
                .reason();
        assertTrue(reason.contains("faithfulness_gap needs 1.549 and makes sense up to 1.414"), reason);
    }

    @Test
    void aWindowIsUndecidedWhereNoneOfSeveralLevelsCanBeReachedAndDriftedWhereOneIs() {
        GapAssessment window = window(10, false);
        assertInstanceOf(
                DriftVerdict.Undecided.class,
                calibrated(1.5, 1.0).judge(DriftState.INITIAL, window).verdict());
        assertInstanceOf(
                DriftVerdict.Aligned.class,
                calibrated(1.5, 0.9).judge(DriftState.INITIAL, window).verdict());
        // FVU may exceed 1, where it explains nothing: a value above such a level is an alarm all the same.
        DriftJudge reconstruction = new DriftJudge(
                baseline(List.of(new NullSample(RANK, 10, Map.of("reconstruction_fvu_trained", filled(2.4))))),
                List.of("reconstruction_fvu_trained"),
                MEDIAN,
                MEDIAN,
                DriftPolicy.immediate(),
                1);
        assertInstanceOf(
                DriftVerdict.Undecided.class,
                reconstruction
                        .judge(DriftState.INITIAL, window.with(Statistic.RECONSTRUCTION_FVU_TRAINED, 0.8))
                        .verdict());
        assertInstanceOf(
                DriftVerdict.Drifted.class,
                reconstruction
                        .judge(DriftState.INITIAL, window.with(Statistic.RECONSTRUCTION_FVU_TRAINED, 2.5))
                        .verdict());
    }

    private static DriftJudge calibrated(double gap, double residualEnergy) {
        Map<String, double[]> clean =
                Map.of("faithfulness_gap", filled(gap), "residual_energy", filled(residualEnergy));
        return new DriftJudge(
                baseline(List.of(new NullSample(RANK, 10, clean))),
                List.of("faithfulness_gap", "residual_energy"),
                MEDIAN,
                MEDIAN,
                DriftPolicy.immediate(),
                1);
    }

    @Test
    void aWindowBelowHalfTheSmallestSizeIsUndecidedWithTheSizesAndWhatToRun() {
        assertInstanceOf(Level.Known.class, level(judge(MEDIAN, 1), window(5, true)));
        Outcome outcome = judge(MEDIAN, 1).judge(DriftState.INITIAL, window(4, true));
        assertEquals(
                "the window has 4 rows and rank 1, the baseline's clean windows are of 10 rows, rank 1; 40 rows, "
                        + "rank 1; 20 rows, rank 2:"
                        + " none is as small as twice its rows; run `plumbline baseline --rank 1 --window-rows 4`, "
                        + "or set a number",
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

    /**
     * Drift along the second direction moves both; of the two levels the first is passed 1.4 times over, the second 1.1
     * times.
     */
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
                DriftVerdict.Undecided.class,
                several(1.42, 9).judge(DriftState.INITIAL, drifted).verdict(),
                "neither can be reached");
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
    void aStatisticThatIsUndefinedInAWindowMakesItUndecidedUnlessAnotherIsAbove() {
        Map<String, double[]> clean =
                Map.of("faithfulness_gap", filled(0.4), "eta", filled(0.4), "residual_energy", filled(0.4));
        DriftJudge judge = new DriftJudge(
                baseline(List.of(new NullSample(RANK, 4, clean))),
                List.of("faithfulness_gap", "residual_energy"),
                MEDIAN,
                MEDIAN,
                DriftPolicy.immediate(),
                1);
        // Rows of one direction alone: the subspace is there; of zeros it is not.
        GapAssessment zeros = SITE.assess(SecondMoment.of(Matrix.zeros(4, 2)));
        assertInstanceOf(
                DriftVerdict.Undecided.class,
                judge.judge(DriftState.INITIAL, zeros).verdict());
        assertInstanceOf(
                DriftVerdict.Drifted.class,
                judge.judge(DriftState.INITIAL, window(10, true)).verdict());
    }

    @Test
    void aStatisticThatNoCleanWindowHasIsLeftOutAndSaysSo() {
        DriftJudge judge = new DriftJudge(
                baseline(List.of(sample(RANK, 10, 0.4))),
                List.of("residual_energy", "faithfulness_gap"),
                MEDIAN,
                MEDIAN,
                DriftPolicy.immediate(),
                1);
        assertInstanceOf(
                DriftVerdict.Aligned.class,
                judge.judge(DriftState.INITIAL, window(10, false)).verdict());
        assertInstanceOf(
                DriftVerdict.Drifted.class,
                judge.judge(DriftState.INITIAL, window(10, true)).verdict());
        List<Reading> readings = judge.readings(window(10, true));
        assertTrue(readings.get(0).leftOut());
        assertEquals(
                "no clean window of rank 1 has residual_energy: it is left out, the others decide",
                readings.get(0).undecided());
        assertEquals(0.4, readings.get(1).threshold(), "as if it were alone");
    }

    @Test
    void requestTotalsThatAWindowLacksAreLeftOutOfItAndTheOthersDecide() {
        Map<String, double[]> clean = Map.of("faithfulness_gap", filled(0.4), "request_shift", filled(0.5));
        DriftJudge judge = new DriftJudge(
                baseline(List.of(new NullSample(RANK, 10, clean))),
                List.of("faithfulness_gap", "request_shift"),
                MEDIAN,
                MEDIAN,
                DriftPolicy.immediate(),
                1);
        GapAssessment open = window(10, false);
        assertTrue(open.statistic("request_shift").isEmpty());
        assertInstanceOf(
                DriftVerdict.Aligned.class,
                judge.judge(DriftState.INITIAL, open).verdict());
        Reading left = judge.readings(open).get(1);
        assertTrue(left.leftOut());
        assertTrue(
                String.valueOf(left.undecided()).endsWith("; it is left out of this window, the others decide"),
                left::toString);
        assertInstanceOf(
                DriftVerdict.Drifted.class,
                judge.judge(DriftState.INITIAL, window(10, true)).verdict());
        GapAssessment later = open.with(Statistic.REQUEST_SHIFT, 5.0);
        assertInstanceOf(
                DriftVerdict.Drifted.class,
                judge.judge(DriftState.INITIAL, later).verdict());
        DriftJudge alone = new DriftJudge(
                baseline(List.of(new NullSample(RANK, 10, clean))),
                List.of("request_shift"),
                MEDIAN,
                MEDIAN,
                DriftPolicy.immediate(),
                1);
        assertInstanceOf(
                DriftVerdict.Undecided.class,
                alone.judge(DriftState.INITIAL, open).verdict(),
                "nothing else decides");
    }

    /** Forty requests whose evidence is spread evenly. */
    private static Baseline ofRequests(List<NullSample> samples) {
        ScoreRanks ranks =
                ScoreRanks.of(IntStream.range(0, 300).asDoubleStream().toArray());
        RanksByRows byRows = new RanksByRows(List.of(new RanksByRows.Step(2, ranks)));
        return baseline(
                samples,
                new RequestModel(Matrix.identity(2), new double[2], 2.0, ranks, new double[0], byRows, byRows));
    }

    private static DriftJudge promising(int cleanWindows) {
        return promising(cleanWindows, "request_evidence", List.of("request_evidence"));
    }

    /** Returns a judge that promises one alarm in 30 days, with clean windows of one of its statistics. */
    private static DriftJudge promising(int cleanWindows, String calibrated, List<String> statistics) {
        double[] values =
                IntStream.range(0, cleanWindows).mapToDouble(i -> 1.0 + i / 1e4).toArray();
        Threshold promise = new Threshold.FalseAlarms(
                AlarmBudget.standard(), AlarmLaw.tumbling(DriftPolicy.STANDARD, Duration.ofMinutes(1)));
        return new DriftJudge(
                ofRequests(List.of(new NullSample(RANK, 10, Map.of(calibrated, values)))),
                statistics,
                promise,
                promise,
                DriftPolicy.immediate(),
                1);
    }

    private static GapAssessment evidence(double byTail, double byRanks) {
        return window(10, false)
                .with(Statistic.REQUEST_EVIDENCE, byTail)
                .with(Statistic.REQUEST_EVIDENCE_BY_RANKS, byRanks)
                .with(Statistic.REQUESTS_IN_EVIDENCE, 20.0);
    }

    @Test
    void requestsKeepThePromiseUntilCleanWindowsDo() {
        List<Reading> readings = promising(15).readings(evidence(0.9, 3.9));
        assertEquals(
                List.of("request_evidence", "request_evidence_by_ranks"),
                readings.stream().map(Reading::statistic).toList());
        assertEquals(false, readings.get(0).exceeded());
        assertEquals(true, readings.get(1).exceeded());
        Basis basis = Objects.requireNonNull(readings.get(1).basis());
        assertEquals(300, basis.countOf(Basis.Clean.REQUESTS));
        assertTrue(basis.isKept());
        assertFalse(Objects.requireNonNull(readings.get(0).basis()).isKept());
        assertInstanceOf(
                DriftVerdict.Drifted.class,
                promising(15).judge(DriftState.INITIAL, evidence(0.9, 3.9)).verdict());
        assertEquals(
                1, promising(2_000).readings(evidence(0.9, 3.9)).size(), "the clean windows keep it by themselves");
    }

    @Test
    void ofTwoAboveTheOneWhoseLevelKeepsThePromiseDecides() {
        DriftJudge judge = promising(15);
        List<Reading> both = judge.readings(evidence(20.0, 3.9));
        assertEquals(
                "request_evidence_by_ranks",
                DriftJudge.deciding(DriftState.INITIAL, both).statistic());
        List<Reading> weak = judge.readings(evidence(20.0, 1.0));
        assertEquals(
                "request_evidence",
                DriftJudge.deciding(DriftState.INITIAL, weak).statistic());
        List<Reading> clean = judge.readings(evidence(0.9, 1.0));
        assertEquals(
                "request_evidence",
                DriftJudge.deciding(DriftState.INITIAL, clean).statistic());
    }

    private static DriftJudge withGroups(int cleanWindows) {
        return promising(cleanWindows, "faithfulness_gap", List.of("faithfulness_gap", "new_group"));
    }

    private static GapAssessment grouped(double newGroup) {
        return window(10, false)
                .with(Statistic.FAITHFULNESS_GAP, 0.5)
                .with(Statistic.NEW_GROUP, newGroup)
                .with(Statistic.REQUESTS_IN_GROUPS, 120.0);
    }

    @Test
    void aNewGroupHasALevelFromTheBaselinesRequestsWhateverItsWindows() {
        for (int cleanWindows : new int[] {15, 2_000}) {
            DriftJudge judge = withGroups(cleanWindows);
            Reading group = judge.readings(grouped(11.0)).get(1);
            assertEquals(Double.valueOf(10.0), group.threshold());
            assertEquals(true, group.exceeded());
            Basis basis = Objects.requireNonNull(group.basis());
            assertEquals(300, basis.countOf(Basis.Clean.REQUESTS));
            assertTrue(basis.isKept());
            DriftVerdict.Drifted drifted = assertInstanceOf(
                    DriftVerdict.Drifted.class,
                    judge.judge(DriftState.INITIAL, grouped(11.0)).verdict());
            assertEquals(11.0, drifted.value());
            assertInstanceOf(
                    DriftVerdict.Aligned.class,
                    judge.judge(DriftState.INITIAL, grouped(9.0)).verdict());
        }
    }

    @Test
    void aWindowWithoutTotalsOfItsRequestsIsJudgedWithoutGroups() {
        GapAssessment none = grouped(0.0).with(Statistic.NEW_GROUP, (Double) null);
        Reading group = withGroups(15).readings(none).get(1);
        assertTrue(group.leftOut());
        assertInstanceOf(
                DriftVerdict.Aligned.class,
                withGroups(15).judge(DriftState.INITIAL, none).verdict());
    }

    @Test
    void withoutAllOthersThatThereIsNoNewGroupDecidesNothing() {
        DriftJudge judge = promising(15, "request_evidence", List.of("request_evidence", "new_group"));
        DriftVerdict silent = judge.judge(DriftState.INITIAL, grouped(0.0)).verdict();
        String reason = assertInstanceOf(DriftVerdict.Undecided.class, silent).reason();
        assertTrue(reason.startsWith("all other statistics are left out, and that there is no new group"), reason);
        assertInstanceOf(
                DriftVerdict.Drifted.class,
                judge.judge(DriftState.INITIAL, grouped(11.0)).verdict());
        DriftJudge alone = promising(15, "request_evidence", List.of("new_group"));
        assertInstanceOf(
                DriftVerdict.Aligned.class,
                alone.judge(DriftState.INITIAL, grouped(0.0)).verdict(),
                "nothing else was asked for");
    }

    @Test
    void aWindowOfRequestsThatCannotBeScoredIsJudgedByTheOthers() {
        Map<String, double[]> clean = Map.of("faithfulness_gap", filled(0.4), "request_evidence", filled(1.2));
        DriftJudge judge = new DriftJudge(
                ofRequests(List.of(new NullSample(RANK, 10, clean))),
                List.of("faithfulness_gap", "request_evidence"),
                MEDIAN,
                MEDIAN,
                DriftPolicy.immediate(),
                1);
        assertInstanceOf(
                DriftVerdict.Aligned.class,
                judge.judge(DriftState.INITIAL, window(10, false)).verdict());
        assertInstanceOf(
                DriftVerdict.Drifted.class,
                judge.judge(DriftState.INITIAL, window(10, true)).verdict());
    }

    @Test
    void theLevelOfASizeIsItsOwnOrTheNextSmallerSizes() {
        double[] many = new double[19];
        Arrays.fill(many, 0.4);
        NullSample small = new NullSample(RANK, 10, Map.of(DriftJudge.DEFAULT_TRIGGER, many));
        NullSample large = sample(RANK, 40, 0.1);
        DriftJudge judge = judge(new Threshold.QuantileOfCleanWindows(0.95), 1, List.of(small, large));
        assertEquals(0.4, known(judge.level(DriftJudge.DEFAULT_TRIGGER, small)));
        assertEquals(0.4, known(judge.level(DriftJudge.DEFAULT_TRIGGER, large)));
        DriftJudge median = judge(MEDIAN, 1, List.of(small, large));
        assertEquals(0.1, known(median.level(DriftJudge.DEFAULT_TRIGGER, large)));
    }

    /** Returns a judge of the gap against {@code gap}, and the residual energy against {@code energy}. */
    private static DriftJudge several(double gap, double energy) {
        NullSample sample =
                new NullSample(RANK, 10, Map.of("faithfulness_gap", filled(gap), "residual_energy", filled(energy)));
        return new DriftJudge(
                baseline(List.of(sample)),
                List.of("faithfulness_gap", "residual_energy"),
                MEDIAN,
                MEDIAN,
                DriftPolicy.immediate(),
                1);
    }

    private static double[] filled(double value) {
        double[] values = new double[5];
        Arrays.fill(values, value);
        return values;
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
        return baseline(samples, null);
    }

    private static Baseline baseline(List<NullSample> samples, @Nullable RequestModel requests) {
        return new Baseline(
                "0".repeat(64),
                CLEAN,
                Matrix.identity(2),
                0.1,
                null,
                samples,
                Masking.UNKNOWN,
                List.of(),
                256,
                requests,
                null,
                null,
                List.of(),
                null);
    }

    private static NullSample sample(int rank, int rows, double value) {
        return new NullSample(rank, rows, Map.of(DriftJudge.DEFAULT_TRIGGER, filled(value)));
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
