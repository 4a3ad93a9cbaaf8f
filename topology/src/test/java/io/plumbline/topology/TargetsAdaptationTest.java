package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.adaptation.AdaptationListener;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.topology.adaptation.Outcome;
import io.plumbline.topology.assessment.ActiveDecoders;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.assessment.WatchedTargets;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.broker.Topics;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.AssembledDecoders;
import io.plumbline.topology.emission.PublishedDecoder;
import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.windows.WindowListener;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The blocks of a cross-layer transcoder are refitted and swapped together: all or none. */
class TargetsAdaptationTest {

    private static final long T0 = 1_700_000_000_000L;
    private static final long SIZE = 10_000;

    @TempDir
    private Path folder;

    private MonitorConfig config;
    private WatchedTargets targets;
    private Streaming monitor;
    private Streaming adapter;
    private long windows;

    /** The decoders that the monitor takes to be in service. */
    private final Map<String, ActiveDecoders.Active> served = new HashMap<>();

    @BeforeEach
    void start() throws IOException {
        start("mode: auto, max_norm_ratio: 10");
    }

    private void start(String adaptation) throws IOException {
        start(adaptation, "0s");
    }

    private void start(String adaptation, String cooldown) throws IOException {
        TargetsFolder.write(folder);
        String yaml = TargetsFolder.yaml("unused:9092", adaptation).replace("cooldown: 0s", "cooldown: " + cooldown);
        config = MonitorConfig.parse(yaml, TargetsFolder.FILE, folder);
        Map<String, WatchedSite> sites = WatchedSite.readAll(config.sites().values());
        targets = Objects.requireNonNull(WatchedTargets.of(sites).get(TargetsFolder.SITE));
        monitor = new Streaming(
                MonitorTopology.build(
                        config,
                        sites,
                        Topics.Prepared.of(config.topics().activations(), 1, 1_000_000),
                        served::get,
                        new MonitorTopology.Listeners(
                                new IngestListener() {}, new WindowListener() {}, new DriftListener() {})),
                StreamsSettings.monitor(config),
                folder.resolve("monitor"));
        adapter = new Streaming(
                AdapterTopology.build(
                        config, sites, site -> null, AdapterRequests.NO_CANDIDATES, new AdaptationListener() {
                            @Override
                            public void onAdaptation(AdaptationReport report) {}
                        }),
                StreamsSettings.adapter(config),
                folder.resolve("adapter"));
    }

    @AfterEach
    void stop() {
        monitor.close();
        adapter.close();
    }

    @Test
    void oneVersionHoldsTheRefittedBlockAndTheOthersAsTheyWere() throws IOException {
        window(Set.of(1));
        window(Set.of());
        PublishedDecoder published = published().get(0);
        assertEquals(1, published.version());
        assertEquals(DecoderKind.ADAPTED, published.manifest().kind());
        List<Decoder> blocks = targets.joint().split(published.decoder());
        assertEquals(trained(0), blocks.get(0));
        assertNotEquals(trained(1), blocks.get(1));
        assertEquals(trained(2), blocks.get(2));
        Map<String, String> lineage = published.manifest().lineage();
        assertEquals("targets.1", lineage.get("refitted"));
        assertEquals("targets.0,targets.1,targets.2", lineage.get("targets"));
        assertNotNull(lineage.get("targets.1.candidate"));
        assertNull(lineage.get("targets.0.candidate"));
        Map<String, AdaptationReport> reports = reports();
        AdaptationReport all = report(reports, "clt");
        assertEquals(Outcome.PUBLISHED, all.outcome());
        assertEquals(1, all.version());
        assertTrue(all.reason().endsWith("; unchanged: targets.0, targets.2"), all.reason());
        AdaptationReport block = report(reports, "clt/targets.1");
        assertEquals(Outcome.PUBLISHED, block.outcome());
        assertEquals(1, block.version());
        assertTrue(Objects.requireNonNull(block.fvuAfter()) < Objects.requireNonNull(block.fvuBefore()));
        assertFalse(reports.containsKey("clt/targets.0"), reports.keySet().toString());
    }

