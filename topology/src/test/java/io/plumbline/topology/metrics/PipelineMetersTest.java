package io.plumbline.topology.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.activity.ActivityChange;
import io.plumbline.activity.ActivityChanges;
import io.plumbline.behaviour.Figure;
import io.plumbline.calibration.Verdict;
import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.geometry.Value;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.report.Breakdown;
import io.plumbline.topology.report.CoverageReport;
import io.plumbline.topology.report.DownstreamReport;
import io.plumbline.topology.report.DriftCause;
import io.plumbline.topology.report.FeatureName;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.SequentialReport;
import io.plumbline.topology.report.Spectrum;
import io.plumbline.topology.report.StatisticReport;
import io.plumbline.topology.report.WindowMetric;
import io.plumbline.topology.report.WindowReport;
import io.plumbline.topology.report.WorstRequest;
import io.plumbline.topology.windows.LateReason;
import io.plumbline.topology.windows.RowAccount;
import io.plumbline.topology.windows.StateSize;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.EnumMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PipelineMetersTest {

    @Test
    void everyRealNumberOfAReportIsExportedAndNoneTwice() throws Exception {
        GapAssessment geometry = distinctNumbers();
        SiteSnapshot snapshot = WindowValues.of(report(geometry));
        for (Statistic statistic : Statistic.values()) {
            double value = geometry.value(statistic).orElseThrow();
            List<SiteSnapshot.Sample> exported = snapshot.samples().stream()
                    .filter(sample -> sample.value() == value)
                    .toList();
            Statistic.Series series = statistic.series();
            assertEquals(List.of(new SiteSnapshot.Sample(WindowMetric.of(statistic), series.value(), value)), exported);
            assertEquals(series.label(), WindowMetric.of(statistic).label());
        }
        assertEquals(0.1026, value(snapshot, WindowMetric.FVU, "trained"));
        assertEquals(0.125, value(snapshot, WindowMetric.FVU, "active"));
        assertEquals(0.375, value(snapshot, WindowMetric.KL, "active"));
        assertEquals(24.0, value(snapshot, "plumbline_downstream_requests", ""));
        assertEquals(1_700_000_000.5, value(snapshot, WindowMetric.BASELINE_CREATED, ""));
        assertEquals(7.0, value(snapshot, WindowMetric.BASELINE_REVISION, ""));
        assertEquals(4.5, value(snapshot, WindowMetric.ACTIVE_FAITHFULNESS_GAP, ""));
        assertEquals(0.5, value(snapshot, WindowMetric.SEQUENTIAL_EVIDENCE, "eta"), 1e-12);
        assertEquals(4.0, value(snapshot, WindowMetric.THRESHOLD, "faithfulness_gap"));
        assertEquals(5.0, value(snapshot, WindowMetric.DECIDING, "faithfulness_gap"));
        assertEquals(1.25, value(snapshot, WindowMetric.OVER_THRESHOLD, "faithfulness_gap"));
        assertEquals(3.0, value(snapshot, WindowMetric.DECODER_VERSION, ""));
        assertEquals((double) geometry.rows(), value(snapshot, WindowMetric.ROWS, ""));
        assertEquals(0.25, value(snapshot, WindowMetric.PRINCIPAL_ANGLE, "smallest"));
        assertEquals(0.5, value(snapshot, WindowMetric.PRINCIPAL_ANGLE, "median"));
        assertEquals(1.25, value(snapshot, WindowMetric.PRINCIPAL_ANGLE, "largest"));
        assertEquals(100.0 / (150 + geometry.rows()), value(snapshot, WindowMetric.MASKED, "token_id"));
        assertEquals(50.0 / (150 + geometry.rows()), value(snapshot, WindowMetric.MASKED, "norm"));
        assertEquals(1.0, value(snapshot, WindowMetric.ENERGY_CONCENTRATED, ""));
        assertEquals(1.0, value(snapshot, WindowMetric.GAP_BOUND_VACUOUS, "upper"));
        assertEquals(0.0, value(snapshot, WindowMetric.GAP_BOUND_VACUOUS, "davis_kahan_valid"));
        assertEquals(0.0, value(snapshot, WindowMetric.GAP_BOUND_CERTIFIED, "davis_kahan_as_printed"));
        assertEquals(1.0, value(snapshot, WindowMetric.GAP_BOUND_CERTIFIED, "upper"));
        Set<WindowMetric> families = new HashSet<>();
        snapshot.samples().forEach(sample -> families.add(sample.metric()));
        Set<WindowMetric> all = new HashSet<>(WindowMetric.all());
        all.remove(WindowMetric.WORST_BLOCK); // of several reports
        assertEquals(all, families);
    }

    @Test
    void whatTheStagesReportIsCounted() throws IOException {
        try (Metrics metrics = Metrics.create(new Metrics.Settings(Duration.ofMinutes(15), 256))) {
            metrics.expect(List.of("blocks.7"));
            PipelineMeters pipeline = metrics.pipeline();
            String before = scrape(metrics);
            for (DeadLetter.Reason reason : DeadLetter.Reason.values()) {
                has(before, "plumbline_dead_letters_total{reason=\"" + reason.label() + "\"} 0.0");
            }
            pipeline.onAccepted("blocks.7", 128);
            pipeline.onLate("blocks.7", 5, LateReason.WINDOW_CLOSED);
            pipeline.onGivenUp("blocks.7", 3);
            pipeline.onAccount("blocks.7", new RowAccount(1, 1, 0, Map.of(), Map.of(), 0));
            pipeline.onAccount(
                    "blocks.7",
                    new RowAccount(
                            100, 70, 15, Map.of("after_grace", 5L, "after_idle", 6L), Map.of("token_id", 3L), 1));
            pipeline.onRead(1_000_000);
            pipeline.onAccumulated("blocks.7", 128, 2_000_000);
            pipeline.onComposed(3_000_000);
            pipeline.onStored(4_000_000);
            pipeline.onState("panes", "0_0", new StateSize(9, 9_000));
            pipeline.onState("panes", "0_0", new StateSize(2, 3_000));
            pipeline.onState("panes", "0_1", new StateSize(1, 1_000));
            pipeline.onState("windows", "1_0", new StateSize(1, 500));
            has(before, "plumbline_ingestion_stall_seconds_count 0");
            pipeline.onStall(120_000_000);
            pipeline.onStall(2_000_000);
            pipeline.onWindowClosed("blocks.7", 128);
            pipeline.onDeadLetter(DeadLetter.Reason.NON_FINITE);
            pipeline.onReport(report(distinctNumbers()), 36_000_000);
            String after = scrape(metrics);
            has(after, "plumbline_rows_total{site=\"blocks.7\"} 128.0");
            has(after, "plumbline_ingestion_stall_seconds_bucket{le=\"0.1\"} 1");
            has(after, "plumbline_ingestion_stall_seconds_bucket{le=\"0.25\"} 2");
            has(after, "plumbline_ingestion_stall_seconds_count 2");
            has(after, "plumbline_late_rows_total{reason=\"window_closed\",site=\"blocks.7\"} 5.0");
            has(after, "plumbline_late_rows_total{reason=\"after_grace\",site=\"blocks.7\"} 0.0");
            has(after, "plumbline_partitions_given_up_total{site=\"blocks.7\"} 1.0");
            has(after, "plumbline_site_rows{account=\"in\",site=\"blocks.7\"} 100.0");
            has(after, "plumbline_site_rows{account=\"in_windows\",site=\"blocks.7\"} 70.0");
            has(after, "plumbline_site_rows{account=\"open\",site=\"blocks.7\"} 15.0");
            has(after, "plumbline_site_rows{account=\"late_after_idle\",site=\"blocks.7\"} 6.0");
            has(after, "plumbline_site_rows{account=\"masked_token_id\",site=\"blocks.7\"} 3.0");
            has(after, "plumbline_site_rows{account=\"unaccounted\",site=\"blocks.7\"} 1.0");
            has(after, "plumbline_windows_total{site=\"blocks.7\"} 1.0");
            has(after, "plumbline_dead_letters_total{reason=\"non_finite\"} 1.0");
            has(after, "plumbline_stage_seconds_sum{stage=\"ingest\"} 0.001");
            has(after, "plumbline_stage_seconds_sum{stage=\"accumulate\"} 0.002");
            has(after, "plumbline_stage_seconds_sum{stage=\"compose\"} 0.003");
            has(after, "plumbline_stage_seconds_sum{stage=\"store\"} 0.004");
            has(after, "plumbline_open_panes{store=\"panes\"} 3.0");
            has(after, "plumbline_state_bytes{store=\"panes\"} 4000.0");
            has(after, "plumbline_state_bytes{store=\"windows\"} 500.0");
            has(after, "plumbline_stage_seconds_sum{stage=\"assess\"} 0.036");
            has(after, "plumbline_verdict{site=\"blocks.7\",verdict=\"drifted\"} 1.0");
            has(after, "plumbline_threshold{site=\"blocks.7\",statistic=\"faithfulness_gap\"} 4.0");
            has(after, "plumbline_threshold{site=\"blocks.7\",statistic=\"eta\"} 0.5");
            has(after, "plumbline_coverage_ratio{site=\"blocks.7\",tokens=\"delivered\"} 0.5");
            has(after, "plumbline_coverage_ratio{site=\"blocks.7\",tokens=\"cached\"} 0.25");
            has(after, "plumbline_coverage_ratio{site=\"blocks.7\",tokens=\"not_sampled\"} 0.125");
            has(after, "plumbline_coverage_ratio{site=\"blocks.7\",tokens=\"dropped\"} 0.0625");
            has(after, "plumbline_drifted_windows_total{site=\"blocks.7\"} 1.0");
            String exemplar =
                    "plumbline_drifted_windows_total{site=\"blocks.7\"} 1.0 # {request=\"chat?17\",share=\"0.50\"} 1.0 ";
            assertTrue(openMetrics(metrics).lines().anyMatch(line -> line.startsWith(exemplar)), exemplar);
            assertTrue(
                    after.lines().noneMatch(line -> line.contains("chat")),
                    "a request, whose name a user chose, is a label");
            has(after, "plumbline_drift_change_ratio{change=\"engine_version 0.20\",site=\"blocks.7\"} 0.75");
            has(after, "plumbline_breakdown_faithfulness_gap{site=\"blocks.7\",value=\"acme\"} 4.25");
            has(after, "plumbline_breakdown_whitened_mean_shift{site=\"blocks.7\",value=\"acme\"} 1.75");
            has(after, "plumbline_breakdown_fraction_of_variance_unexplained{site=\"blocks.7\",value=\"acme\"} 0.375");
            has(after, "plumbline_coverage_moved{site=\"blocks.7\"} 1.0");
            has(after, "plumbline_warning{site=\"blocks.7\"} 0.0");
            has(after, "plumbline_changed_features{direction=\"less_active\",site=\"blocks.7\"} 3.0");
            has(after, "plumbline_changed_features{direction=\"more_active\",site=\"blocks.7\"} 5.0");
            has(after, "plumbline_compared_features{site=\"blocks.7\"} 900.0");
            has(after, "plumbline_metrics_failures_total 0.0");
            pipeline.onStateReleased("panes", "0_0");
            has(scrape(metrics), "plumbline_open_panes{store=\"panes\"} 1.0");
            pipeline.onSiteReleased("blocks.7");
            assertTrue(!scrape(metrics).contains("plumbline_verdict{"), "a released site is still shown");
            pipeline.onAccountReleased("blocks.7");
            assertTrue(!scrape(metrics).contains("plumbline_site_rows{"), "a released account is still shown");
        }
    }

    static WindowReport report(GapAssessment geometry) {
        return new WindowReport(
                "blocks.7",
                60_000,
                120_000,
                "event_time",
                12,
                11,
                1,
                0,
                Verdict.DRIFTED,
                "above",
                "faithfulness_gap",
                5.0,
                4.0,
                List.of(
                        new StatisticReport(
                                "faithfulness_gap", "trigger", 5.0, null, 4.0, true, null, null, null, null, null),
                        new StatisticReport("eta", "warn", 0.3, 1.2, 0.5, false, 99, 0.02, null, null, "the largest")),
                Verdict.ALIGNED,
                "eta is not above",
                List.of(new SequentialReport("eta", 99.0, 9_999.0, false, 40, null, null)),
                0.125,
                4.5,
                3,
                true,
                false,
                List.of(),
                100,
                50,
                0.1,
                1_700_000_000_500L,
                7L,
                sections(),
                geometry);
    }

    private static Sections sections() {
        return Sections.NONE
                .with(
                        Sections.WORST_REQUESTS,
                        List.of(
                                new WorstRequest("chat\n17", 118, 640.0, 1e-6, 0.5),
                                new WorstRequest("chat\t17", 20, 600.0, 1e-6, 0.25)))
                .with(Sections.COVERAGE, new CoverageReport(1_000, 0.5, 0.25, 0.125, 0.0625, 0.75, 0.0, "moved"))
                .with(
                        Sections.CAUSE,
                        new DriftCause(
                                "change",
                                List.of(new DriftCause.Change(
                                        "engine_version", "0.20", 0, 0.75, "0.19", 8, 0, 0.5, null)),
                                "new"))
                .with(
                        Sections.BREAKDOWN,
                        new Breakdown(
                                "tenant",
                                100,
                                List.of(new Breakdown.OfValue("acme", 10, 0.5, 0.25, 0.375, 4.25, 1.75))))
                .with(Sections.ENERGY_WARNING, "one eigenvalue holds 60 % of the window's energy")
                .with(Sections.FAILING_FEATURES, List.of())
                .with(
                        Sections.FEATURE_ACTIVITY,
                        new ActivityChanges(
                                2_048,
                                12,
                                900,
                                3,
                                5,
                                List.of(new ActivityChange(7, "less_active", 0.0, 0.02, 0.0, 1.5, 0, 1e-9)),
                                null))
                .with(Sections.FEATURE_NAMES, Map.of(7, new FeatureName("dogs", null)))
                .with(
                        Sections.DOWNSTREAM,
                        new DownstreamReport(
                                24,
                                3_000,
                                1,
                                2,
                                null,
                                null,
                                Map.of(),
                                Map.of("kl", new Figure(0.375, 0.25, 0.5)),
                                null))
                .with(Sections.SPECTRUM, new Spectrum(List.of(3.0, 1.0), List.of(2.5, 1.5), List.of(0.25)));
    }

    /** An assessment in which every number differs from every other, so that a mix-up shows. */
    static GapAssessment distinctNumbers() {
        Map<Statistic, Value> values = new EnumMap<>(Statistic.class);
        for (Statistic statistic : Statistic.values()) {
            values.put(statistic, new Value.Known((1000 + values.size()) / 10_000.0)); // below 1, as shares are
        }
        values.put(Statistic.DAVIS_KAHAN_VALID, new Value.Known(0.05)); // the one below the largest gap
        return new GapAssessment(2001, 2002, 2003, values, false, List.of(0.25, 0.5, 1.25));
    }

    private static double value(SiteSnapshot snapshot, WindowMetric metric, String label) {
        return value(snapshot, metric.metricName(), label);
    }

    private static double value(SiteSnapshot snapshot, String metric, String label) {
        return snapshot.samples().stream()
                .filter(sample -> sample.metric().metricName().equals(metric)
                        && (label.isEmpty() || label.equals(sample.labelValue())))
                .findFirst()
                .orElseThrow()
                .value();
    }

    private static String scrape(Metrics metrics) throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter.create()
                .write(text, metrics.scrape());
        return text.toString(StandardCharsets.UTF_8);
    }

    private static String openMetrics(Metrics metrics) throws IOException {
        ByteArrayOutputStream text = new ByteArrayOutputStream();
        io.prometheus.metrics.expositionformats.OpenMetricsTextFormatWriter.create()
                .write(text, metrics.scrape());
        return text.toString(StandardCharsets.UTF_8);
    }

    private static void has(String scrape, String series) {
        assertTrue(scrape.lines().anyMatch(series::equals), () -> "expected \"" + series + "\" in\n" + scrape);
    }
}
