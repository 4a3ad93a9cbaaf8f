package io.plumbline.topology.assessment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.groups.RecentGroups;
import io.plumbline.judgement.DriftState;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.report.SequentialReport;
import io.plumbline.topology.windows.ClosedWindow;
import io.plumbline.topology.windows.Panes;
import java.io.IOException;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Tests that evidence is added up over windows until it is an alarm. */
class JudgedEvidenceTest extends JudgedWindows {

    @Test
    void evidenceThatIsAddedUpIsRememberedAndReportedUntilItIsAnAlarm() throws IOException {
        SiteJudge judge = judge("sequential: {statistics: [whitened_mean_shift], average_run_length: 1h}");
        SiteMemory memory = SiteMemory.initial();
        double before = 0.0;
        for (int number = 1; number <= 2; number++) {
            SiteJudge.Judgement judgement = judge.judge(window(true), memory, null);
            SequentialReport report = judgement.report().evidence().sequential().get(0);
            assertEquals("whitened_mean_shift", report.statistic());
            assertEquals(360.0, report.level(), "windows of 10 s in an hour");
            assertEquals(number, report.windows());
            assertEquals(false, report.alarm());
            double evidence = Objects.requireNonNull(report.evidence());
            assertTrue(evidence > before, "window %d: %s after %s".formatted(number, evidence, before));
            before = evidence;
            memory = SiteMemory.decode(judgement.memory().encode());
        }
        int windows = 2;
        boolean alarm = false;
        while (!alarm && windows < 40) {
            SiteJudge.Judgement judgement = judge.judge(window(true), memory, null);
            alarm = Boolean.TRUE.equals(
                    judgement.report().evidence().sequential().get(0).alarm());
            memory = judgement.memory();
            windows++;
        }
        assertTrue(alarm, "no alarm in 40 windows far above all clean ones");
        SequentialReport after = judge.judge(window(false), memory, null)
                .report()
                .evidence()
                .sequential()
                .get(0);
        assertTrue(Objects.requireNonNull(after.evidence()) < 2.0, "evidence starts from 0 after an alarm: " + after);
    }

    @Test
    void evidenceOverRequestsFindsTheFewThatAreForeign() throws IOException {
        SiteJudge judge = judge("sequential: {statistics: [request_shift], average_run_length: 1d}");
        SiteMemory memory = SiteMemory.initial();
        for (int number = 1; number <= 3; number++) {
            SiteJudge.Judgement clean = judge.judge(mixed(record -> false), memory, null);
            memory = SiteMemory.decode(clean.memory().encode());
            SequentialReport report = clean.report().evidence().sequential().get(0);
            assertEquals(number, report.windows());
            assertEquals(false, report.alarm());
            assertNotNull(report.mode());
        }
        int windows = 0;
        boolean alarm = false;
        while (!alarm && windows < 10) {
            SiteJudge.Judgement part = judge.judge(mixed(record -> record % 4 == 0), memory, null);
            alarm = Boolean.TRUE.equals(
                    part.report().evidence().sequential().get(0).alarm());
            memory = SiteMemory.decode(part.memory().encode());
            windows++;
        }
        assertTrue(alarm, "a quarter of foreign requests in ten windows");
        SequentialReport none = judge.judge(window(false), memory, null)
                .report()
                .evidence()
                .sequential()
                .get(0);
        assertTrue(String.valueOf(none.passedOver()).startsWith("request_shift is undefined: "), none::toString);
    }