    @Test
    void twoDriftedBlocksAreRefittedInOneVersion() throws IOException {
        for (int i = 0; i < 4; i++) {
            window(Set.of(0, 1));
        }
        List<PublishedDecoder> published = published();
        assertFalse(published.isEmpty(), () -> reports().toString());
        assertEquals(
                "targets.0,targets.1", published.get(0).manifest().lineage().get("refitted"));
    }

    @Test
    void aBlockThatItsGateRefusesKeepsAllFromBeingSwapped() throws IOException {
        window(Set.of(1, TargetsFolder.STUBBORN));
        window(Set.of());
        assertEquals(List.of(), published());
        Map<String, AdaptationReport> reports = reports();
        AdaptationReport all = report(reports, "clt");
        assertEquals(Outcome.REFUSED, all.outcome(), all.reason());
        assertTrue(all.reason().startsWith("no target is swapped, since targets.2 is refused: "), all.reason());
        AdaptationReport passed = report(reports, "clt/targets.1");
        assertEquals(Outcome.REFUSED, passed.outcome());
        assertTrue(passed.reason().startsWith("its own gate lets it pass, and nothing is swapped"), passed.reason());
        assertEquals(0, passed.version());
    }

    @Test
    void theTrainedDecodersReturnWhenNoBlockIsDrifted() throws IOException {
        window(Set.of(1));
        window(Set.of(0));
        window(Set.of());
        window(Set.of());
        List<PublishedDecoder> published = published();
        assertEquals(3, published.size());
        assertEquals("targets.0", published.get(1).manifest().lineage().get("refitted"));
        List<Decoder> second = targets.joint().split(published.get(1).decoder());
        assertEquals(
                targets.joint().split(published.get(0).decoder()).get(1), second.get(1), "the block of before stays");
        assertEquals(DecoderKind.TRAINED, published.get(2).manifest().kind());
        assertEquals(targets.trained(), published.get(2).decoder());
    }

    @Test
    void aDecoderOfOneTargetThatDoesWorseTakesAllOutOfService() {
        Matrix spoiled = trained(1).weights().toMatrix();
        for (int i = 0; i < spoiled.values().length; i++) {
            spoiled.values()[i] = -spoiled.values()[i];
        }
        served.put(
                "clt/targets.1",
                new ActiveDecoders.Active(new Decoder(spoiled, trained(1).bias()), 1));
        for (int i = 0; i < 4; i++) {
            window(Set.of(1));
        }
        List<PublishedDecoder> published = published();
        assertEquals(
                List.of(DecoderKind.ADAPTED, DecoderKind.TRAINED),
                published.stream().map(one -> one.manifest().kind()).toList());
        assertEquals(targets.trained(), published.get(1).decoder());
        assertEquals(Outcome.ROLLED_BACK, report(reports(), "clt").outcome());
    }

    @Test
    void aPinOfTheSiteHoldsAllItsBlocks() {
        byte[] pin = new AdaptationMessage.Command(T0, "1", AdaptationMessage.Verb.PIN, -1, "me").encode();
        adapter.send(config.topics().adaptationRequests(), TargetsFolder.SITE, pin, T0);
        window(Set.of(1));
        window(Set.of());
        assertEquals(List.of(), published());
        AdaptationReport held = report(reports(), "clt");
        assertEquals(Outcome.HELD, held.outcome());
        assertEquals(WatchedFolder.ROWS * WatchedFolder.RECORDS, held.pooledRows());
    }

    @Test
    void aCandidateOfAllBlocksWaitsInProposeMode() throws IOException {
        stop();
        start("mode: propose, max_norm_ratio: 10");
        window(Set.of(1));
        window(Set.of());
        List<TestRecord<byte[], byte[]>> records = adapter.read(config.topics().decoders());
        assertEquals(List.of(), AssembledDecoders.of(records, TargetsFolder.SITE, targets.trained()));
        List<PublishedDecoder> candidates =
                AssembledDecoders.candidates(records, TargetsFolder.SITE, targets.trained());
        assertEquals(1, candidates.size());
        assertEquals(Outcome.PROPOSED, report(reports(), "clt/targets.1").outcome());
    }

