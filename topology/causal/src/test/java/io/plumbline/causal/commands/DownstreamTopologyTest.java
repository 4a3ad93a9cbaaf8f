package io.plumbline.causal.commands;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.json.JsonMapper;
import io.plumbline.causal.BehaviourProbe;
import io.plumbline.causal.DownstreamSettings;
import io.plumbline.causal.heads.FailingHeads;
import io.plumbline.causal.heads.HeadProbes;
import io.plumbline.causal.heads.LivePart;
import io.plumbline.topology.MonitorTopology;
import io.plumbline.topology.Streaming;
import io.plumbline.topology.Watched;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.broker.OutputGuard;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.broker.Topics;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.kafka.NextOffsets;
import io.plumbline.topology.metrics.Metrics;
import io.plumbline.topology.metrics.PipelineMeters;
import io.plumbline.topology.panes.InForce;
import io.plumbline.topology.progress.Repeats;
import io.plumbline.topology.windows.SourceWatch;
import io.plumbline.topology.windows.WindowWorkers;
import io.prometheus.metrics.expositionformats.PrometheusTextFormatWriter;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests the way from whole requests to the report, through the rest of a model. */
class DownstreamTopologyTest {

    @TempDir
    private Path folder;

    private record Said(List<JsonNode> reports, String metrics) {}

    /** Sends the records of each window, and one a window later so that the last of them closes. */
    private Said run(String downstream, List<List<byte[]>> windows) throws IOException {
        MonitorConfig config = LiveFolder.create(folder, "unused:9092", downstream);
        Map<String, WatchedSite> sites = WatchedFolder.sites(config);
        WatchedSite site = Objects.requireNonNull(sites.get(LiveFolder.SITE));
        DownstreamSettings settings = Objects.requireNonNull(site.settings().downstream());
        List<JsonNode> reports = new ArrayList<>();
        try (Metrics metrics = Metrics.create(Metrics.Settings.of(config.window(), 1));
                BehaviourProbe probe = new HeadProbes().open(settings, site.explainer())) {
            metrics.expect(List.of(LiveFolder.SITE));
            PipelineMeters pipeline = metrics.pipeline();
            try (Streaming stream = new Streaming(
                    MonitorTopology.build(
                            InForce.of(new Watched(config, sites)),
                            Topics.Prepared.of(config.topics().activations(), 1, 1_000_000),
                            name -> null,
                            new MonitorTopology.Listeners(pipeline, pipeline, pipeline),
                            new Repeats(),
                            NextOffsets.silent(),
                            topic -> SourceWatch.ALWAYS_READ,
                            WindowWorkers.none(),
                            WatchedSite::projections,
                            Map.of(LiveFolder.SITE, probe),
                            OutputGuard.silent(config.topics())),
                    StreamsSettings.monitor(config),
                    folder.resolve("streams"))) {
                long time = LiveFolder.T0;
                for (List<byte[]> window : windows) {
                    for (byte[] record : window) {
                        stream.send(config.topics().activations(), LiveFolder.SITE, record, time);
                    }
                    time += LiveFolder.WINDOW_MS;
                }
                stream.send(
                        config.topics().activations(),
                        LiveFolder.SITE,
                        LiveFolder.records().get(0),
                        time);
                for (TestRecord<byte[], byte[]> record :
                        stream.read(config.topics().windowReports())) {
                    reports.add(new JsonMapper().readTree(record.value()));
                }
                ByteArrayOutputStream text = new ByteArrayOutputStream();
                PrometheusTextFormatWriter.builder().build().write(text, metrics.scrape());
                return new Said(reports, text.toString(StandardCharsets.UTF_8));
            }
        }
    }

    private static String head() {
        return "share: 1, head: '" + LivePart.head() + "'";
    }

