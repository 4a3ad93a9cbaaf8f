package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;

import com.fasterxml.jackson.databind.JsonNode;
import io.plumbline.baseline.Baseline;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.Outcome;
import io.plumbline.topology.adaptation.WaitingCommands;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.broker.OutputGuard;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.broker.Topics;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.kafka.NextOffsets;
import io.plumbline.topology.panes.InForce;
import io.plumbline.topology.progress.Repeats;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.windows.SourceWatch;
import io.plumbline.topology.windows.WindowWorkers;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.streams.Topology;
import org.junit.jupiter.api.Test;

/** Tests what the two topologies do with a configuration that is taken over while they run. */
class ReloadTopologyTest extends MonitoredStream {

    private static final long EDGE = T0 + 2 * WINDOW_MS;

    private InForce<Watched> inForce;

    @Override
    Topology topology() {
        inForce = InForce.of(new Watched(config, sites));
        return MonitorTopology.build(
                inForce,
                Topics.Prepared.of(config.topics().activations(), 1, 1_000_000),
                site -> null,
                new MonitorTopology.Listeners(watcher, watcher, watcher),
                new Repeats(),
                NextOffsets.silent(),
                topic -> SourceWatch.ALWAYS_READ,
                WindowWorkers.none(),
                WatchedSite::projections,
                Map.of(),
                OutputGuard.silent(config.topics()));
    }

    private Watched changed(String before, String after) throws IOException {
        Path file = folder.resolve(WatchedFolder.FILE);
        MonitorConfig next =
                MonitorConfig.parse(Files.readString(file).replace(before, after), WatchedFolder.FILE, folder);
        return new Watched(next, WatchedFolder.sites(next));
    }

    @Test
    void requestsAreTotalledAndScoredUnderAnotherBaselineFromItsFirstWindowOn() throws IOException {
        WatchedFolder.writeBaseline(
                folder.resolve("explainer"), folder.resolve("larger.safetensors"), 16 * WatchedFolder.RECORDS);
        Watched next = changed("baseline.safetensors", "larger.safetensors");
        assertNotEquals(projection(sites), projection(next.sites()));
        send(QUIET);
        inForce.takeOver(EDGE, next);
        send(T0 + WINDOW_MS, QUIET, QUIET, QUIET, QUIET);
        List<JsonNode> reports = reports();
        assertEquals(4, reports.size());
        for (JsonNode report : reports) {
            assertEquals(WatchedFolder.RECORDS, report.get("requests_scored").asInt(), report.toString());
        }
    }

    private static Object projection(Map<String, WatchedSite> of) {
        Baseline baseline = Objects.requireNonNull(of.get(WatchedFolder.SITE)).baseline();
        return Objects.requireNonNull(baseline.requests()).projection().id();
    }

    @Test
    void aSiteThatIsDriftedStaysSoUnderAnotherThresholdUntilAWindowSaysOtherwise() throws IOException {
        send(DRIFTED, DRIFTED);
        inForce.takeOver(EDGE, changed("threshold: {share: 0.6}", "threshold: {share: 0.99}"));
        send(EDGE - WINDOW_MS, DRIFTED, DRIFTED, QUIET, QUIET);
        assertEquals(List.of("drifted", "drifted", "drifted", "aligned"), texts(reports(), "verdict"));
    }

    @Test
    void aSiteAdaptsFromTheEdgeOnWhereItOnlyObserved() throws Exception {
        Watched observing = changed("mode: auto", "mode: observe");
        InForce<Watched> watched = InForce.of(observing);
        try (Streaming adapter = new Streaming(
                AdapterTopology.build(
                        watched,
                        site -> null,
                        Map.of(),
                        AdapterRequests.NO_CANDIDATES,
                        report -> {},
                        (partition, from) -> new WaitingCommands.Found(List.of(), from),
                        new Repeats(),
                        NextOffsets.silent(),
                        OutputGuard.silent(config.topics())),
                StreamsSettings.adapter(config),
                folder.resolve("adapter"))) {
            watched.takeOver(EDGE, new Watched(config, sites));
            assertEquals(List.of(), answers(adapter, EDGE));
            assertEquals(List.of(Outcome.PUBLISHED), answers(adapter, EDGE + WINDOW_MS));
        }
    }

    private List<Outcome> answers(Streaming adapter, long endMs) throws Exception {
        for (AdaptationMessage message : AdapterRequests.adapt(endMs, DRIFTED)) {
            adapter.send(config.topics().adaptationRequests(), WatchedFolder.SITE, message.encode(), endMs);
        }
        return adapter.read(config.topics().adaptationReports()).stream()
                .map(record -> Json.read(record.value(), AdaptationReport.class).outcome())
                .toList();
    }
}
