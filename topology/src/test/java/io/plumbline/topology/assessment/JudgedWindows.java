package io.plumbline.topology.assessment;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.baseline.CleanWindowPass;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.records.ActivationBatch;
import io.plumbline.requests.RequestProjection;
import io.plumbline.requests.RequestTotals;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.panes.PaneParts;
import io.plumbline.topology.panes.RowAccount;
import io.plumbline.topology.panes.WindowNotes;
import io.plumbline.topology.windows.ClosedWindow;
import io.plumbline.topology.windows.Panes;
import java.io.IOException;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.IntPredicate;
import java.util.function.LongFunction;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.io.TempDir;

/** A folder with a site and a baseline of clean windows, and windows of it to judge. */
abstract class JudgedWindows {

    static final String SAMPLE = "sample: {rows: 2048}";
    static final int RECORDS = 16;
    static final int CLEAN_RECORDS = 19 * RECORDS;

    @TempDir
    static Path folder;

    @BeforeAll
    static void makeBaselineWithCleanWindows() throws IOException {
        WatchedFolder.create(folder, "h:1");
        Explainer explainer = Formats.read(folder.resolve("explainer"));
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

    static SiteJudge judge(String site) throws IOException {
        return judge(site, "size: 10s");
    }

    static SiteJudge judge(String site, String window) throws IOException {
        return judge(site, window, SAMPLE);
    }

    static SiteJudge judge(String site, String window, String sample) throws IOException {
        return new SiteJudge(site(site, window, sample));
    }

    static WatchedSite site(String site, String window, String sample) throws IOException {
        MonitorConfig config = MonitorConfig.parse(
                """
                kafka: {bootstrap.servers: "h:1"}
                window: {%s, minimum_rows: 64}
                %s
                sites:
                  %s:
                    explainer: explainer
                    baseline: baseline.safetensors
                    rank: 4
                    %s
                    %s
                """.formatted(
                                window,
                                sample,
                                WatchedFolder.SITE,
                                site.contains("debounce: ") ? "" : "debounce: 1 of 1",
                                site),
                "judge.yaml",
                folder);
        return Objects.requireNonNull(WatchedFolder.sites(config).get(WatchedFolder.SITE));
    }

    /** Returns a window of clean rows, or of rows moved along one direction: the mean moves, the subspace does not. */
    static ClosedWindow window(boolean moved) {
        return window(WatchedFolder::quiet, moved);
    }

    static ClosedWindow drifted() {
        return window(WatchedFolder::drifted, false);
    }

    static ClosedWindow window(LongFunction<Matrix> source, boolean moved) {
        return window(source, moved, 512);
    }

    /** @param sampled how many of its 128 rows the sample has, at most */
    static ClosedWindow window(LongFunction<Matrix> source, boolean moved, int sampled) {
        SecondMomentAccumulator moment = SecondMomentAccumulator.ofDimension(WatchedFolder.WIDTH);
        RowSample sample = RowSample.ofCapacity(sampled);
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
        return Panes.window(
                WatchedFolder.SITE,
                0,
                10_000,
                moment.snapshot(),
                sample,
                RECORDS,
                new WindowNotes(),
                new RowAccount(128, 128, 0, Map.of(), Map.of(), 0));
    }

    /** A window of named requests, some of them drifted. */
    static ClosedWindow mixed(IntPredicate drifted) throws IOException {
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

    static ClosedWindow with(ClosedWindow window, RequestTotals totals) {
        return Panes.with(window, PaneParts.TOTALS, totals);
    }
}
