package io.plumbline.topology.metrics;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.geometry.Statistic;
import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.topology.adaptation.SwapRules;
import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.baselines.BaselineHistory;
import io.plumbline.topology.baselines.Described;
import io.plumbline.topology.panes.WindowSettings;
import io.plumbline.topology.progress.Probe;
import io.plumbline.topology.progress.StreamsProbes;
import io.plumbline.topology.report.WindowMetric;
import io.prometheus.metrics.model.snapshots.CounterSnapshot;
import io.prometheus.metrics.model.snapshots.GaugeSnapshot;
import io.prometheus.metrics.model.snapshots.MetricSnapshot;
import java.time.Clock;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Predicate;
import org.apache.kafka.streams.KafkaStreams;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

class MetricsTest {
    private volatile Instant now = Instant.parse("2026-01-01T00:00:00Z");
    private final Metrics metrics = Metrics.create(new Metrics.Settings(Duration.ofMinutes(10), 3), new Clock() {
        @Override
        public ZoneId getZone() {
            return ZoneOffset.UTC;
        }

        @Override
        public Clock withZone(ZoneId zone) {
            return this;
        }

        @Override
        public Instant instant() {
            return now;
        }
    });

    @AfterEach
    void close() {
        metrics.close();
    }

    @Test
    void aScrapeNeverMixesTwoWindowsOfASite() throws Exception {
        AtomicBoolean stop = new AtomicBoolean();
        Thread writer = new Thread(() -> {
            for (int window = 1; !stop.get(); window++) {
                int value = window;
                metrics.pipeline().show(ExportedMetrics.everything("blocks.7", value));
            }
        });
        metrics.pipeline().show(ExportedMetrics.everything("blocks.7", 0));
        writer.start();
        Set<Double> windowsSeen = new TreeSet<>();
        try {
            for (int scrape = 0; scrape < 500; scrape++) {
                Set<Double> values = new TreeSet<>();
                for (MetricSnapshot family : metrics.scrape()) {
                    if (family instanceof GaugeSnapshot gauge && isWindowValue(gauge) && !isVerdict(gauge)) {
                        gauge.getDataPoints().forEach(point -> values.add(point.getValue()));
                    }
                }
                assertEquals(1, values.size(), "one scrape saw windows " + values);
                windowsSeen.addAll(values);
            }
        } finally {
            stop.set(true);
            writer.join();
        }
        assertTrue(
                windowsSeen.size() > 10, "the writer was too slow for the test to say anything: " + windowsSeen.size());
    }

    @Test
    void aSiteVanishesWhenItIsForgotten() {
        metrics.pipeline().show(ExportedMetrics.everything("blocks.7", 1));
        metrics.pipeline().show(ExportedMetrics.everything("blocks.11", 1));
        metrics.pipeline().onSiteReleased("blocks.7");
        assertEquals(Set.of("blocks.11"), sitesShown());
    }

    @Test
    void aSiteVanishesWhenItHasHadNoWindowForTheStalenessAndReturnsWithTheNext() {
        metrics.pipeline().show(ExportedMetrics.everything("blocks.7", 1));
        now = now.plus(Duration.ofMinutes(10));
        metrics.pipeline().show(ExportedMetrics.everything("blocks.11", 1));
        assertEquals(Set.of("blocks.7", "blocks.11"), sitesShown());
        now = now.plusMillis(1);
        assertEquals(Set.of("blocks.11"), sitesShown());
        metrics.pipeline().show(ExportedMetrics.everything("blocks.7", 1));
        assertEquals(Set.of("blocks.7", "blocks.11"), sitesShown());
    }

    @Test
    void anUndefinedValueIsAbsentAndItsPredecessorGoesWithIt() {
        metrics.pipeline()
                .show(SiteSnapshot.of("blocks.7")
                        .set(Statistic.FAITHFULNESS_GAP, 1.0)
                        .build());
        assertTrue(families().contains("plumbline_faithfulness_gap"));
        for (Double undefined : new Double[] {null, Double.NaN, Double.POSITIVE_INFINITY}) {
            metrics.pipeline()
                    .show(SiteSnapshot.of("blocks.7")
                            .set(Statistic.FAITHFULNESS_GAP, undefined)
                            .set(WindowMetric.ROWS, 5)
                            .build());
            assertFalse(families().contains("plumbline_faithfulness_gap"), "for " + undefined);
            assertTrue(families().contains("plumbline_window_rows"));
        }
    }

