package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.adaptation.BehaviourJudge;
import io.plumbline.causal.BehaviourProbe;
import io.plumbline.causal.WindowBehaviour;
import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.topology.adaptation.Outcome;
import io.plumbline.topology.adaptation.PublishedCandidates;
import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.assessment.ActiveDecoders;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.assessment.AdaptationMessage.Verb;
import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.broker.OutputGuard;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.broker.Topics;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.AssembledDecoders;
import io.plumbline.topology.emission.PublishedDecoder;
import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.kafka.NextOffsets;
import io.plumbline.topology.metrics.ConstantProbes;
import io.plumbline.topology.panes.InForce;
import io.plumbline.topology.progress.Repeats;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.windows.SourceWatch;
import io.plumbline.topology.windows.WindowListener;
import io.plumbline.topology.windows.WindowWorkers;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.function.LongFunction;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Takes a second explainer all its way: measured, proposed, approved, judged by its own baseline, rolled back. */
class CandidateTopologyTest {

    private static final ObjectMapper JSON = new ObjectMapper();
    private static final String SITE = WatchedFolder.SITE;
    private static final long T0 = 1_700_000_000_000L;
    private static final long WINDOW_MS = 10_000;

    @TempDir
    private Path folder;

    private MonitorConfig config;
    private WatchedSite site;
    private Streaming monitor;
    private Streaming adapter;
    private final List<TestRecord<byte[], byte[]>> written = new ArrayList<>();
    private @Nullable PublishedDecoder served;
    private @Nullable SwapState told;
    private long windowMs = T0;
    private int commands;

    @AfterEach
    void stop() {
        monitor.close();
        adapter.close();
    }

    private void start(String adaptation) throws IOException {
        start(WatchedFolder.createWithCandidate(folder, "unused:9092", adaptation), Map.of());
    }

    /** @param probes of the names under which explainers find them */
    private void start(MonitorConfig configured, Map<String, BehaviourProbe> probes) throws IOException {
        config = configured;
        Map<String, WatchedSite> sites = WatchedFolder.sites(config);
        site = Objects.requireNonNull(sites.get(SITE));
        monitor = new Streaming(
                MonitorTopology.build(
                        InForce.of(new Watched(config, sites)),
                        Topics.Prepared.of(config.topics().activations(), 1, 1_000_000),
                        this::inService,
                        new MonitorTopology.Listeners(
                                new IngestListener() {}, new WindowListener() {}, new DriftListener() {}),
                        new Repeats(),
                        NextOffsets.silent(),
                        topic -> SourceWatch.ALWAYS_READ,
                        WindowWorkers.none(),
                        WatchedSite::projections,
                        probes,
                        OutputGuard.silent(config.topics())),
                StreamsSettings.monitor(config),
                folder.resolve("monitor"));
        adapter = new Streaming(
                AdapterTopology.build(config, sites, this::inService, new Topic(), report -> {}),
                StreamsSettings.adapter(config),
                folder.resolve("adapter"));
    }

    /** The candidates of a subscriber that has read everything. */
    private final class Topic implements PublishedCandidates {
        @Override
        public Candidate read(String name, long number) {
            published();
            List<PublishedDecoder> all = AssembledDecoders.candidates(written, SITE, List.of(trained(), candidate()));
            PublishedDecoder newest = all.get(all.size() - 1);
            assertEquals(number, newest.version());
            return newest.asCandidate();
        }

        @Override
        public @Nullable SwapState lastTold(String name) {
            return told;
        }
    }

    private ActiveDecoders.@Nullable Active inService(String name) {
        List<PublishedDecoder> all = published();
        if (all.isEmpty()) {
            return null;
        }
        PublishedDecoder newest = all.get(all.size() - 1);
        return new ActiveDecoders.Active(
                newest.decoder(), newest.version(), null, newest.manifest().parentSha256());
    }

    private List<PublishedDecoder> published() {
        written.addAll(adapter.read(config.topics().decoders()));
        return AssembledDecoders.of(written, SITE, List.of(trained(), candidate()));
    }

    private Decoder trained() {
        return site.explainer().decoder();
    }

    private Decoder candidate() {
        return Objects.requireNonNull(site.candidate()).explainer().decoder();
    }

    /** Lets a window pass, brings its requests to the adapter, and returns its report. */
    private JsonNode window(LongFunction<Matrix> rows) throws IOException {
        // The first record of the next window closes this one.
        for (int i = windowMs == T0 ? 0 : 1; i <= WatchedFolder.RECORDS; i++) {
            long time = windowMs + i * WINDOW_MS / WatchedFolder.RECORDS;
            monitor.send(config.topics().activations(), SITE, ActivationRecords.blob(rows.apply(time)), time);
        }
        windowMs += WINDOW_MS;
        for (TestRecord<byte[], byte[]> request : monitor.read(config.topics().adaptationRequests())) {
            adapter.send(
                    config.topics().adaptationRequests(),
                    request.key(),
                    request.value(),
                    request.getRecordTime().toEpochMilli());
        }
        List<TestRecord<byte[], byte[]>> reports = monitor.read(config.topics().windowReports());
        assertEquals(1, reports.size());
        return JSON.readTree(reports.get(0).value());
    }