    @Test
    void aWindowOfMoreRowsThanCleanOnesIsPassedOverByWhatGrowsWithRequests() throws IOException {
        SiteJudge judge = judge("sequential: {statistics: [worst_request], average_run_length: 1h}");
        ClosedWindow window = mixed(record -> false);
        SequentialReport taken = judge.judge(window, SiteMemory.initial(), null)
                .report()
                .evidence()
                .sequential()
                .get(0);
        assertEquals(1, taken.windows(), taken::toString);
        ClosedWindow larger = Panes.window(
                WatchedFolder.SITE,
                0,
                10_000,
                SecondMomentAccumulator.ofDimension(WatchedFolder.WIDTH)
                        .merge(window.moment())
                        .merge(window.moment())
                        .snapshot(),
                window.sample(),
                RECORDS,
                window.notes(),
                window.account());
        SequentialReport passed = judge.judge(with(larger, window.requestTotals()), SiteMemory.initial(), null)
                .report()
                .evidence()
                .sequential()
                .get(0);
        assertEquals(0, passed.windows());
        String reason = String.valueOf(passed.passedOver());
        assertTrue(reason.startsWith("it has 256 rows, and there are not "), reason);
        assertTrue(reason.contains("clean windows of rank 4 with as many: run"), reason);
    }

    @Test
    void evidenceAgainstAnotherBaselineIsForgotten() throws IOException {
        SiteJudge judge = judge("sequential: {statistics: [request_shift], average_run_length: 1d}");
        SiteMemory memory = SiteMemory.initial();
        for (int number = 1; number <= 2; number++) {
            memory = judge.judge(mixed(record -> false), memory, null).memory();
        }
        SiteMemory before =
                with(memory, memory.coverage(), new RecentGroups(memory.groups().space() + 1, 1, List.of(), List.of()));
        SequentialReport report = judge.judge(mixed(record -> false), before, null)
                .report()
                .evidence()
                .sequential()
                .get(0);
        assertEquals(1, report.windows());
    }

    @Test
    void aWindowHeldAgainstAnotherBaselineDoesNotCountAndTheStandingStays() throws IOException {
        SiteJudge judge = judge("threshold: {share: 0.6}\n    debounce: 2 of 3");
        SiteMemory once = judge.judge(drifted(), SiteMemory.initial(), null).memory();
        assertEquals(new DriftState(false, 1, 1), once.drift());
        SiteMemory twice = judge.judge(drifted(), once, null).memory();
        assertEquals(new DriftState(true, 0, 0), twice.drift());
        assertEquals(
                new DriftState(false, 1, 1),
                judge.judge(drifted(), ofOtherBaseline(once), null).memory().drift());
        SiteMemory quiet = judge.judge(window(false), twice, null).memory();
        assertEquals(new DriftState(true, 1, 1), quiet.drift());
        assertEquals(
                new DriftState(true, 1, 1),
                judge.judge(window(false), ofOtherBaseline(quiet), null)
                        .memory()
                        .drift());
    }

    private static SiteMemory ofOtherBaseline(SiteMemory memory) {
        return with(memory, new CoverageWatch(memory.coverage().baselineMs() + 1, 0, 0.0, 0.0), memory.groups());
    }

    private static SiteMemory with(SiteMemory memory, CoverageWatch coverage, RecentGroups groups) {
        return new SiteMemory(
                memory.drift(),
                memory.warning(),
                memory.lastRequestMs(),
                memory.mayBeAdapted(),
                memory.swap(),
                coverage,
                memory.trials(),
                memory.origins(),
                groups,
                memory.sequential());
    }

    @Test
    void overlappingWindowsAreTakenOnceInTheirLength() throws IOException {
        SiteJudge judge = judge("sequential: {statistics: [whitened_mean_shift]}", "size: 10s, advance: 4s");
        SequentialReport first = judge.judge(window(false), SiteMemory.initial(), null)
                .report()
                .evidence()
                .sequential()
                .get(0);
        assertEquals(90 * 86_400 / 12.0, first.level(), "every third window of 4 s");
        assertNotNull(first.evidence());
        ClosedWindow overlapping = Panes.at(window(false), 4_000, 14_000);
        SiteJudge.Judgement passed = judge.judge(overlapping, SiteMemory.initial(), null);
        SequentialReport report = passed.report().evidence().sequential().get(0);
        assertNull(report.evidence());
        assertEquals("it shares rows with a window that is taken", report.passedOver());
        assertEquals(0, report.windows());
    }
}