    @Test
    void aShareMayMissItsRangeByRoundOffOnlyAndIsLeftOutBeyond() {
        metrics.pipeline()
                .show(SiteSnapshot.of("blocks.7")
                        .set(Statistic.ETA, -1e-12)
                        .set(Statistic.GAP_SHARE, 1 + 1e-12)
                        .set(Statistic.RESIDUAL_ENERGY, 1.5)
                        .set(Statistic.SECOND_MOMENT_SHIFT_RATIO, 1.5)
                        .build());
        assertEquals(0.0, gauge("plumbline_eta_ratio"));
        assertEquals(1.0, gauge("plumbline_gap_share_ratio"));
        assertFalse(families().contains("plumbline_residual_energy_ratio"));
        assertEquals(1.5, gauge("plumbline_second_moment_relative_shift"));
    }

    @Test
    void theDecoderThisProcessHoldsFollowsTheSubscriberAndAnInterruptionShows() {
        DecoderMeters decoders = metrics.decoders();
        decoders.trained("a", "00");
        decoders.held("a", 1, DecoderKind.ADAPTED, "11");
        assertEquals(1.0, gauge("plumbline_subscriber_decoder_version"));
        assertEquals(0, counter("plumbline_decoder_swaps", "site", "a"), "found at the start, not swapped");
        decoders.onCaughtUp();
        decoders.held("a", 2, DecoderKind.TRAINED, "22");
        assertEquals(2.0, gauge("plumbline_subscriber_decoder_version"));
        assertEquals(1, counter("plumbline_decoder_swaps", "site", "a"));
        assertEquals(0.0, gauge("plumbline_subscriber_interrupted"));
        decoders.onInterrupted("no broker");
        assertEquals(1.0, gauge("plumbline_subscriber_interrupted"));
        decoders.onResumed();
        assertEquals(0.0, gauge("plumbline_subscriber_interrupted"));
    }

    @Test
    void aCandidateThatExpiredWaitsNoMoreThoughNobodyTellsIt() {
        DecoderMeters decoders = metrics.decoders();
        decoders.configured("a", SwapRules.Mode.PROPOSE);
        long expiresMs = now.toEpochMilli() + 60_000;
        SwapState.Waiting decoder = new SwapState.Waiting(3, 0, 512, expiresMs, "00");
        SwapState.Waiting explainer = new SwapState.Waiting(4, 0, 512, expiresMs + 60_000, "11");
        decoders.onSwapState("a", new SwapState(2, true, true, false, 4, decoder, List.of(), null, 0, explainer, null));
        assertEquals(3.0, gauge("plumbline_candidate_version"));
        now = now.plusSeconds(60);
        assertEquals(4.0, gauge("plumbline_candidate_version"));
        now = now.plusSeconds(60);
        assertEquals(0.0, gauge("plumbline_candidate_version"));
        assertEquals(1.0, gauge("plumbline_pinned"));
    }

    @Test
    void sitesBeyondTheCapShareOneLabelAndAreCounted() {
        for (String site : new String[] {"a", "b", "c", "d", "e", "a"}) {
            metrics.pipeline().onAccepted(site, 10);
        }
        metrics.pipeline().show(ExportedMetrics.everything("d", 1));
        metrics.pipeline().show(ExportedMetrics.everything("c", 1));
        for (String site : new String[] {"d", "c"}) {
            metrics.baselines().onBaselines(BaselineHistory.of(site).with(Described.replacing(site, "b", 2, "a")));
        }
        assertEquals(
                Set.of("c"),
                sitesOf(gauge -> gauge.getMetadata().getPrometheusName().equals("plumbline_baseline_gap_to_old")));
        assertEquals(20, counter("plumbline_rows", "site", "a"));
        assertEquals(20, counter("plumbline_rows", "site", Metrics.OVERFLOW_SITE));
        assertEquals(4, counter("plumbline_site_overflow", "", ""));
        assertEquals(Set.of("c"), sitesShown());
    }

    @Test
    void aRefusedDecoderIsCountedAtItsSiteAndAStrangersUnderOverflow() {
        metrics.expect(Set.of("a"));
        metrics.decoders().onRefused("a", 1, "torn");
        metrics.decoders().onRefused("a", 1, "torn");
        metrics.decoders().onRefused("", 1, "torn");
        assertEquals(2, counter("plumbline_decoder_refusals", "site", "a"));
        assertEquals(1, counter("plumbline_decoder_refusals", "site", Metrics.OVERFLOW_SITE));
    }

    @Test
    void aFailureToRecordIsCountedAndNotThrown() {
        DriftListener failing = new DriftListener() {
            @Override
            public void onSiteReleased(String site) {
                throw new IllegalStateException("no snapshot");
            }
        };
        metrics.guarded(DriftListener.class, failing).onSiteReleased("blocks.7");
        assertEquals(1, counter("plumbline_metrics_failures", "", ""));
    }

