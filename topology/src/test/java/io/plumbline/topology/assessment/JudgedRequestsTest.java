package io.plumbline.topology.assessment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.baseline.Baseline;
import io.plumbline.geometry.Statistic;
import io.plumbline.judgement.Verdict;
import io.plumbline.linalg.Matrix;
import io.plumbline.requests.RequestProjection;
import io.plumbline.requests.RequestTotals;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.panes.RowAccount;
import io.plumbline.topology.panes.WindowNotes;
import io.plumbline.topology.report.Groups;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.StatisticReport;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.topology.report.WorstRequest;
import io.plumbline.topology.windows.ClosedWindow;
import io.plumbline.topology.windows.Panes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;

/** Requests are scored beside the window, and the farthest are named. */
class JudgedRequestsTest extends JudgedWindows {

    @Test
    void aVerdictByTheRequestsNamesThoseThatAreFarthest() throws IOException {
        SiteJudge judge = judge("trigger: request_shift\n    threshold: {false_alarm_rate: 0.1}");
        WindowReport quiet =
                judge.judge(mixed(record -> false), SiteMemory.initial(), null).report();
        assertEquals(Verdict.ALIGNED, quiet.judged().verdict(), quiet.judged().reason());
        assertEquals(RECORDS, quiet.counts().requestsScored());
        assertEquals(0, quiet.counts().recordsNotScored());
        assertEquals(
                WorstRequest.REPORTED, quiet.listed(Sections.WORST_REQUESTS).size());

        WindowReport report = judge.judge(mixed(record -> record == 3 || record == 7), SiteMemory.initial(), null)
                .report();
        assertEquals(Verdict.DRIFTED, report.judged().verdict(), report.judged().reason());
        assertEquals(
                Set.of("chat-3", "chat-7"),
                report.listed(Sections.WORST_REQUESTS).subList(0, 2).stream()
                        .map(WorstRequest::request)
                        .collect(Collectors.toSet()));
        assertTrue(
                report.listed(Sections.WORST_REQUESTS).get(0).share() > 0.3,
                () -> report.listed(Sections.WORST_REQUESTS).toString());
        assertEquals(
                WatchedFolder.ROWS,
                report.listed(Sections.WORST_REQUESTS).get(0).rows());
        assertFalse(report.judged().reason().contains(";"), report.judged().reason());
        assertEquals(1, report.details().size(), report.details().toString());
        assertTrue(
                report.details()
                        .get(0)
                        .matches("the requests with most of the evidence: chat-[37] \\(.*chat-[37] \\(.*"),
                report.details().toString());
        assertTrue(report.geometry().value(Statistic.WORST_REQUEST).isPresent());
        assertTrue(report.geometry().value(Statistic.REQUEST_FVU).isPresent());
        String json = new String(Json.bytes(report), StandardCharsets.UTF_8);
        assertTrue(json.contains("\"worst_requests\":[{\"request\":\"chat-"), json);
    }

    @Test
    void aVerdictByTheGapNamesTheFarthestRequestsTooAndAnAlignedOneNamesNone() throws IOException {
        SiteJudge judge = judge("trigger: faithfulness_gap\n    threshold: {share: 0.6}");
        WindowReport drifted =
                judge.judge(mixed(record -> true), SiteMemory.initial(), null).report();
        assertEquals(
                Verdict.DRIFTED, drifted.judged().verdict(), drifted.judged().reason());
        assertTrue(
                drifted.judged().reason().matches("faithfulness_gap = [0-9.]+ is above the threshold [0-9.]+"),
                drifted.judged().reason());
        assertTrue(drifted.details().get(0).startsWith("the requests with most of the evidence: chat-"));
        WindowReport quiet =
                judge.judge(mixed(record -> false), SiteMemory.initial(), null).report();
        assertEquals(Verdict.ALIGNED, quiet.judged().verdict());
        assertEquals(List.of(), quiet.details());
    }

    @Test
    void requestsOfANewKindAreAGroupThatKeepsItsNumberOverWindows() throws IOException {
        SiteJudge judge = judge("threshold: {share: 0.99}");
        WindowReport clean =
                judge.judge(mixed(record -> false), SiteMemory.initial(), null).report();
        assertEquals(
                List.of(),
                Objects.requireNonNull(clean.section(Sections.GROUPS)).groups());
        SiteJudge.Judgement first = judge.judge(moved(2), SiteMemory.initial(), null);
        assertEquals(
                List.of(),
                Objects.requireNonNull(first.report().section(Sections.GROUPS)).groups(),
                "two are no group");
        SiteMemory remembered = SiteMemory.decode(first.memory().encode());
        SiteJudge.Judgement second = judge.judge(at(moved(4), 10_000), remembered, null);
        Groups.Group group = Objects.requireNonNull(second.report().section(Sections.GROUPS))
                .groups()
                .get(0);
        assertEquals(1, group.number());
        assertEquals(group.kind().equals("known"), group.baselineShare() != null, group::toString);
        assertEquals(4, group.inWindow());
        assertEquals(4, group.requests(), "the two of the window before are copies of two of these");
        assertEquals(6.0 / 32.0, group.share(), 1e-12);
        assertEquals(0, group.firstMs());
        assertEquals(20_000, group.lastMs());
        assertTrue(Set.of("chat-0", "chat-1", "chat-2", "chat-3").containsAll(group.nearest()), () -> group.nearest()
                .toString());
        SiteJudge.Judgement third = judge.judge(at(moved(4), 20_000), second.memory(), null);
        assertEquals(
                1,
                Objects.requireNonNull(third.report().section(Sections.GROUPS))
                        .groups()
                        .get(0)
                        .number());
        assertNull(
                judge.judge(window(false), SiteMemory.initial(), null).report().section(Sections.GROUPS));
    }