    private List<AdaptationReport> answers() {
        return adapter.read(config.topics().adaptationReports()).stream()
                .map(record -> Json.read(record.value(), AdaptationReport.class))
                .toList();
    }

    private AdaptationReport command(Verb verb, long version) {
        answers();
        AdaptationMessage command = new AdaptationMessage.Command(windowMs, "c" + ++commands, verb, version, "ada");
        adapter.send(config.topics().adaptationRequests(), SITE, command.encode(), windowMs);
        List<AdaptationReport> answers = answers();
        assertEquals(1, answers.size(), answers::toString);
        return answers.get(0);
    }

    private SwapState state() {
        written.addAll(adapter.read(config.topics().decoders()));
        return written.stream()
                .filter(record -> new String(record.key(), StandardCharsets.UTF_8).contains("#swaps"))
                .map(record -> SwapState.decode(record.value()))
                .reduce(SwapState.INITIAL, (before, after) -> after);
    }

    private AdaptationReport proposed() throws IOException {
        window(WatchedFolder::drifted);
        window(WatchedFolder::drifted);
        return answers().stream()
                .filter(answer ->
                        answer.outcome() == Outcome.PROPOSED && answer.reason().contains("candidate explainer"))
                .findFirst()
                .orElseThrow();
    }

    @Test
    void aCandidateIsMeasuredOnTheRowsOfTheExplainerInService() throws IOException {
        start("mode: observe");
        JsonNode first = window(WatchedFolder::drifted).get("candidate");
        assertEquals("better", first.get("standing").asText());
        assertEquals(
                WatchedFolder.ROWS * WatchedFolder.RECORDS, first.get("rows").asInt());
        assertEquals(candidate().sha256(), first.get("explainer_sha256").asText());
        assertTrue(first.get("fvu").asDouble() < 0.02, first.toString());
        assertTrue(first.get("fvu_in_service").asDouble() > 0.5, first.toString());
        assertTrue(
                first.get("fvu_half_width").asDouble()
                        < first.get("fvu_in_service").asDouble() / 2,
                first.toString());
        assertEquals(1, first.get("windows_better").asInt());
        window(WatchedFolder::drifted);
        JsonNode third = window(WatchedFolder::drifted).get("candidate");
        assertEquals(3, third.get("windows_better").asInt());
        assertEquals(false, third.get("proposes").asBoolean(), "the site only observes");
    }

    @Test
    void theRestOfTheModelIsRunBehindBothExplainers() throws IOException {
        WatchedFolder.createWithCandidate(folder, "unused:9092", "mode: observe");
        Path file = folder.resolve(WatchedFolder.FILE);
        String yaml = Files.readString(file) + "      downstream: {head: head.onnx, gate: off}\n";
        MonitorConfig withHead = MonitorConfig.parse(yaml, WatchedFolder.FILE, folder);
        List<String> asked = new ArrayList<>();
        BehaviourProbe constant = new ConstantProbes()
                .open(
                        Objects.requireNonNull(withHead.sites().get(SITE).downstream()),
                        WatchedFolder.sites(withHead).get(SITE).explainer());
        start(
                withHead,
                Map.of(
                        SITE,
                        counting(asked, "trained", constant),
                        SITE + "#candidate",
                        counting(asked, "candidate", constant)));
        JsonNode report = window(WatchedFolder::drifted);
        assertEquals(List.of("candidate", "trained"), asked.stream().sorted().toList());
        assertEquals(
                0.5,
                report.get("candidate").get("downstream").get("kl").get("value").asDouble(),
                report::toString);
    }

    /** Says that it was asked, and answers as another one does. */
    private static BehaviourProbe counting(List<String> asked, String name, BehaviourProbe answers) {
        return new BehaviourProbe() {
            @Override
            public WindowBehaviour measure(List<byte[]> requests, @Nullable Decoder active) {
                asked.add(name);
                return answers.measure(requests, active);
            }

            @Override
            public BehaviourJudge judge(List<byte[]> heldOut, @Nullable List<byte[]> choosing, List<byte[]> normal) {
                return answers.judge(heldOut, choosing, normal);
            }

            @Override
            public void close() {}
        };
    }