    @Test
    void millisecondsOfTheWindowAreExportedAsSeconds() {
        metrics.pipeline()
                .show(SiteSnapshot.of("blocks.7").window(1_500, 61_500).build());
        for (MetricSnapshot family : metrics.scrape()) {
            if (family instanceof GaugeSnapshot gauge && isWindowValue(gauge)) {
                double expected = gauge.getMetadata().getName().contains("start") ? 1.5 : 61.5;
                assertEquals(
                        expected,
                        gauge.getDataPoints().get(0).getValue(),
                        gauge.getMetadata().getName());
            }
        }
    }

    @Test
    void nonsenseSettingsAreRefusedWithTheirName() {
        assertTrue(String.valueOf(
                        assertThrows(IllegalArgumentException.class, () -> new Metrics.Settings(Duration.ZERO, 1)))
                .contains("staleness of the exported values = PT0S"));
        assertTrue(String.valueOf(assertThrows(
                        IllegalArgumentException.class, () -> new Metrics.Settings(Duration.ofMinutes(1), 0)))
                .contains("sites that may become labels = 0"));
    }

    @Test
    void probesReadARealClient() {
        KafkaStreams streams = ExportedMetrics.idleStreams("probed");
        Probe alive = StreamsProbes.alive("probed", streams, 2);
        Probe ready = StreamsProbes.ready("probed", streams);
        assertTrue(alive.complaint().isEmpty());
        assertTrue(ready.complaint().orElse("").contains("CREATED"));
        streams.close(Duration.ofSeconds(5));
        assertTrue(alive.complaint().orElse("").contains("NOT_RUNNING"));
        assertEquals(alive.complaint(), alive.and(ready).complaint());
    }

    private Set<String> sitesShown() {
        return sitesOf(MetricsTest::isWindowValue);
    }

    private Set<String> sitesOf(Predicate<GaugeSnapshot> wanted) {
        Set<String> sites = new TreeSet<>();
        for (MetricSnapshot family : metrics.scrape()) {
            if (family instanceof GaugeSnapshot gauge && wanted.test(gauge)) {
                gauge.getDataPoints()
                        .forEach(point -> sites.add(point.getLabels().get("site")));
            }
        }
        return sites;
    }

    private Set<String> families() {
        Set<String> names = new TreeSet<>();
        metrics.scrape().forEach(family -> names.add(family.getMetadata().getPrometheusName()));
        return names;
    }

    private double gauge(String name) {
        for (MetricSnapshot family : metrics.scrape()) {
            if (family instanceof GaugeSnapshot gauge
                    && family.getMetadata().getPrometheusName().equals(name)) {
                assertEquals(1, gauge.getDataPoints().size(), name);
                return gauge.getDataPoints().get(0).getValue();
            }
        }
        throw new AssertionError(name + " is not exported");
    }

    private double counter(String name, String label, String value) {
        for (MetricSnapshot family : metrics.scrape()) {
            if (family instanceof CounterSnapshot counter
                    && family.getMetadata().getPrometheusName().equals(name)) {
                return counter.getDataPoints().stream()
                        .filter(point -> label.isEmpty()
                                || value.equals(point.getLabels().get(label)))
                        .findFirst()
                        .orElseThrow()
                        .getValue();
            }
        }
        throw new AssertionError(name + " is not exported");
    }

    private static boolean isVerdict(GaugeSnapshot gauge) {
        return gauge.getMetadata().getPrometheusName().equals(WindowMetric.VERDICT.metricName());
    }

    private static boolean isWindowValue(GaugeSnapshot gauge) {
        return WindowMetric.all().stream().anyMatch(metric -> metric.metricName()
                .equals(gauge.getMetadata().getPrometheusName()));
    }

    @Test
    void valuesOutliveTheWaitBetweenWindowsAndEveryConfiguredSiteHasItsOwn() {
        Duration hour = Duration.ofHours(1);
        assertEquals(
                Duration.ofMinutes(4 * 60 + 5),
                Metrics.Settings.of(new WindowSettings(hour, hour, Duration.ofMinutes(5), null, null), 1_000)
                        .staleness());
        Duration minute = Duration.ofMinutes(1);
        assertEquals(
                1_000,
                Metrics.Settings.of(new WindowSettings(minute, minute, Duration.ZERO, null, null), 1_000)
                        .maximumSites());
        assertEquals(
                Duration.ofMinutes(15),
                Metrics.Settings.of(new WindowSettings(minute, minute, Duration.ZERO, null, null), 1_000)
                        .staleness());
    }
}
