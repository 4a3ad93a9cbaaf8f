package io.plumbline.topology.assessment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.judgement.Verdict;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.ingest.Coverage;
import io.plumbline.topology.ingest.Origin;
import io.plumbline.topology.ingest.ProducerNotes;
import io.plumbline.topology.report.Breakdown;
import io.plumbline.topology.report.CoverageReport;
import io.plumbline.topology.report.DriftCause;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.topology.windows.ClosedWindow;
import io.plumbline.topology.windows.Panes;
import java.io.IOException;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** Tests that what producers say of their records names what a drift came with. */
class JudgedOriginsTest extends JudgedWindows {

    @Test
    void aCoverageThatMovedIsMarkedAndNamedInTheReasonOfADrift() throws IOException {
        SiteJudge judge = judge("threshold: {share: 0.6}");
        ClosedWindow usual = saying(drifted(), new Coverage(1_000, 900, 0, 0, 100));
        ClosedWindow cached = saying(drifted(), new Coverage(1_000, 300, 700, 0, 0));
        SiteMemory memory = SiteMemory.initial();
        for (int window = 0; window < 8; window++) {
            SiteJudge.Judgement judged = judge.judge(usual, SiteMemory.decode(memory.encode()), null);
            memory = judged.memory();
            CoverageReport coverage = Objects.requireNonNull(judged.report().section(Sections.COVERAGE));
            assertNull(coverage.moved());
            assertEquals(1_000, coverage.tokensServed());
            assertEquals(0.9, coverage.deliveredShare());
            assertEquals(0.1, coverage.droppedShare());
        }
        WindowReport report = judge.judge(cached, memory, null).report();
        String moved = Objects.requireNonNull(report.section(Sections.COVERAGE)).moved();
        assertNotNull(moved);
        assertEquals(Verdict.DRIFTED, report.judged().verdict());
        assertFalse(report.judged().reason().contains(";"), report.judged().reason());
        assertNull(
                judge.judge(drifted(), memory, null).report().section(Sections.COVERAGE),
                "nobody said how many were served");
    }

    @Test
    void aBreakdownFindsTheTenantWhoseTrafficDrifted() throws IOException {
        SiteJudge judge = judge("threshold: {share: 0.6}\n    breakdown_by: tenant");
        ClosedWindow window = mixed(record -> record % 2 == 0);
        tenants(window, record -> record % 2 == 0 ? "german" : "acme");
        WindowReport report = judge.judge(window, SiteMemory.initial(), null).report();
        Breakdown breakdown = Objects.requireNonNull(report.section(Sections.BREAKDOWN));
        assertEquals("tenant", breakdown.by());
        assertEquals(64, breakdown.comparedRows());
        assertEquals(2, breakdown.values().size());
        Breakdown.OfValue german = Objects.requireNonNull(breakdown.of("german"));
        Breakdown.OfValue acme = Objects.requireNonNull(breakdown.of("acme"));
        assertEquals(64, german.rows());
        assertEquals(0.5, german.share());
        assertEquals(1.0, orNaN(german.evidenceShare()) + orNaN(acme.evidenceShare()), 1e-12);
        assertTrue(orNaN(german.evidenceShare()) > 0.6, breakdown.toString());
        assertTrue(orNaN(german.fvu()) > 2 * orNaN(acme.fvu()), breakdown.toString());
        assertTrue(orNaN(german.faithfulnessGap()) > 1.5 * orNaN(acme.faithfulnessGap()), breakdown.toString());
        assertTrue(orNaN(german.whitenedMeanShift()) > 0.0, breakdown.toString());
        ClosedWindow few = mixed(record -> record % 2 == 0);
        tenants(few, record -> record % 4 == 0 ? "german" : record % 4 == 1 ? "" : "acme");
        Breakdown unsaid = Objects.requireNonNull(
                judge.judge(few, SiteMemory.initial(), null).report().section(Sections.BREAKDOWN));
        assertEquals(
                List.of("acme", "german", Breakdown.UNSAID),
                unsaid.values().stream().map(Breakdown.OfValue::value).toList());
        assertEquals(0, unsaid.comparedRows(), "two values with 32 sampled rows");
        assertNull(unsaid.values().get(1).faithfulnessGap());
        assertNotNull(unsaid.values().get(1).fvu());
        assertNull(judge("threshold: {share: 0.6}")
                .judge(window, SiteMemory.initial(), null)
                .report()
                .section(Sections.BREAKDOWN));
        assertNull(judge("threshold: {share: 0.6}\n    breakdown_by: nobody")
                .judge(window, SiteMemory.initial(), null)
                .report()
                .section(Sections.BREAKDOWN));
    }

