package io.plumbline.topology.assessment;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.calibration.Baseline;
import io.plumbline.calibration.BaselineBuilder;
import io.plumbline.calibration.CleanWindowPass;
import io.plumbline.calibration.Verdict;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.SampledCodes;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.geometry.DictionarySpace;
import io.plumbline.geometry.Statistic;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MaskedRows;
import io.plumbline.moments.RequestProjection;
import io.plumbline.moments.RequestTotals;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampledRow;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.ingest.Coverage;
import io.plumbline.topology.ingest.Origin;
import io.plumbline.topology.ingest.ProducerNotes;
import io.plumbline.topology.windows.ClosedWindow;
import io.plumbline.topology.windows.RowAccount;
import io.plumbline.topology.windows.WindowNotes;
import io.plumbline.wire.ActivationBatch;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.function.IntFunction;
import java.util.function.IntPredicate;
import java.util.function.LongFunction;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SiteJudgeTest {

    private static final String SAMPLE = "sample: {rows: 2048}";
    private static final int RECORDS = 16;
    private static final int CLEAN_RECORDS = 19 * RECORDS;

    @TempDir
    private Path folder;

    @BeforeEach
    void makeBaselineWithCleanWindows() throws IOException {
        WatchedFolder.create(folder, "h:1");
        Explainer explainer = Explainer.read(folder.resolve("explainer"));
        BaselineBuilder builder = BaselineBuilder.of(explainer, List.of(4), List.of(RECORDS * WatchedFolder.ROWS));
        for (int record = 0; record < CLEAN_RECORDS; record++) {
            builder.add(new ActivationBatch(WatchedFolder.quiet(-1 - record), null, null));
        }
        CleanWindowPass windows = builder.secondPass();
        for (int record = 0; record < CLEAN_RECORDS; record++) {
            windows.add(new ActivationBatch(WatchedFolder.quiet(-1 - record), null, null));
        }
        Baseline baseline = windows.build();
        baseline.write(folder.resolve("baseline.safetensors"));
    }

    @Test
    void statisticsThatWarnSayWhatTheTriggerDoesNotSeeAndAskForNothing() throws IOException {
        SiteJudge judge = judge("""
                trigger: [faithfulness_gap, baseline_gap]
                    threshold: {false_alarm_rate: 0.1}
                    warn: [whitened_mean_shift, residual_energy]
                    warn_threshold: {false_alarm_rate: 0.1}
                """);
        SiteJudge.Judgement quiet = judge.judge(window(false), SiteMemory.initial(), null);
        assertEquals(Verdict.ALIGNED, quiet.report().verdict(), quiet.report().reason());
        assertEquals(Verdict.ALIGNED, quiet.report().warning(), quiet.report().warningReason());

        SiteJudge.Judgement moved = judge.judge(window(true), quiet.memory(), null);
        WindowReport report = moved.report();
        assertEquals(Verdict.ALIGNED, report.verdict(), report.reason());
        assertEquals(Verdict.DRIFTED, report.warning(), report.warningReason());
        assertTrue(
                Objects.requireNonNull(report.warningReason()).startsWith("whitened_mean_shift = "),
                report.warningReason());
        assertEquals(SiteJudge.Ask.NOTHING, moved.ask());
        assertTrue(moved.memory().warning().drifted());

        assertEquals(
                List.of("faithfulness_gap", "baseline_gap", "whitened_mean_shift", "residual_energy"),
                report.statistics().stream().map(StatisticReport::statistic).toList());
        StatisticReport shift = report.statistics().get(2);
        assertEquals("warn", shift.role());
        assertEquals(true, shift.exceeded());
        assertEquals(19, shift.cleanWindows());
        // The largest of nineteen for each of two: 2/20 together.
        assertEquals(0.1, Objects.requireNonNull(shift.windowRate()), 1e-12);
        assertTrue(Objects.requireNonNull(shift.value()) > Objects.requireNonNull(shift.threshold()), shift::toString);
        String json = new String(Json.bytes(report), StandardCharsets.UTF_8);
        assertTrue(json.contains("\"statistics\":[{\"statistic\":\"faithfulness_gap\",\"role\":\"trigger\""), json);
        assertTrue(json.contains("\"clean_windows\":19"), json);
    }

    @Test
    void aVerdictByTheRequestsNamesThoseThatAreFarthest() throws IOException {
        SiteJudge judge = judge("trigger: request_shift\n    threshold: {false_alarm_rate: 0.1}");
        WindowReport quiet =
                judge.judge(mixed(record -> false), SiteMemory.initial(), null).report();
        assertEquals(Verdict.ALIGNED, quiet.verdict(), quiet.reason());
        assertEquals(RECORDS, quiet.requestsScored());
        assertEquals(0, quiet.recordsNotScored());
        assertEquals(WorstRequest.REPORTED, quiet.worstRequests().size());

        WindowReport report = judge.judge(mixed(record -> record == 3 || record == 7), SiteMemory.initial(), null)
                .report();
        assertEquals(Verdict.DRIFTED, report.verdict(), report.reason());
        assertEquals(
                Set.of("chat-3", "chat-7"),
                report.worstRequests().subList(0, 2).stream()
                        .map(WorstRequest::request)
                        .collect(Collectors.toSet()));
        assertTrue(report.worstRequests().get(0).share() > 0.3, () -> report.worstRequests()
                .toString());
        assertEquals(WatchedFolder.ROWS, report.worstRequests().get(0).rows());
        assertTrue(
                report.reason().matches(".*; the requests with most of the evidence: chat-[37] \\(.*chat-[37] \\(.*"),
                report.reason());
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
        assertEquals(Verdict.DRIFTED, drifted.verdict(), drifted.reason());
        assertTrue(
                drifted.reason().matches("faithfulness_gap = .*; the requests with most of the evidence: chat-.*"),
                drifted.reason());
        WindowReport quiet =
                judge.judge(mixed(record -> false), SiteMemory.initial(), null).report();
        assertEquals(Verdict.ALIGNED, quiet.verdict());
        assertFalse(quiet.reason().contains("evidence"), quiet.reason());
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
        assertEquals(Verdict.ALIGNED, report.verdict(), report.reason());
        assertFalse(report.reason().contains("evidence"), report.reason());
        assertEquals(Verdict.DRIFTED, report.warning(), report.warningReason());
        assertTrue(
                String.valueOf(report.warningReason()).contains("; the requests with most of the evidence: chat-3 ("),
                report.warningReason());
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
        assertEquals(Verdict.ALIGNED, report.verdict(), report.reason());
        assertEquals("faithfulness_gap", report.trigger());
        StatisticReport left = report.statistics().get(1);
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
        assertEquals(0, report.requestsScored());
        assertEquals(
                Statistic.Source.REQUESTS.missing(),
                report.geometry().undefined().get("request_shift"));
    }

    @Test
    void onFewerEncodedRowsThanCleanWindowsHaveReconstructionIsUndefinedAndSaysWhatToDo() throws IOException {
        // The window's 128 rows, of which 10 a second may be encoded in 10 s.
        WindowReport few = judge(
                        "threshold: {share: 0.6}", "size: 10s", "sample: {rows: 512, encoded_rows_per_second: 10}")
                .judge(mixed(record -> false), SiteMemory.initial(), null)
                .report();
        String reason = few.geometry().undefined().get("reconstruction_fvu_trained");
        assertTrue(String.valueOf(reason).contains("on 100 rows here and on 2048 in the baseline's"), reason);
        assertEquals(reason, few.geometry().undefined().get("request_fvu"));
        assertTrue(few.geometry().value(Statistic.REQUEST_SHIFT).isPresent());
        WindowReport enough = judge(
                        "threshold: {share: 0.6}", "size: 10s", "sample: {rows: 512, encoded_rows_per_second: 13}")
                .judge(mixed(record -> false), SiteMemory.initial(), null)
                .report();
        assertTrue(
                enough.geometry().value(Statistic.RECONSTRUCTION_FVU_TRAINED).isPresent(),
                () -> enough.geometry().undefined().toString());
    }

    @ParameterizedTest
    @ValueSource(strings = {"trigger: ", "warn: ", "sequential: {average_run_length: 90d, statistics: "})
    void aStatisticOfEncodedRowsNeedsAsManyAsCleanWindowsHave(String key) {
        String others = key.startsWith("trigger") ? "" : "trigger: faithfulness_gap\n    ";
        String site = "threshold: {quantile: 0.9}\n    " + others + key;
        String end = key.contains("{") ? "}" : "";
        for (String statistic : List.of("reconstruction_fvu_trained", "request_fvu")) {
            String refusal = assertThrows(
                            IllegalArgumentException.class,
                            () -> judge(site + "[" + statistic + "]" + end, "size: 10s", "sample: {rows: 2047}"))
                    .getMessage();
            assertTrue(refusal.contains(statistic + ": reconstruction is measured on 2047 rows"), refusal);
            assertTrue(refusal.contains("`plumbline baseline --encoded-rows 2047`"), refusal);
            assertDoesNotThrow(() -> judge(site + "[" + statistic + "]" + end, "size: 10s", "sample: {rows: 2048}"));
        }
    }

    /** A window of named requests, some of them drifted. */
    private ClosedWindow mixed(IntPredicate drifted) throws IOException {
        RequestProjection projection = Objects.requireNonNull(
                        Baseline.read(folder.resolve("baseline.safetensors")).requests())
                .projection();
        RequestTotals totals = RequestTotals.ofCapacity(projection.id(), 1_024);
        for (int record = 0; record < RECORDS; record++) {
            Matrix rows = drifted.test(record) ? WatchedFolder.drifted(record) : WatchedFolder.quiet(1_000 + record);
            double[] sum = new double[projection.components()];
            projection.add(rows, sum);
            totals.add(record, "chat-" + record, rows.rows(), sum);
        }
        return with(
                window(
                        record -> drifted.test((int) record - 1_000)
                                ? WatchedFolder.drifted(record - 1_000)
                                : WatchedFolder.quiet(record),
                        false),
                totals);
    }

    private static ClosedWindow with(ClosedWindow window, RequestTotals totals) {
        return new ClosedWindow(
                window.site(),
                window.startMs(),
                window.endMs(),
                window.moment(),
                window.sample(),
                window.masked(),
                window.requests(),
                window.momentRecords(),
                totals,
                window.notes(),
                window.closedBy(),
                window.account(),
                window.complete());
    }

    @Test
    void aCoverageThatMovedIsMarkedAndNamedInTheReasonOfADrift() throws IOException {
        SiteJudge judge = judge("threshold: {share: 0.6}");
        ClosedWindow usual = saying(drifted(), new Coverage(1_000, 900, 0, 0, 100));
        ClosedWindow cached = saying(drifted(), new Coverage(1_000, 300, 700, 0, 0));
        SiteMemory memory = SiteMemory.initial();
        for (int window = 0; window < 8; window++) {
            SiteJudge.Judgement judged = judge.judge(usual, SiteMemory.decode(memory.encode()), null);
            memory = judged.memory();
            CoverageReport coverage = Objects.requireNonNull(judged.report().coverage());
            assertNull(coverage.moved());
            assertEquals(1_000, coverage.tokensServed());
            assertEquals(0.9, coverage.deliveredShare());
            assertEquals(0.1, coverage.droppedShare());
        }
        WindowReport report = judge.judge(cached, memory, null).report();
        String moved = Objects.requireNonNull(report.coverage()).moved();
        assertNotNull(moved);
        assertEquals(Verdict.DRIFTED, report.verdict());
        assertTrue(report.reason().endsWith("; " + moved), report.reason());
        assertNull(judge.judge(drifted(), memory, null).report().coverage(), "nobody said how many were served");
    }

    @Test
    void aBreakdownFindsTheTenantWhoseTrafficDrifted() throws IOException {
        SiteJudge judge = judge("threshold: {share: 0.6}\n    breakdown_by: tenant");
        ClosedWindow window = mixed(record -> record % 2 == 0);
        tenants(window, record -> record % 2 == 0 ? "german" : "acme");
        WindowReport report = judge.judge(window, SiteMemory.initial(), null).report();
        Breakdown breakdown = Objects.requireNonNull(report.breakdown());
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
                judge.judge(few, SiteMemory.initial(), null).report().breakdown());
        assertEquals(
                List.of("acme", "german", Breakdown.UNSAID),
                unsaid.values().stream().map(Breakdown.OfValue::value).toList());
        assertEquals(0, unsaid.comparedRows(), "two values with 32 sampled rows");
        assertNull(unsaid.values().get(1).faithfulnessGap());
        assertNotNull(unsaid.values().get(1).fvu());
        assertNull(judge("threshold: {share: 0.6}")
                .judge(window, SiteMemory.initial(), null)
                .report()
                .breakdown());
        assertNull(judge("threshold: {share: 0.6}\n    breakdown_by: nobody")
                .judge(window, SiteMemory.initial(), null)
                .report()
                .breakdown());
    }

    @Test
    void ofManyValuesThoseWithMostRowsAreShownAndTheOthersAreOne() throws IOException {
        SiteJudge judge = judge("threshold: {share: 0.6}\n    breakdown_by: tenant");
        ClosedWindow window = mixed(record -> false);
        tenants(window, record -> "t" + Math.max(0, record - 3));
        Breakdown breakdown = Objects.requireNonNull(
                judge.judge(window, SiteMemory.initial(), null).report().breakdown());
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
            assertNull(quiet.report().cause());
            memory = SiteMemory.decode(quiet.memory().encode());
        }
        WindowReport report = judge.judge(at(3, versions(drifted(), record -> record % 2 == 0)), memory, null)
                .report();
        assertEquals(Verdict.DRIFTED, report.verdict());
        DriftCause cause = Objects.requireNonNull(report.cause());
        assertEquals("change", cause.kind());
        assertEquals("0.20", cause.changes().get(0).value());
        assertEquals("0.19", cause.changes().get(0).before());
        assertEquals(3, cause.changes().get(0).windowsBefore());
        assertEquals(0, cause.changes().get(0).driftedBefore());
        assertNotNull(cause.changes().get(0).comparison());
        assertTrue(report.reason().endsWith("; " + cause.sentence()), report.reason());
        assertTrue(cause.sentence().contains("in this window, 0.20 against 0.19: FVU "), cause.sentence());
        assertNull(report.breakdown());
        DriftCause unknown = Objects.requireNonNull(
                judge.judge(drifted(), SiteMemory.initial(), null).report().cause());
        assertEquals("unknown", unknown.kind());
        WindowReport silent = judge.judge(drifted(), SiteMemory.initial(), null).report();
        assertFalse(silent.reason().contains(unknown.sentence()), silent.reason());
    }

    private static ClosedWindow at(int number, ClosedWindow window) {
        return new ClosedWindow(
                window.site(),
                10_000L * number,
                10_000L * (number + 1),
                window.moment(),
                window.sample(),
                window.masked(),
                window.requests(),
                window.momentRecords(),
                window.requestTotals(),
                window.notes(),
                window.closedBy(),
                window.account(),
                window.complete());
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

    @Test
    void withoutStatisticsThatWarnThereIsNoWarning() throws IOException {
        WindowReport report = judge("threshold: {false_alarms: 1 per 30d}")
                .judge(mixed(record -> true), SiteMemory.initial(), null)
                .report();
        assertNull(report.warning());
        assertNull(report.warningReason());
        assertTrue(report.reason().contains("which needs 259199 clean windows: collect 259180 more"), report.reason());
    }

    @Test
    void aSwapThatDoesWorseIsAskedBackInItsSecondWindow() throws IOException {
        SiteJudge judge = judge("threshold: {share: 0.6}\n    adaptation: {mode: auto}");
        ActiveDecoders.Active worse = new ActiveDecoders.Active(decoder(0.0, 0.0), 7);
        SiteJudge.Judgement first = judge.judge(drifted(), SiteMemory.initial(), worse);
        assertEquals(SiteJudge.Ask.ADAPT, first.ask(), "the site itself is drifted");
        SiteJudge.Judgement second = judge.judge(drifted(), first.memory(), worse);
        assertEquals(SiteJudge.Ask.ROLL_BACK, second.ask());
        assertTrue(second.report().rollbackRequested());
        assertEquals(new SwapWatch(7, 2, 2), second.memory().swap());
        assertEquals(
                SiteJudge.Ask.ROLL_BACK,
                judge.judge(drifted(), second.memory(), worse).ask(),
                "until it is gone");
        ActiveDecoders.Active trained = new ActiveDecoders.Active(decoder(1.0, 0.2), 8);
        SiteJudge.Judgement back = judge.judge(drifted(), second.memory(), trained);
        assertEquals(SwapWatch.NONE, back.memory().swap());
        assertEquals(SiteJudge.Ask.NOTHING, back.ask(), "its rows were sent with the first window");
        assertEquals(
                SiteJudge.Ask.REVERT,
                judge.judge(window(false), first.memory(), worse).ask(),
                "traffic that is back is no rollback");
    }

    @Test
    void aSwapThatDoesBetterOrThatNobodyWatchesStays() throws IOException {
        SiteJudge judge = judge("threshold: {share: 0.6}\n    adaptation: {mode: auto}");
        ActiveDecoders.Active better = new ActiveDecoders.Active(decoder(1.0, 1.0), 7);
        SiteMemory memory = SiteMemory.initial();
        for (int window = 0; window < 6; window++) {
            memory = judge.judge(drifted(), memory, better).memory();
        }
        assertEquals(new SwapWatch(7, 5, 0), memory.swap(), "the first five windows count");
        SiteJudge off = judge("threshold: {share: 0.6}\n    adaptation: {mode: auto, rollback: off}");
        ActiveDecoders.Active worse = new ActiveDecoders.Active(decoder(0.0, 0.0), 7);
        SiteMemory unwatched = off.judge(drifted(), SiteMemory.initial(), worse).memory();
        assertEquals(
                SiteJudge.Ask.NOTHING, off.judge(drifted(), unwatched, worse).ask());
    }

    @Test
    void aDriftedWindowsRowsAreEncodedOnceAndTheAdapterOfThisProcessTakesTheirCodes() throws IOException {
        WatchedSite known = site("threshold: {share: 0.6}\n    adaptation: {mode: auto}", "size: 10s", SAMPLE);
        List<Integer> encoded = new ArrayList<>();
        Encoder counting = new Encoder() {
            @Override
            public int inputWidth() {
                return known.explainer().encoder().inputWidth();
            }

            @Override
            public int features() {
                return known.explainer().encoder().features();
            }

            @Override
            public SparseCodes encode(Matrix rows) {
                encoded.add(rows.rows());
                return known.explainer().encoder().encode(rows);
            }
        };
        Explainer explainer = new Explainer(
                known.explainer().architecture(), counting, known.explainer().decoder(), folder);
        WatchedSite site =
                new WatchedSite(known.settings(), explainer, known.baseline(), known.geometry(), known.names());
        SiteJudge judge = new SiteJudge(site);
        SiteJudge.Judgement first = judge.judge(drifted(), SiteMemory.initial(), null);
        assertEquals(SiteJudge.Ask.ADAPT, first.ask());
        encoded.clear();
        ClosedWindow window = drifted();
        judge.judge(window, SiteMemory.initial(), null);
        List<SampledRow> rows = window.sample().rows();
        assertEquals(rows.size(), encoded.stream().mapToInt(Integer::intValue).sum());
        encoded.clear();
        assertEquals(
                SampledCodes.of(known.explainer().encoder(), rows),
                site.codes().newest().of(counting, rows));
        assertEquals(List.of(0), encoded);
        judge.judge(window(false), first.memory(), null);
        encoded.clear();
        site.codes().newest().of(counting, rows);
        assertEquals(List.of(rows.size()), encoded, "nobody asked for a refit of the newest window");
    }

    @Test
    void theDecoderInServiceHasAGapOfItsOwn() throws IOException {
        SiteJudge judge = judge("threshold: {share: 0.6}");
        Decoder adapted = decoder(0.2, 1.0);
        WindowReport before = judge.judge(drifted(), SiteMemory.initial(), null).report();
        assertEquals(before.geometry().value(Statistic.FAITHFULNESS_GAP).orElseThrow(), before.activeFaithfulnessGap());
        WindowReport soon = judge.judge(drifted(), SiteMemory.initial(), new ActiveDecoders.Active(adapted, 7))
                .report();
        assertNull(soon.activeFaithfulnessGap(), "not computed yet");
        ActiveDecoders.Active measured = new ActiveDecoders.Active(adapted, 7, DictionarySpace.of(adapted, 4));
        WindowReport after =
                judge.judge(drifted(), SiteMemory.initial(), measured).report();
        double gap = Objects.requireNonNull(after.activeFaithfulnessGap());
        assertTrue(gap < 0.3, "the adapted decoder writes where the rows are: " + gap);
        assertTrue(after.geometry().value(Statistic.FAITHFULNESS_GAP).orElseThrow() > 2.5, after::toString);
    }

    /** Like the trained one of the folder, with these strengths in its first and in its last four directions. */
    private static Decoder decoder(double first, double last) {
        Matrix weights = Matrix.zeros(WatchedFolder.FEATURES, WatchedFolder.WIDTH);
        for (int j = 0; j < WatchedFolder.WIDTH; j++) {
            // Rounded as the file is.
            double strength = (float) (j < 4 ? first : last);
            weights.set(j, j, strength);
            weights.set(j + WatchedFolder.WIDTH, j, -strength);
        }
        return new Decoder(weights, new double[WatchedFolder.WIDTH]);
    }

    @Test
    void evidenceThatIsAddedUpIsRememberedAndReportedUntilItIsAnAlarm() throws IOException {
        SiteJudge judge = judge("sequential: {statistics: [whitened_mean_shift], average_run_length: 1h}");
        SiteMemory memory = SiteMemory.initial();
        double before = 0.0;
        for (int number = 1; number <= 2; number++) {
            SiteJudge.Judgement judgement = judge.judge(window(true), memory, null);
            SequentialReport report = judgement.report().sequential().get(0);
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
            alarm = Boolean.TRUE.equals(judgement.report().sequential().get(0).alarm());
            memory = judgement.memory();
            windows++;
        }
        assertTrue(alarm, "no alarm in 40 windows far above all clean ones");
        SequentialReport after =
                judge.judge(window(false), memory, null).report().sequential().get(0);
        assertTrue(Objects.requireNonNull(after.evidence()) < 2.0, "evidence starts from 0 after an alarm: " + after);
    }

    @Test
    void evidenceOverRequestsFindsTheFewThatAreForeign() throws IOException {
        SiteJudge judge = judge("sequential: {statistics: [request_shift], average_run_length: 1d}");
        SiteMemory memory = SiteMemory.initial();
        for (int number = 1; number <= 3; number++) {
            SiteJudge.Judgement clean = judge.judge(mixed(record -> false), memory, null);
            memory = SiteMemory.decode(clean.memory().encode());
            SequentialReport report = clean.report().sequential().get(0);
            assertEquals(number, report.windows());
            assertEquals(false, report.alarm());
            assertNotNull(report.mode());
        }
        int windows = 0;
        boolean alarm = false;
        while (!alarm && windows < 10) {
            SiteJudge.Judgement part = judge.judge(mixed(record -> record % 4 == 0), memory, null);
            alarm = Boolean.TRUE.equals(part.report().sequential().get(0).alarm());
            memory = SiteMemory.decode(part.memory().encode());
            windows++;
        }
        assertTrue(alarm, "a quarter of foreign requests in ten windows");
        SequentialReport none =
                judge.judge(window(false), memory, null).report().sequential().get(0);
        assertTrue(String.valueOf(none.passedOver()).startsWith("request_shift is undefined: "), none::toString);
    }

    @Test
    void overlappingWindowsAreTakenOnceInTheirLength() throws IOException {
        SiteJudge judge = judge("sequential: {statistics: [whitened_mean_shift]}", "size: 10s, advance: 4s");
        SequentialReport first = judge.judge(window(false), SiteMemory.initial(), null)
                .report()
                .sequential()
                .get(0);
        assertEquals(90 * 86_400 / 12.0, first.level(), "every third window of 4 s");
        assertNotNull(first.evidence());
        ClosedWindow next = window(false);
        ClosedWindow overlapping = new ClosedWindow(
                next.site(),
                4_000,
                14_000,
                next.moment(),
                next.sample(),
                next.masked(),
                next.requests(),
                next.momentRecords(),
                next.requestTotals(),
                next.notes(),
                next.closedBy(),
                next.account(),
                true);
        SiteJudge.Judgement passed = judge.judge(overlapping, SiteMemory.initial(), null);
        SequentialReport report = passed.report().sequential().get(0);
        assertNull(report.evidence());
        assertEquals("it shares rows with a window that is taken", report.passedOver());
        assertEquals(0, report.windows());
    }

    private SiteJudge judge(String site) throws IOException {
        return judge(site, "size: 10s");
    }

    private SiteJudge judge(String site, String window) throws IOException {
        return judge(site, window, SAMPLE);
    }

    private SiteJudge judge(String site, String window, String sample) throws IOException {
        return new SiteJudge(site(site, window, sample));
    }

    private WatchedSite site(String site, String window, String sample) throws IOException {
        MonitorConfig config =
                MonitorConfig.parse("""
                kafka: {bootstrap.servers: "h:1"}
                window: {%s, minimum_rows: 64}
                %s
                sites:
                  %s:
                    explainer: explainer
                    baseline: baseline.safetensors
                    rank: 4
                    debounce: 1 of 1
                    %s
                """.formatted(window, sample, WatchedFolder.SITE, site), "judge.yaml", folder);
        return Objects.requireNonNull(WatchedFolder.sites(config).get(WatchedFolder.SITE));
    }

    /** Clean rows, or the same moved along one direction: the mean moves, the subspace does not. */
    private static ClosedWindow window(boolean moved) {
        return window(WatchedFolder::quiet, moved);
    }

    private static ClosedWindow drifted() {
        return window(WatchedFolder::drifted, false);
    }

    private static ClosedWindow window(LongFunction<Matrix> source, boolean moved) {
        SecondMomentAccumulator moment = SecondMomentAccumulator.ofDimension(WatchedFolder.WIDTH);
        RowSample sample = RowSample.ofCapacity(512);
        for (int record = 0; record < RECORDS; record++) {
            Matrix rows = source.apply(1_000 + record);
            for (int i = 0; i < rows.rows(); i++) {
                rows.set(i, 0, rows.get(i, 0) + (moved ? 4.0 : 0.0));
                float[] row = new float[rows.columns()];
                for (int j = 0; j < row.length; j++) {
                    row[j] = (float) rows.get(i, j);
                }
                sample.offer(RowSample.hash(record, i), record, record, row, null);
            }
            moment.add(rows);
        }
        return new ClosedWindow(
                WatchedFolder.SITE,
                0,
                10_000,
                moment.snapshot(),
                sample,
                MaskedRows.NONE,
                RECORDS,
                0,
                null,
                new WindowNotes(),
                ClosedWindow.ClosedBy.EVENT_TIME,
                new RowAccount(128, 128, 0, Map.of(), Map.of(), 0),
                true);
    }
}
