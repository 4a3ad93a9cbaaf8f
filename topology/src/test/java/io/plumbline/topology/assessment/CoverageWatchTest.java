package io.plumbline.topology.assessment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.assessment.SiteSettings.CoverageRule;
import io.plumbline.topology.ingest.Coverage;
import io.plumbline.topology.report.CoverageReport;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Tests when a window is marked, with numbers written out. */
class CoverageWatchTest {

    private static final Coverage USUAL = new Coverage(1_000, 950, 20, 0, 0);
    private static final Coverage CACHED = new Coverage(1_000, 390, 600, 0, 0);

    @Test
    void noWindowIsMarkedUntilItIsKnownWhatIsUsual() {
        CoverageWatch watch = CoverageWatch.NONE;
        for (int window = 0; window < CoverageWatch.LEARNT; window++) {
            assertNull(report(watch, CACHED, CoverageRule.STANDARD).moved(), "window " + window);
            assertNull(report(watch, CACHED, CoverageRule.STANDARD).expectedCachedShare());
            watch = watch.after(window == 3 ? Coverage.UNKNOWN : USUAL, 5L);
        }
        assertEquals(CoverageWatch.LEARNT - 1, watch.windows(), "a window without known coverage teaches nothing");
        watch = watch.after(USUAL, 5L).after(CACHED, 5L);
        CoverageReport marked = report(watch, CACHED, CoverageRule.STANDARD);
        assertEquals(0.95, Objects.requireNonNull(marked.expectedDeliveredShare()), 1e-12);
        assertEquals(0.02, Objects.requireNonNull(marked.expectedCachedShare()), 1e-12);
        assertEquals(0.39, marked.deliveredShare());
        assertEquals(0.60, marked.cachedShare());
        assertEquals(
                "39 % of the tokens were delivered, 95 % expected, 60 % of the tokens were cached, 2 % expected: "
                        + "the rows are another part of the traffic, which moves every statistic without any drift",
                marked.moved());
        assertNull(report(watch, USUAL, CoverageRule.STANDARD).moved());
    }

    /** Tests rows whose word of tokens was lost on its way. */
    @Test
    void moreRowsThanTokensAreAllOfThem() {
        Coverage lost = new Coverage(1_000, 1_200, 0, 0, 0);
        CoverageReport report = report(learnt(USUAL), lost, CoverageRule.STANDARD);
        assertEquals(1.0, report.deliveredShare());
        assertNull(report.moved());
        assertEquals(1.0, learnt(lost).delivered() / CoverageWatch.LEARNT);
        assertNull(report(learnt(USUAL), new Coverage(0, 5, 0, 0, 0), CoverageRule.STANDARD)
                .moved());
    }

    @Test
    void aNewBaselineBeginsAnew() {
        CoverageWatch watch = learnt(USUAL);
        assertNotNull(report(watch, CACHED, CoverageRule.STANDARD).moved());
        watch = watch.after(CACHED, 6L);
        assertEquals(new CoverageWatch(6, 1, 0.39, 0.6), watch);
        assertNull(report(watch, CACHED, CoverageRule.STANDARD).moved());
    }

    @Test
    void whatIsWrittenInTheConfigurationIsExpectedFromTheFirstWindowOn() {
        CoverageRule written = new CoverageRule(0.05, 0.4, 0.6);
        assertNull(report(CoverageWatch.NONE, CACHED, written).moved());
        String moved = report(CoverageWatch.NONE, USUAL, written).moved();
        assertTrue(moved != null && moved.startsWith("95 % of the tokens were delivered, 40 % expected"), moved);
        assertNull(report(CoverageWatch.NONE, USUAL, new CoverageRule(0.6, 0.4, 0.6))
                .moved());
    }

    @Test
    void anotherSamplingShareMovesNothing() {
        CoverageWatch watch = learnt(USUAL);
        Coverage tenth = new Coverage(1_000, 95, 2, 900, 0);
        assertNull(report(watch, tenth, CoverageRule.STANDARD).moved());
        assertEquals(0.9, report(watch, tenth, CoverageRule.STANDARD).notSampledShare());
        Coverage nothingWanted = new Coverage(1_000, 0, 0, 1_000, 0);
        assertNull(report(watch, nothingWanted, CoverageRule.STANDARD).moved());
        assertEquals(watch, watch.after(nothingWanted, 5L));
    }

    @Test
    void nothingIsReportedWhereNothingIsSaid() {
        assertNull(learnt(USUAL).report(Coverage.UNKNOWN, CoverageRule.STANDARD));
    }

    private static CoverageWatch learnt(Coverage coverage) {
        CoverageWatch watch = CoverageWatch.NONE;
        for (int window = 0; window < CoverageWatch.LEARNT; window++) {
            watch = watch.after(coverage, 5L);
        }
        return watch;
    }

    private static CoverageReport report(CoverageWatch watch, Coverage coverage, CoverageRule rule) {
        return Objects.requireNonNull(watch.report(coverage, rule));
    }
}