    /** A clean window with totals of its requests, the first ones moved along one direction. */
    private static ClosedWindow moved(int requests) throws IOException {
        RequestProjection projection = Objects.requireNonNull(
                        Baseline.read(folder.resolve("baseline.safetensors")).requests())
                .projection();
        RequestTotals totals = RequestTotals.ofCapacity(projection.id(), 1_024);
        for (int record = 0; record < RECORDS; record++) {
            Matrix rows = WatchedFolder.quiet(1_000 + record);
            for (int i = 0; i < rows.rows() && record < requests; i++) {
                rows.set(i, 0, rows.get(i, 0) + 40.0);
            }
            double[] sum = new double[projection.components()];
            projection.add(rows, sum);
            totals.add(record, "chat-" + record, rows.rows(), sum);
        }
        return with(window(false), totals);
    }

    private static ClosedWindow at(ClosedWindow window, long startMs) {
        return with(
                Panes.window(
                        window.site(),
                        startMs,
                        startMs + 10_000,
                        window.moment(),
                        window.sample(),
                        RECORDS,
                        new WindowNotes(),
                        new RowAccount(128, 128, 0, Map.of(), Map.of(), 0)),
                Objects.requireNonNull(window.requestTotals()));
    }

    @Test
    void aWarningByTheRequestsNamesThem() throws IOException {
        SiteJudge judge = judge("""
                trigger: faithfulness_gap
                    threshold: {share: 0.99}
                    warn: [request_shift]
                    warn_threshold: {false_alarm_rate: 0.1}
                """);
        WindowReport report = judge.judge(mixed(record -> record == 3), SiteMemory.initial(), null)
                .report();
        assertEquals(Verdict.ALIGNED, report.judged().verdict(), report.judged().reason());
        assertFalse(
                report.judged().reason().contains("evidence"), report.judged().reason());
        assertEquals(
                Verdict.DRIFTED, report.evidence().warning(), report.evidence().warningReason());
        assertTrue(
                String.valueOf(report.evidence().warningReason())
                        .contains("; the requests with most of the evidence: chat-3 ("),
                report.evidence().warningReason());
    }

    @Test
    void aNameThatWouldMoveATerminalOrALogIsMadeHarmless() {
        WorstRequest hostile = new WorstRequest("a\u001b[2Jb\nc\u0085\u202e", 8, 9.0, 0.1, 0.5);
        assertEquals("a?[2Jb?c?? (50 %)", WorstRequest.names(List.of(hostile)));
    }

    @Test
    void whereAWindowWasOpenWhenTheBaselineChangedItsRequestTotalsAreLeftOutAndTheOthersDecide() throws IOException {
        SiteJudge judge = judge("trigger: [faithfulness_gap, request_shift]\n    threshold: {false_alarm_rate: 0.1}");
        RequestProjection before = RequestProjection.of(Matrix.identity(WatchedFolder.WIDTH));
        RequestTotals totals = RequestTotals.ofCapacity(before.id(), 8);
        totals.add(1, null, 8, new double[WatchedFolder.WIDTH]);
        WindowReport report = judge.judge(with(window(false), totals), SiteMemory.initial(), null)
                .report();
        assertEquals(Verdict.ALIGNED, report.judged().verdict(), report.judged().reason());
        assertEquals("faithfulness_gap", report.judged().trigger());
        StatisticReport left = report.evidence().statistics().get(1);
        assertNull(left.threshold());
        assertTrue(
                String.valueOf(left.basis()).contains("it is left out of this window, the others decide"),
                left::toString);
    }

    @Test
    void totalsUnderAnotherProjectionThanTheBaselinesAreNotScored() throws IOException {
        SiteJudge judge = judge("threshold: {share: 0.6}");
        RequestProjection other = RequestProjection.of(Matrix.identity(WatchedFolder.WIDTH));
        RequestTotals totals = RequestTotals.ofCapacity(other.id(), 8);
        totals.add(1, null, 8, new double[WatchedFolder.WIDTH]);
        WindowReport report = judge.judge(with(window(false), totals), SiteMemory.initial(), null)
                .report();
        assertEquals(0, report.counts().requestsScored());
        assertEquals(
                Statistic.Source.REQUESTS.missing(),
                report.geometry().undefined().get("request_shift"));
    }
}
