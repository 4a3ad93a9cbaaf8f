package io.plumbline.topology.assessment;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.calibration.Baseline;
import io.plumbline.calibration.BaselineBuilder;
import io.plumbline.calibration.CleanWindowPass;
import io.plumbline.explainer.Explainer;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.MaskedRows;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.topology.MonitorConfig;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.windows.ClosedWindow;
import io.plumbline.topology.windows.RowAccount;
import io.plumbline.wire.ActivationBatch;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class SiteJudgeTest {

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
        assertEquals("aligned", quiet.report().verdict(), quiet.report().reason());
        assertEquals("aligned", quiet.report().warning(), quiet.report().warningReason());

        SiteJudge.Judgement moved = judge.judge(window(true), quiet.memory(), null);
        WindowReport report = moved.report();
        assertEquals("aligned", report.verdict(), report.reason());
        assertEquals("drifted", report.warning(), report.warningReason());
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
    void withoutStatisticsThatWarnThereIsNoWarning() throws IOException {
        WindowReport report = judge("threshold: {false_alarms: 1 per 30d}")
                .judge(window(true), SiteMemory.initial(), null)
                .report();
        assertNull(report.warning());
        assertNull(report.warningReason());
        assertTrue(report.reason().contains("which needs 259199 clean windows: collect 259180 more"), report.reason());
    }

    private SiteJudge judge(String site) throws IOException {
        MonitorConfig config = MonitorConfig.parse("""
                kafka: {bootstrap.servers: "h:1"}
                window: {size: 10s, minimum_rows: 64}
                sites:
                  %s:
                    explainer: explainer
                    baseline: baseline.safetensors
                    rank: 4
                    %s
                """.formatted(WatchedFolder.SITE, site), "judge.yaml", folder);
        return new SiteJudge(WatchedFolder.sites(config).get(WatchedFolder.SITE));
    }

    /** Clean rows, or the same moved along one direction: the mean moves, the subspace does not. */
    private static ClosedWindow window(boolean moved) {
        SecondMomentAccumulator moment = SecondMomentAccumulator.ofDimension(WatchedFolder.WIDTH);
        RowSample sample = RowSample.ofCapacity(64);
        for (int record = 0; record < RECORDS; record++) {
            Matrix rows = WatchedFolder.quiet(1_000 + record);
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
                ClosedWindow.ClosedBy.EVENT_TIME,
                new RowAccount(128, 128, 0, Map.of(), Map.of(), 0),
                true);
    }
}