    @Test
    void ofManyValuesThoseWithMostRowsAreShownAndTheOthersAreOne() throws IOException {
        SiteJudge judge = judge("threshold: {share: 0.6}\n    breakdown_by: tenant");
        ClosedWindow window = mixed(record -> false);
        tenants(window, record -> "t" + Math.max(0, record - 3));
        Breakdown breakdown = Objects.requireNonNull(
                judge.judge(window, SiteMemory.initial(), null).report().section(Sections.BREAKDOWN));
        assertEquals(Breakdown.MOST + 1, breakdown.values().size());
        assertEquals("t0", breakdown.values().get(0).value());
        Breakdown.OfValue others = Objects.requireNonNull(breakdown.of(Breakdown.OTHERS));
        assertEquals(8 * (13 - Breakdown.MOST), others.rows());
        assertEquals(
                1.0,
                breakdown.values().stream()
                        .mapToDouble(Breakdown.OfValue::share)
                        .sum(),
                1e-12);
    }

    private static void tenants(ClosedWindow window, IntFunction<String> tenantOf) {
        for (int record = 0; record < RECORDS; record++) {
            String tenant = tenantOf.apply(record);
            Map<String, String> tags = tenant.isEmpty() ? Map.of("engine", "vllm") : Map.of("tenant", tenant);
            window.notes()
                    .add(new ProducerNotes(Coverage.UNKNOWN, Origin.of(tags)), WatchedFolder.ROWS, new long[] {record});
        }
    }

    private static double orNaN(@Nullable Double number) {
        return number == null ? Double.NaN : number;
    }

    @Test
    void aDriftNamesTheVersionThatCameWithItAndComparesItWithTheOldOne() throws IOException {
        SiteJudge judge = judge("threshold: {share: 0.6}");
        SiteMemory memory = SiteMemory.initial();
        for (int window = 0; window < 3; window++) {
            SiteJudge.Judgement quiet =
                    judge.judge(at(window, versions(mixed(record -> false), record -> false)), memory, null);
            assertNull(quiet.report().section(Sections.CAUSE));
            memory = SiteMemory.decode(quiet.memory().encode());
        }
        WindowReport report = judge.judge(at(3, versions(drifted(), record -> record % 2 == 0)), memory, null)
                .report();
        assertEquals(Verdict.DRIFTED, report.judged().verdict());
        DriftCause cause = Objects.requireNonNull(report.section(Sections.CAUSE));
        assertEquals("change", cause.kind());
        assertEquals("0.20", cause.changes().get(0).value());
        assertEquals("0.19", cause.changes().get(0).before());
        assertEquals(3, cause.changes().get(0).windowsBefore());
        assertEquals(0, cause.changes().get(0).driftedBefore());
        assertNotNull(cause.changes().get(0).comparison());
        assertFalse(report.judged().reason().contains(";"), report.judged().reason());
        assertTrue(report.details().contains(cause.sentence()), report.details().toString());
        assertTrue(cause.sentence().contains("in this window, 0.20 against 0.19: FVU "), cause.sentence());
        assertNull(report.section(Sections.BREAKDOWN));
        DriftCause unknown = Objects.requireNonNull(
                judge.judge(drifted(), SiteMemory.initial(), null).report().section(Sections.CAUSE));
        assertEquals("unknown", unknown.kind());
        WindowReport silent = judge.judge(drifted(), SiteMemory.initial(), null).report();
        assertFalse(
                silent.details().contains(unknown.sentence()), silent.details().toString());
    }

    private static ClosedWindow at(int number, ClosedWindow window) {
        return Panes.at(window, 10_000L * number, 10_000L * (number + 1));
    }

    private static ClosedWindow versions(ClosedWindow window, IntPredicate isNew) {
        for (int record = 0; record < RECORDS; record++) {
            Origin origin = Origin.of(Map.of("engine_version", isNew.test(record) ? "0.20" : "0.19"));
            window.notes().add(new ProducerNotes(Coverage.UNKNOWN, origin), WatchedFolder.ROWS, new long[] {record});
        }
        return window;
    }

    private static ClosedWindow saying(ClosedWindow window, Coverage coverage) {
        window.notes().add(new ProducerNotes(coverage, Origin.UNSAID), coverage.delivered(), new long[0]);
        return window;
    }
}