    @Test
    void aPersonDecidesAboutAnExplainerWhereDecodersSwapByThemselves() throws IOException {
        start("mode: auto, minimum_improvement: 0.99");
        AdaptationReport report = proposed();
        assertEquals(List.of(), published());
        assertEquals(
                report.version(), Objects.requireNonNull(state().forApproval()).number());
        command(Verb.APPROVE, report.version() + 1);
        assertEquals(List.of(), published());
        assertEquals(Outcome.APPROVED, command(Verb.APPROVE, report.version()).outcome());
    }

    @Test
    void anApprovedCandidateServesAndIsJudgedByItsOwnBaseline() throws IOException {
        start("mode: propose");
        AdaptationReport report = proposed();
        assertTrue(
                report.reason().contains("plumbline decoders approve --config FILE --site layer.a --candidate"),
                report.reason());
        assertEquals(List.of(), published(), "nothing is in service before a person said so");
        long refused = answers().size();
        window(WatchedFolder::drifted);
        assertEquals(
                0,
                answers().stream()
                        .filter(answer -> answer.reason().contains("candidate explainer"))
                        .count(),
                "it waits already, " + refused);
        AdaptationReport approved = command(Verb.APPROVE, report.version());
        assertEquals(Outcome.APPROVED, approved.outcome(), approved.reason());
        PublishedDecoder serving = published().get(0);
        assertEquals(candidate().sha256(), serving.decoder().sha256());
        assertEquals(candidate().sha256(), serving.manifest().parentSha256(), "names the encoder it belongs to");
        assertEquals(DecoderKind.TRAINED, serving.manifest().kind());
        assertEquals("ada", serving.manifest().lineage().get("approved_by"));
        assertEquals(trained().sha256(), serving.manifest().lineage().get("replaces_explainer"));
        assertEquals(candidate().sha256(), state().explainerSha256());

        JsonNode after = window(WatchedFolder::drifted);
        assertEquals("aligned", after.get("verdict").asText(), after.toString());
        assertTrue(after.get("reconstruction_fvu_trained").asDouble() < 0.02, after.toString());
        JsonNode before = after.get("candidate");
        assertEquals("trained", before.get("explainer").asText());
        assertEquals("worse", before.get("standing").asText());
        assertEquals(false, before.get("proposes").asBoolean());
    }

    @Test
    void aRollbackBringsTheExplainerBeforeBackWithItsBaseline() throws IOException {
        start("mode: propose");
        command(Verb.APPROVE, proposed().version());
        AdaptationReport report = command(Verb.ROLL_BACK, AdaptationMessage.Command.IN_SERVICE);
        assertEquals(Outcome.ROLLED_BACK, report.outcome(), report.reason());
        PublishedDecoder serving = published().get(1);
        assertEquals(trained().sha256(), serving.decoder().sha256());
        assertEquals(trained().sha256(), serving.manifest().parentSha256());
        assertEquals(null, state().explainerSha256());
        JsonNode after = window(WatchedFolder::drifted);
        assertEquals("drifted", after.get("verdict").asText());
        assertEquals("candidate", after.get("candidate").get("explainer").asText());
        assertEquals(1, after.get("candidate").get("windows").asInt(), "what was counted before is of another version");
    }

    @Test
    void anAdapterThatLostItsStateFindsOnTheTopicWhichExplainerServes() throws IOException {
        start("mode: propose");
        command(Verb.APPROVE, proposed().version());
        List<PublishedDecoder> before = published();
        adapter.close();
        adapter = new Streaming(
                AdapterTopology.build(config, WatchedFolder.sites(config), this::served, new Topic(), report -> {}),
                StreamsSettings.adapter(config),
                folder.resolve("adapter-anew"));
        served = before.get(0);
        AdaptationReport report = command(Verb.ROLL_BACK, AdaptationMessage.Command.IN_SERVICE);
        assertEquals(Outcome.ROLLED_BACK, report.outcome(), report.reason());
        assertEquals(2, report.version());
        assertEquals(trained().sha256(), published().get(1).decoder().sha256());
    }

    @Test
    void anAdapterThatDoesNotKnowTheExplainerInServiceTouchesNothing() throws IOException {
        start("mode: propose");
        command(Verb.APPROVE, proposed().version());
        told = state();
        adapter.close();
        WatchedFolder.createAdapting(folder, "unused:9092", "mode: auto");
        config = WatchedFolder.cooling(folder, "0s");
        adapter = new Streaming(
                AdapterTopology.build(config, WatchedFolder.sites(config), name -> null, new Topic(), report -> {}),
                StreamsSettings.adapter(config),
                folder.resolve("adapter-without"));
        AdaptationReport report = command(Verb.ROLL_BACK, AdaptationMessage.Command.IN_SERVICE);
        assertEquals(Outcome.REJECTED, report.outcome());
        assertTrue(report.reason().contains(candidate().sha256() + ", which is not configured here"), report.reason());
        for (AdaptationMessage message : AdapterRequests.adapt(windowMs, WatchedFolder::quiet)) {
            adapter.send(config.topics().adaptationRequests(), SITE, message.encode(), windowMs);
        }
        assertEquals(Outcome.FAILED, answers().get(0).outcome());
        assertEquals(List.of(), adapter.read(config.topics().decoders()));
    }