    @Test
    void aReportSaysWhatTheModelDoesWithTheExplainersAccountAndItCanWarn() throws IOException {
        Said said = run(
                head(),
                List.of(LiveFolder.records(), List.of(LiveFolder.records().get(0))));
        JsonNode report = said.reports().get(0);
        JsonNode downstream = report.path("downstream");
        assertEquals(2, downstream.path("requests").asInt(), downstream.toString());
        assertEquals(126, downstream.path("rows").asInt());
        assertTrue(
                downstream.path("failure").isNull() && downstream.path("active").isNull());
        for (String figure : List.of("kl", "delta_ce")) {
            assertEquals(LiveFolder.oracle(figure), report.path(figure).asDouble(), 1e-4);
            JsonNode interval = downstream.path("trained").path(figure);
            assertEquals(report.path(figure).asDouble(), interval.path("value").asDouble());
            assertTrue(interval.path("low").asDouble() < interval.path("high").asDouble(), interval.toString());
        }
        assertTrue(report.path("top1_agreement").isNumber()
                && report.path("loss_recovered").isNumber());
        assertEquals(
                "drifted",
                report.path("warning").asText(),
                report.path("warning_reason").asText());
        assertTrue(
                report.path("warning_reason").asText().startsWith("kl = "),
                report.path("warning_reason").asText());
        assertTrue(report.path("undefined").path("kl").isMissingNode());
        JsonNode watched = report.path("watched");
        assertEquals("behaviour", watched.path("harm").asText(), watched.toString());
        assertEquals("kl", watched.path("hurt").path(0).path("what").asText());
        assertEquals(1e-6, watched.path("hurt").path(0).path("baseline").asDouble());
        String kl = "plumbline_kl{decoder=\"trained\",site=\"blocks.3\"} ";
        assertTrue(said.metrics().contains(kl), said.metrics());
        assertTrue(said.metrics().contains("plumbline_downstream_requests{site=\"blocks.3\"} 1.0"));
        assertTrue(said.metrics().contains("plumbline_downstream_failures_total{site=\"blocks.3\"} 0.0"));
        assertTrue(said.metrics().contains("plumbline_stage_seconds_count{stage=\"downstream\"} 2"));
    }

    @Test
    void noMoreRequestsAreRunThanAskedFor() throws IOException {
        Said said = run(head() + ", requests: 1", List.of(LiveFolder.records()));
        assertEquals(
                1, said.reports().get(0).path("downstream").path("requests").asInt());
        assertEquals(128, said.reports().get(0).path("rows").asInt());
    }

    @Test
    void aHeadThatFailsLeavesTheWindowWithoutItsFiguresAndIsCounted() throws IOException {
        FailingHeads.write(folder);
        for (String failure : List.of("not_finite", "wrong_shape", "timed_out")) {
            Said said = run(
                    "share: 1, head: " + failure + ".onnx, timeout: 300ms",
                    List.of(LiveFolder.records(), LiveFolder.records()));
            assertEquals(2, said.reports().size());
            JsonNode report = said.reports().get(0);
            assertEquals(failure, report.path("downstream").path("failure").asText(), report.toString());
            String reason = report.path("downstream").path("reason").asText();
            assertTrue(reason.contains(failure + ".onnx"), reason);
            assertEquals(reason, report.path("undefined").path("kl").asText());
            assertTrue(report.path("kl").isNull());
            assertEquals(
                    "aligned",
                    report.path("verdict").asText(),
                    report.path("reason").asText());
            assertEquals("undecided", report.path("warning").asText());
            assertTrue(
                    report.path("warning_reason").asText().contains(reason),
                    report.path("warning_reason").asText());
            assertTrue(said.metrics().contains("plumbline_downstream_failures_total{site=\"blocks.3\"} 2.0"));
        }
    }

    @Test
    void aWorkerThatIsNotThereLeavesTheWindowWithoutItsFiguresAndIsCounted() throws IOException {
        Said said = run("share: 1, worker: 'unix:nowhere.sock'", List.of(LiveFolder.records(), LiveFolder.records()));
        JsonNode report = said.reports().get(0);
        assertEquals("unreachable", report.path("downstream").path("failure").asText(), report.toString());
        String reason = report.path("undefined").path("kl").asText();
        assertTrue(reason.startsWith("worker unix:" + folder.resolve("nowhere.sock") + ": cannot be reached"), reason);
        assertTrue(report.path("kl").isNull());
        assertEquals("aligned", report.path("verdict").asText());
        assertTrue(said.metrics().contains("plumbline_downstream_failures_total{site=\"blocks.3\"} 2.0"));
    }
}
