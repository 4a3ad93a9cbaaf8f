package io.plumbline.topology.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.geometry.GapAssessment;
import io.plumbline.geometry.Statistic;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.panes.LateReason;
import io.plumbline.topology.panes.RowAccount;
import io.plumbline.topology.panes.StateSize;
import io.plumbline.topology.report.CandidateReport;
import io.plumbline.topology.report.DriftCause;
import io.plumbline.topology.report.Sections;
import io.plumbline.topology.report.WindowMetric;
import io.plumbline.topology.report.WindowReports;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.junit.jupiter.api.Test;

class PipelineMetersTest {

    @Test
    void everyStatisticThatIsShownIsExportedAndNoneTwice() throws Exception {
        GapAssessment geometry = WindowReports.distinctNumbers();
        SiteSnapshot snapshot = WindowValues.of(WindowReports.of(geometry));
        for (Statistic statistic : Statistic.values()) {
            double value = geometry.value(statistic).orElseThrow();
            List<SiteSnapshot.Sample> exported = snapshot.samples().stream()
                    .filter(sample -> sample.value() == value)
                    .toList();
            if (!statistic.isShown()) {
                assertEquals(List.of(), exported);
                continue;
            }
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
        assertEquals(4_320.0, value(snapshot, WindowMetric.FALSE_ALARM_INTERVAL, "windows"), 1e-9);
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
        assertEquals(0.0, value(snapshot, WindowMetric.CERTIFIED, ""));
        Set<WindowMetric> families = new HashSet<>();
        snapshot.samples().forEach(sample -> families.add(sample.metric()));
        Set<WindowMetric> all = new HashSet<>(WindowMetric.all());
        all.remove(WindowMetric.WORST_BLOCK); // of several reports
        assertEquals(all, families);
    }

    @Test
    void changesWhoseNamesAndValuesRunTogetherAreSeriesOfTheirOwnAndOneTwiceFailsNoScrape() throws IOException {
        List<DriftCause.Change> changes =
                List.of(change("a", "b c", 0.75), change("a b", "c", 0.5), change("a", "b c", 0.25));
        SiteSnapshot.Builder snapshot = SiteSnapshot.of("blocks.7");
        Sections.NONE
                .with(Sections.CAUSE, new DriftCause("change", changes, "new"))
                .addTo(snapshot);
        try (Metrics metrics = Metrics.create(new Metrics.Settings(Duration.ofMinutes(15), 256))) {
            metrics.pipeline().show(snapshot.build());
            String text = scrape(metrics);
            has(text, "plumbline_drift_change_ratio{change=\"a=b c\",site=\"blocks.7\"} 0.75");
            has(text, "plumbline_drift_change_ratio{change=\"a b=c\",site=\"blocks.7\"} 0.5");
        }
    }

    private static DriftCause.Change change(String name, String value, double share) {
        return new DriftCause.Change(name, value, 0, share, "before", 8, 0, null, null);
    }

    @Test
    void anFvuAboveOneIsShownOfTheCandidateToo() {
        SiteSnapshot.Builder samples = SiteSnapshot.of("blocks.7");
        // The kinds of sections are loaded in their order, which is that of the page.
        Sections.NONE
                .with(
                        Sections.CANDIDATE,
                        new CandidateReport(
                                "candidate",
                                "ab".repeat(32),
                                CandidateReport.Standing.WORSE,
                                512,
                                12,
                                1.5,
                                1.25,
                                0.0625,
                                null,
                                32.5,
                                24.25,
                                900,
                                800,
                                5,
                                0,
                                false,
                                List.of()))
                .addTo(samples);
        SiteSnapshot snapshot = samples.build();
        assertEquals(1.5, value(snapshot, "plumbline_candidate_fraction_of_variance_unexplained", ""));
        assertEquals(1.25, value(snapshot, "plumbline_candidate_in_service_fraction_of_variance_unexplained", ""));
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
            pipeline.onRead(1_000_000, null);
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
            pipeline.onReport(WindowReports.of(WindowReports.distinctNumbers()), 36_000_000);
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
                    "plumbline_drifted_windows_total{site=\"blocks.7\"} 1.0 # {request=\"chat?17\",share=\"0.50\"} "
                            + "1.0 ";
            assertTrue(openMetrics(metrics).lines().anyMatch(line -> line.startsWith(exemplar)), exemplar);
            assertTrue(
                    after.lines().noneMatch(line -> line.contains("chat")),
                    "a request, whose name a user chose, is a label");
            has(after, "plumbline_drift_change_ratio{change=\"engine_version=0.20\",site=\"blocks.7\"} 0.75");
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
