package io.plumbline.topology.assessment;

import static org.junit.jupiter.api.Assertions.assertDoesNotThrow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.SampledCodes;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.geometry.DictionarySpace;
import io.plumbline.geometry.Statistic;
import io.plumbline.judgement.Verdict;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampledRow;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.panes.RowAccount;
import io.plumbline.topology.panes.WindowNotes;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.Repeats;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.StatisticReport;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.topology.windows.ClosedWindow;
import io.plumbline.topology.windows.Panes;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

class SiteJudgeTest extends JudgedWindows {

    @Test
    void statisticsThatWarnSayWhatTheTriggerDoesNotSeeAndAskForNothing() throws IOException {
        SiteJudge judge = judge("""
                trigger: [faithfulness_gap, baseline_gap]
                    threshold: {false_alarm_rate: 0.1}
                    warn: [whitened_mean_shift, residual_energy]
                    warn_threshold: {false_alarm_rate: 0.1}
                """);
        SiteJudge.Judgement quiet = judge.judge(window(false), SiteMemory.initial(), null);
        assertEquals(
                Verdict.ALIGNED,
                quiet.report().judged().verdict(),
                quiet.report().judged().reason());
        assertEquals(
                Verdict.ALIGNED,
                quiet.report().evidence().warning(),
                quiet.report().evidence().warningReason());

        SiteJudge.Judgement moved = judge.judge(window(true), quiet.memory(), null);
        WindowReport report = moved.report();
        assertEquals(Verdict.ALIGNED, report.judged().verdict(), report.judged().reason());
        assertEquals(
                Verdict.DRIFTED, report.evidence().warning(), report.evidence().warningReason());
        assertTrue(
                Objects.requireNonNull(report.evidence().warningReason()).startsWith("whitened_mean_shift = "),
                report.evidence().warningReason());
        assertEquals(SiteJudge.Ask.NOTHING, moved.ask());
        assertTrue(moved.memory().warning().drifted());

        assertEquals(
                List.of("faithfulness_gap", "baseline_gap", "whitened_mean_shift", "residual_energy"),
                report.evidence().statistics().stream()
                        .map(StatisticReport::statistic)
                        .toList());
        StatisticReport shift = report.evidence().statistics().get(2);
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
    void onFewerEncodedRowsThanCleanWindowsHaveReconstructionIsUndefinedAndSaysWhatToDo() throws IOException {
        // The window has 128 rows; 10 rows a second may be encoded, for 10 s.
        WindowReport few = judge(
                        "threshold: {share: 0.6}", "size: 10s", "sample: {rows: 512, encoded_rows_per_second: 10}")
                .judge(mixed(record -> false), SiteMemory.initial(), null)
                .report();
        String reason = few.geometry().undefined().get("reconstruction_fvu_trained");
        assertTrue(String.valueOf(reason).contains("on 100 rows here and on 2,048 in the baseline's"), reason);
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
        for (String statistic : List.of("reconstruction_fvu_trained", "request_fvu", "request_evidence")) {
            String refusal = assertThrows(
                            IllegalArgumentException.class,
                            () -> judge(site + "[" + statistic + "]" + end, "size: 10s", "sample: {rows: 2047}"))
                    .getMessage();
            assertTrue(refusal.contains(statistic + ": reconstruction is measured on 2,047 rows"), refusal);
            assertTrue(refusal.contains("`plumbline baseline --encoded-rows 2047`"), refusal);
            assertDoesNotThrow(() -> judge(site + "[" + statistic + "]" + end, "size: 10s", "sample: {rows: 2048}"));
        }
    }

    @Test
    void requestsOfOneRowLeaveTheVerdictToTheOtherStatistics() throws IOException {
        SiteJudge judge = judge("threshold: {false_alarm_rate: 0.1}");
        for (boolean drifted : new boolean[] {false, true}) {
            ClosedWindow rows = drifted ? drifted() : window(false);
            RowSample ofTheirOwn = RowSample.ofCapacity(512);
            rows.sample().rows().forEach(row -> ofTheirOwn.offer(row.hash(), row.hash(), 0, row.activation(), null));
            WindowReport report = judge.judge(
                            Panes.window(
                                    WatchedFolder.SITE,
                                    0,
                                    10_000,
                                    rows.moment(),
                                    ofTheirOwn,
                                    128,
                                    new WindowNotes(),
                                    new RowAccount(128, 128, 0, Map.of(), Map.of(), 0)),
                            SiteMemory.initial(),
                            null)
                    .report();
            assertEquals(
                    drifted ? Verdict.DRIFTED : Verdict.ALIGNED,
                    report.judged().verdict(),
                    report.judged().reason());
            StatisticReport left = report.evidence().statistics().get(2);
            assertEquals("request_evidence", left.statistic());
            assertTrue(String.valueOf(left.basis()).endsWith("it is left out of this window, the others decide"));
        }
    }

    @Test
    void requestsThatAreSentAgainAreNamedAsTheReason() throws IOException {
        SiteJudge judge = judge("trigger: faithfulness_gap\n    threshold: {share: 0.6}");
        WindowReport usual = judge.judge(drifted(), SiteMemory.initial(), null).report();
        Repeats none = Objects.requireNonNull(usual.section(Sections.REPEATS));
        assertEquals(0, none.copies());
        assertNull(none.sentence());
        WindowReport storm = judge.judge(
                        window(record -> WatchedFolder.drifted(record / 4), false), SiteMemory.initial(), null)
                .report();
        Repeats repeats = Objects.requireNonNull(storm.section(Sections.REPEATS));
        assertEquals(RECORDS, repeats.requests());
        assertEquals(RECORDS * 3 / 4, repeats.copies());
        assertTrue(
                storm.judged().reason().contains("; 12 of 16 sampled requests are copies of others"),
                storm.judged().reason());
        WindowReport unsuspected = judge("trigger: faithfulness_gap\n    threshold: {share: 0.99}")
                .judge(window(false), SiteMemory.initial(), null)
                .report();
        assertNull(unsuspected.section(Sections.REPEATS));
    }

    @Test
    void withoutStatisticsThatWarnThereIsNoWarning() throws IOException {
        WindowReport report = judge("threshold: {false_alarms: 1 per 30d}")
                .judge(mixed(record -> true), SiteMemory.initial(), null)
                .report();
        assertNull(report.evidence().warning());
        assertNull(report.evidence().warningReason());
        assertFalse(
                report.judged().reason().contains("clean windows"),
                "one clause: " + report.judged().reason());
        assertTrue(
                report.evidence().statistics().stream()
                        .map(StatisticReport::basis)
                        .anyMatch(basis -> basis != null
                                && basis.contains("which needs 259,199 clean windows: collect 259,180 more")),
                report.evidence().statistics()::toString);
    }

    @Test
    void aSwapThatDoesWorseIsAskedBackInItsSecondWindow() throws IOException {
        SiteJudge judge = judge("threshold: {share: 0.6}\n    adaptation: {mode: auto}");
        ActiveDecoders.Active worse = new ActiveDecoders.Active(decoder(0.0, 0.0), 7);
        SiteJudge.Judgement first = judge.judge(drifted(), SiteMemory.initial(), worse);
        assertEquals(SiteJudge.Ask.ADAPT, first.ask(), "the site itself is drifted");
        SiteJudge.Judgement second = judge.judge(drifted(), first.memory(), worse);
        assertEquals(SiteJudge.Ask.ROLL_BACK, second.ask());
        assertTrue(second.report().inService().rollbackRequested());
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
        assertEquals(
                before.geometry().value(Statistic.FAITHFULNESS_GAP).orElseThrow(),
                before.inService().activeFaithfulnessGap());
        WindowReport soon = judge.judge(drifted(), SiteMemory.initial(), new ActiveDecoders.Active(adapted, 7))
                .report();
        assertNull(soon.inService().activeFaithfulnessGap(), "not computed yet");
        ActiveDecoders.Active measured = new ActiveDecoders.Active(adapted, 7, DictionarySpace.of(adapted, 4), null);
        WindowReport after =
                judge.judge(drifted(), SiteMemory.initial(), measured).report();
        double gap = Objects.requireNonNull(after.inService().activeFaithfulnessGap());
        assertTrue(gap < 0.3, "the adapted decoder writes where the rows are: " + gap);
        assertTrue(after.geometry().value(Statistic.FAITHFULNESS_GAP).orElseThrow() > 2.5, after::toString);
    }

    /**
     * Returns a decoder like the trained one of the folder, with these strengths in its first and in its last four
     * directions.
     */
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
}