    @Test
    void aProposalThatWasMeasuredBesideAnotherDecoderIsPassedOver() throws IOException {
        start("mode: propose");
        for (long version : new long[] {3, 0}) {
            byte[] propose =
                    new AdaptationMessage.Propose(windowMs, version, candidate().sha256(), 5, 3, 0.5, 0.25).encode();
            adapter.send(config.topics().adaptationRequests(), SITE, propose, windowMs);
            assertEquals(version == 0 ? 1 : 0, answers().size());
        }
        byte[] forged = new AdaptationMessage.Propose(windowMs, 0, "0".repeat(64), 5, 3, 0.5, 0.25).encode();
        adapter.send(config.topics().adaptationRequests(), SITE, forged, windowMs);
        assertEquals(List.of(), answers(), "it is not the candidate that is configured here");
    }

    @Test
    void aWaitingCandidateThatIsNoLongerConfiguredGivesItsPlaceToTheNewOne() throws IOException {
        start("mode: propose");
        SwapState.Waiting before = new SwapState.Waiting(4, T0, 0, Long.MAX_VALUE, "ab".repeat(32));
        told = new SwapState(0, false, false, false, 4, null, List.of(), null, 0, before, null);
        AdaptationReport other = command(Verb.APPROVE, 4);
        assertEquals(Outcome.REJECTED, other.outcome());
        assertTrue(other.reason().contains("the one that is configured here is another"), other.reason());
        AdaptationReport report = proposed();
        assertEquals(
                report.version(), Objects.requireNonNull(state().explainer()).number());
        assertEquals(
                candidate().sha256(),
                Objects.requireNonNull(state().explainer()).decoderSha256());
    }

    private ActiveDecoders.Active served(String name) {
        PublishedDecoder one = Objects.requireNonNull(served);
        return new ActiveDecoders.Active(
                one.decoder(), one.version(), null, one.manifest().parentSha256());
    }

    @Test
    void aCandidateThatDoesWorseAfterItsSwapIsRolledBackByItself() throws IOException {
        start("mode: propose, rollback: 2 of 5");
        command(Verb.APPROVE, proposed().version());
        window(WatchedFolder::quiet);
        window(WatchedFolder::quiet);
        assertEquals(1, published().size(), "one window of two: the first begins with a request of the drift");
        window(WatchedFolder::quiet);
        assertEquals(2, published().size());
        assertEquals(trained().sha256(), published().get(1).decoder().sha256());
        AdaptationReport report = answers().stream()
                .filter(answer -> answer.outcome() == Outcome.ROLLED_BACK)
                .findFirst()
                .orElseThrow();
        assertTrue(
                report.reason()
                        .startsWith("version 1 reconstructed significantly worse than the explainer before in 2 of the"
                                + " 3 windows after its swap"),
                report.reason());
        assertTrue(report.reason().contains("; the explainer before it returns"), report.reason());
    }

    @Test
    void aDriftUnderTheCandidateRefitsTheCandidatesDecoder() throws IOException {
        start("mode: propose, rollback: off");
        command(Verb.APPROVE, proposed().version());
        int swaps = published().size();
        answers();
        List<AdaptationReport> refits = List.of();
        for (int i = 0; i < 6 && refits.isEmpty(); i++) {
            window(WatchedFolder::quiet);
            refits = answers().stream()
                    .filter(answer -> answer.outcome() == Outcome.PROPOSED)
                    .toList();
        }
        command(Verb.APPROVE, refits.get(0).version());
        PublishedDecoder refitted = published().get(swaps);
        assertEquals(DecoderKind.ADAPTED, refitted.manifest().kind());
        assertEquals(candidate().sha256(), refitted.manifest().parentSha256());
        assertNotEquals(candidate().sha256(), refitted.decoder().sha256());
        assertEquals(candidate().sha256(), state().explainerSha256(), "the explainer stays");
        command(Verb.ROLL_BACK, AdaptationMessage.Command.IN_SERVICE);
        assertEquals(candidate().sha256(), published().get(swaps + 1).decoder().sha256(), "first the refit is undone");
        command(Verb.ROLL_BACK, AdaptationMessage.Command.IN_SERVICE);
        assertEquals(trained().sha256(), published().get(swaps + 2).decoder().sha256(), "then the explainer");
    }
}