    @Test
    void aBlockThatIsUnchangedTravelsUnrounded() throws IOException {
        stop();
        start("mode: auto, max_norm_ratio: 10, dtype: bf16");
        window(Set.of(1));
        window(Set.of());
        List<Decoder> blocks = targets.joint().split(published().get(0).decoder());
        assertEquals(trained(2), blocks.get(2));
        assertNotEquals(trained(1), blocks.get(1));
    }

    @Test
    void targetsThatWereRefittedRestTogetherAndTheirRowsArePooled() throws IOException {
        stop();
        start("mode: auto, max_norm_ratio: 10", "1h");
        for (int i = 0; i < 5; i++) {
            window(Set.of(0, 1));
        }
        AdaptationReport rests = report(reports(), "clt");
        assertEquals(Outcome.POOLED, rests.outcome(), rests.reason());
        String expected = "targets.%d: the rows are pooled; the last refit is of the window up to ";
        assertTrue(rests.reason().startsWith(expected.formatted(0)), rests.reason());
        assertTrue(rests.reason().contains("; " + expected.formatted(1)), rests.reason());
        assertEquals(T0 + 3 * SIZE, rests.windowStartMs());
        assertEquals(WatchedFolder.ROWS * WatchedFolder.RECORDS, rests.rows());
        assertEquals(2L * rests.pooledWindows() * rests.rows(), rests.pooledRows());
    }

    @Test
    void whatNamesNoTargetThatIsWatchedIsNotFitted() throws IOException {
        byte[] alone = asking(null).encode();
        adapter.send(config.topics().adaptationRequests(), "clt/targets.1", alone, T0);
        assertEquals(Map.of(), reports());
        adapter.send(config.topics().adaptationRequests(), TargetsFolder.SITE, alone, T0);
        assertEquals(
                "the request names none of the target layers that are watched here",
                report(reports(), "clt").reason());
        adapter.send(
                config.topics().adaptationRequests(),
                TargetsFolder.SITE,
                asking(7).encode(),
                T0);
        assertEquals(List.of(), published());
        AdaptationReport failed = report(reports(), "clt");
        assertEquals(Outcome.FAILED, failed.outcome());
        assertEquals("target layer 7 is not watched here", failed.reason());
        assertEquals(T0 - SIZE, failed.windowStartMs());
        assertEquals(1, failed.rows());
    }

    private static AdaptationMessage asking(Integer target) {
        return new AdaptationMessage.Adapt(T0, T0 - SIZE, List.of(new AdaptationMessage.BlockRows(target, 1, 1, 0)));
    }

    /** Sends the next window to the monitor, and to the adapter what the monitor asks for. */
    private void window(Set<Integer> drifted) {
        for (ProducerRecord<byte[], byte[]> record : TargetsFolder.window(T0 + windows * SIZE, drifted)) {
            monitor.send(record.topic(), record.key(), record.value(), record.timestamp());
        }
        windows++;
        for (TestRecord<byte[], byte[]> request : monitor.read(config.topics().adaptationRequests())) {
            adapter.send(config.topics().adaptationRequests(), request.key(), request.value(), request.timestamp());
        }
    }

    private List<PublishedDecoder> published() {
        return AssembledDecoders.of(adapter.read(config.topics().decoders()), TargetsFolder.SITE, targets.trained());
    }

    private Decoder trained(int block) {
        return targets.blocks().get(block).explainer().decoder();
    }

    /** Returns the newest report under each key. */
    private Map<String, AdaptationReport> reports() {
        Map<String, AdaptationReport> reports = new TreeMap<>();
        for (TestRecord<byte[], byte[]> report : adapter.read(config.topics().adaptationReports())) {
            reports.put(
                    new String(report.key(), StandardCharsets.UTF_8),
                    Json.read(report.value(), AdaptationReport.class));
        }
        return reports;
    }

    private static AdaptationReport report(Map<String, AdaptationReport> reports, String site) {
        return Objects.requireNonNull(reports.get(site), () -> site + " of " + reports.keySet());
    }
}
