package io.plumbline.topology;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.AdapterAnswer;
import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.topology.adaptation.Outcome;
import io.plumbline.topology.adaptation.PublishedCandidates;
import io.plumbline.topology.adaptation.SwapState;
import io.plumbline.topology.adaptation.WaitingCommands;
import io.plumbline.topology.assessment.ActiveDecoders;
import io.plumbline.topology.assessment.AdaptationMessage;
import io.plumbline.topology.assessment.AdaptationMessage.Verb;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.broker.OutputGuard;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.AssembledDecoders;
import io.plumbline.topology.emission.DecoderSigner;
import io.plumbline.topology.emission.PublishedDecoder;
import io.plumbline.topology.emission.SigningKeys;
import io.plumbline.topology.kafka.NextOffsets;
import io.plumbline.topology.panes.InForce;
import io.plumbline.topology.progress.Repeats;
import io.plumbline.topology.report.Json;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.function.LongFunction;
import org.apache.kafka.streams.test.TestRecord;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests who decides what goes into service: the gate, a person, nobody. */
class SwapModesTest {

    private static final String SITE = WatchedFolder.SITE;
    private static final long END = AdapterRequests.START + 10_000;
    private static final long DAY_MS = Duration.ofDays(1).toMillis();
    private static final LongFunction<Matrix> DRIFT = WatchedFolder::drifted;

    @TempDir
    private Path folder;

    private MonitorConfig config;
    private Map<String, WatchedSite> sites;
    private Streaming stream;
    private SigningKeys keys;
    private final List<TestRecord<byte[], byte[]>> published = new ArrayList<>();
    private SwapState told;
    private Decoder replaced;
    private long brokerMs = END;
    private String approvers = "";
    private final List<WaitingCommands.Waiting> ahead = new ArrayList<>();
    private long sent;

    /** Whatever was published, returned, proposed or told: readers who ask for signatures act on it. */
    @AfterEach
    void everyManifestAndStateIsSigned() {
        List<TestRecord<byte[], byte[]>> all = written();
        stream.close();
        for (TestRecord<byte[], byte[]> record : all) {
            boolean isChunk = new String(record.key(), StandardCharsets.UTF_8).matches("[^#]+(#candidate)?#\\d+");
            assertEquals(!isChunk, keys.signed(record), record::toString);
        }
    }

    private void start(String adaptation) throws Exception {
        WatchedFolder.createAdapting(folder, "unused:9092", adaptation);
        keys = SigningKeys.create(folder, "signing");
        Files.writeString(
                folder.resolve(WatchedFolder.FILE),
                "signing: {key: signing.pem, trusted: signing.pub%s}\n".formatted(approvers),
                StandardOpenOption.APPEND);
        config = WatchedFolder.cooling(folder, "0s");
        sites = WatchedFolder.sites(config);
        stream = new Streaming(
                AdapterTopology.build(
                        InForce.of(new Watched(config, sites)),
                        this::inService,
                        Map.of(),
                        new Topic(),
                        report -> {},
                        (partition, from) -> found(from),
                        new Repeats(),
                        NextOffsets.silent(),
                        OutputGuard.silent(config.topics())),
                StreamsSettings.adapter(config),
                folder.resolve("state"));
    }

    /** The candidates of a subscriber that has read everything. */
    private final class Topic implements PublishedCandidates {
        @Override
        public Candidate read(String site, long number) {
            List<PublishedDecoder> all = AssembledDecoders.candidates(written(), site, trained());
            PublishedDecoder newest = all.get(all.size() - 1);
            assertEquals(number, newest.version());
            Decoder other = replaced;
            return (other == null
                            ? newest
                            : new PublishedDecoder(newest.manifest(), other, newest.dtype(), newest.signature()))
                    .asCandidate();
        }

        @Override
        public SwapState lastTold(String site) {
            return told;
        }
    }

    private WaitingCommands.Found found(long from) {
        List<WaitingCommands.Waiting> behind =
                ahead.stream().filter(one -> one.offset() >= from).toList();
        return new WaitingCommands.Found(
                behind, behind.isEmpty() ? from : behind.get(behind.size() - 1).offset() + 1);
    }

    private ActiveDecoders.Active inService(String site) {
        List<PublishedDecoder> all = decoders();
        if (all.isEmpty()) {
            return null;
        }
        PublishedDecoder newest = all.get(all.size() - 1);
        return new ActiveDecoders.Active(newest.decoder(), newest.version());
    }

    @Test
    void proposingIsTheDefaultAndPutsNothingIntoService() throws Exception {
        start("dtype: f32");
        adapt(END);
        AdaptationReport report = report();
        assertEquals(Outcome.PROPOSED, report.outcome());
        assertTrue(report.fvuAfter() < 0.4 * report.fvuBefore(), report.toString());
        assertTrue(
                report.reason().contains("plumbline decoders approve --config FILE --site layer.a --candidate 1"),
                report.reason());
        assertEquals(List.of(), decoders(), "whoever follows the site sees no decoder");
        PublishedDecoder candidate =
                AssembledDecoders.candidates(written(), SITE, trained()).get(0);
        assertEquals(DecoderKind.CANDIDATE, candidate.manifest().kind());
        assertEquals(1, candidate.version());
        assertEquals(1, state().waiting().number());
    }

    @Test
    void anApprovedCandidateGoesIntoServiceAsItIsWithItsLineage() throws Exception {
        start("mode: propose");
        adapt(END);
        report();
        PublishedDecoder candidate =
                AssembledDecoders.candidates(written(), SITE, trained()).get(0);
        command(Verb.APPROVE, 1);
        AdaptationReport report = report();
        assertEquals(Outcome.APPROVED, report.outcome(), report.reason());
        PublishedDecoder active = decoders().get(0);
        assertEquals(1, active.version());
        assertEquals(DecoderKind.ADAPTED, active.manifest().kind());
        assertEquals(candidate.decoder().sha256(), active.decoder().sha256());
        Map<String, String> lineage = active.manifest().lineage();
        assertEquals("1", lineage.get("approved_candidate"));
        assertEquals("ada", lineage.get("approved_by"));
        assertEquals(candidate.manifest().sha256(), lineage.get("candidate_sha256"));
        assertEquals(candidate.manifest().lineage().get("fvu_after"), lineage.get("fvu_after"));
        assertEquals(null, state().waiting());
        command(Verb.APPROVE, 1);
        assertRejected("no candidate waits: candidate 1, the last, was approved");
        revert(END + 10_000);
        assertEquals(Outcome.REVERTED, report().outcome());
    }

    @Test
    void whereApproversHaveKeysOnlyTheirsDecideAndTheNameIsThatOfTheKey() throws Exception {
        approvers = ", approvers: {grace: grace.pub}";
        DecoderSigner grace =
                DecoderSigner.read(SigningKeys.create(folder, "grace").key());
        DecoderSigner mallory =
                DecoderSigner.read(SigningKeys.create(folder, "mallory").key());
        start("mode: propose");
        adapt(END);
        report();
        AdaptationMessage.Command approve = new AdaptationMessage.Command(0, "id", Verb.APPROVE, 1, "somebody");
        send(approve);
        assertRejected("the command is not signed: expected the key of grace, which --key FILE signs by");
        send(approve.signed(mallory.signCommand(SITE, approve.unsigned())));
        assertRejected("no key of signing.approvers signed the command");
        send(approve.signed(grace.signCommand("layer.b", approve.unsigned())));
        assertRejected("no key of signing.approvers signed the command");
        AdaptationMessage.Command other = new AdaptationMessage.Command(0, "id", Verb.PIN, 1, "somebody");
        send(approve.signed(grace.signCommand(SITE, other.unsigned())));
        assertRejected("no key of signing.approvers signed the command");
        assertEquals(List.of(), decoders());
        send(approve.signed(grace.signCommand(SITE, approve.unsigned())));
        assertEquals(Outcome.APPROVED, report().outcome());
        assertEquals(
                "grace", decoders().get(0).manifest().lineage().get("approved_by"), "and not the name that was typed");
    }

    @Test
    void aNewerCandidateTakesThePlaceOfTheOlderAfterTimeToLookAtIt() throws Exception {
        start("mode: propose");
        long hour = Duration.ofHours(1).toMillis();
        adapt(END);
        adapt(END + hour - 1);
        assertEquals(Outcome.WAITING, reports().get(1).outcome());
        adapt(END + hour);
        assertTrue(report().reason().contains("in place of candidate 1"));
        command(Verb.APPROVE, 1);
        assertRejected("candidate 1 does not wait, candidate 2 does");
        command(Verb.APPROVE, 2);
        assertEquals(Outcome.APPROVED, report().outcome());
    }

    @Test
    void aCandidateExpiresAndIsWithdrawnWhenTrafficReturns() throws Exception {
        start("mode: propose, candidate_lifetime: 1d");
        command(Verb.APPROVE, 1);
        assertRejected("no candidate waits: there never was one");
        adapt(END);
        report();
        brokerMs += DAY_MS;
        command(Verb.APPROVE, 1);
        assertRejected("candidate 1 expired at 2023-11-15T22:13:30Z (candidate_lifetime)");
        assertEquals(null, state().waiting());
        adapt(END + 10_000);
        report();
        revert(END + 20_000);
        AdaptationReport report = report();
        assertEquals(Outcome.WITHDRAWN, report.outcome());
        assertEquals(2, report.version());
        command(Verb.APPROVE, 2);
        assertRejected("no candidate waits");
        assertEquals(List.of(), decoders());
    }

    @Test
    void aCandidateThatAnotherProgramReplacedIsNotApproved() throws Exception {
        start("mode: propose");
        adapt(END);
        report();
        replaced = trained();
        command(Verb.APPROVE, 1);
        assertRejected("another program writes there");
        assertEquals(List.of(), decoders());
    }

    @Test
    void aPinnedSiteIsNeitherSwappedNorRevertedUntilItIsUnpinned() throws Exception {
        start("mode: auto");
        adapt(END);
        report();
        command(Verb.PIN, AdaptationMessage.Command.IN_SERVICE);
        assertEquals(Outcome.PINNED, report().outcome());
        assertTrue(state().pinned());
        adapt(END + 10_000);
        AdaptationReport held = report();
        assertEquals(Outcome.HELD, held.outcome());
        assertEquals(0, held.fitRows(), "no refit was spent on it");
        revert(END + 20_000);
        assertEquals(Outcome.HELD, report().outcome());
        revert(END + 30_000);
        assertEquals(List.of(), reports(), "said once");
        command(Verb.ROLL_BACK, 0);
        assertRejected("it is pinned to version 1 (adapted); first: plumbline decoders unpin --site layer.a");
        command(Verb.PIN, 0);
        assertRejected("it is pinned to version 1");
        assertEquals(1, decoders().size());
        command(Verb.UNPIN, 0);
        assertEquals(Outcome.UNPINNED, report().outcome());
        command(Verb.UNPIN, 0);
        assertRejected("it is not pinned");
        revert(END + 40_000);
        assertEquals(Outcome.REVERTED, report().outcome());
        assertEquals(2, decoders().size());
    }

    @Test
    void theTrainedDecoderCanBePinnedAndIsReturnedForIt() throws Exception {
        start("mode: auto");
        adapt(END);
        command(Verb.PIN, 7);
        command(Verb.PIN, 0);
        List<AdaptationReport> reports = reports();
        assertTrue(reports.get(1).reason().contains("version 7 is not in service"), reports::toString);
        assertEquals(Outcome.PINNED, reports.get(2).outcome());
        assertEquals(DecoderKind.TRAINED, decoders().get(1).manifest().kind());
        adapt(END + 10_000);
        assertEquals(Outcome.HELD, report().outcome());
    }

    @Test
    void aSwapThatDidWorseIsRolledBackOnceAndNotTriedAgainAtOnce() throws Exception {
        start("mode: auto, pause_after_rollback: 1h");
        adapt(END);
        report();
        send(new AdaptationMessage.RollBack(END + 20_000, 9, 3, 2, 0.5, 0.25, Double.NaN, Double.NaN));
        assertEquals(List.of(), reports(), "another version is in service");
        send(new AdaptationMessage.RollBack(END + 20_000, 1, 3, 2, 0.5, 0.25, 0.75, 0.5));
        AdaptationReport report = report();
        assertEquals(Outcome.ROLLED_BACK, report.outcome());
        assertEquals(2, report.version());
        assertTrue(
                report.reason()
                        .contains("in 2 of the 3 windows after its swap, FVU 0.5000 against 0.2500 in the last, "
                                + "KL 0.7500 against 0.5000"),
                report.reason());
        assertEquals(trained().sha256(), decoders().get(1).decoder().sha256());
        long hour = Duration.ofHours(1).toMillis();
        adapt(END + 20_000 + hour - 1);
        assertEquals(Outcome.PAUSED, report().outcome());
        adapt(END + 20_000 + hour);
        assertEquals(Outcome.PUBLISHED, report().outcome());
        command(Verb.ROLL_BACK, 0);
        report = report();
        assertEquals(Outcome.ROLLED_BACK, report.outcome());
        assertEquals("ada rolled back version 3; the trained decoder is in service again", report.reason());
        adapt(END + 5 * hour);
        assertEquals(Outcome.PAUSED, report().outcome(), "from the next window that asks");
        adapt(END + 6 * hour);
        assertEquals(Outcome.PUBLISHED, report().outcome());
        revert(END + 6 * hour + 10_000);
        report();
        command(Verb.ROLL_BACK, 0);
        assertRejected("the trained decoder is in service");
    }

    @Test
    void noMoreThanSoManySwapsInAPeriodOfEventTime() throws Exception {
        start("mode: auto, max_swaps: 2 per 1d");
        for (int swap = 0; swap < 2; swap++) {
            adapt(END + swap * 20_000L);
            revert(END + swap * 20_000L + 10_000);
        }
        reports();
        adapt(END + 40_000);
        AdaptationReport limited = report();
        assertEquals(Outcome.LIMITED, limited.outcome());
        assertTrue(limited.reason().contains("2 decoders went into service"), limited.reason());
        adapt(END + DAY_MS);
        assertEquals(Outcome.PUBLISHED, report().outcome());
    }

    @Test
    void whatWasLastToldCountsWhenTheStoreIsNew() throws Exception {
        start("mode: auto");
        told = new SwapState(0, false, true, false, 3, null, List.of(), null, 0, null, null);
        adapt(END);
        assertEquals(Outcome.HELD, report().outcome());
    }

    @Test
    void aCommandForASiteThatDoesNotAdaptIsAnsweredAndAnswersCarryItsId() throws Exception {
        start("mode: observe");
        adapt(END);
        assertEquals(List.of(), reports());
        command(Verb.PIN, 0);
        TestRecord<byte[], byte[]> record =
                stream.read(config.topics().adaptationReports()).get(0);
        assertEquals(
                "id 1",
                new String(
                        record.headers()
                                .lastHeader(AdapterAnswer.COMMAND_HEADER)
                                .value(),
                        StandardCharsets.UTF_8));
        AdaptationReport report = Json.read(record.value(), AdaptationReport.class);
        assertEquals(Outcome.REJECTED, report.outcome());
        assertTrue(report.reason().contains("adaptation: {mode: propose} (or auto)"), report.reason());
    }

    /** Tests a command whose record lies behind two requests that were not read yet. */
    @Test
    void aCommandOvertakesTheRequestsBeforeItAndIsCarriedOutOnce() throws Exception {
        start("mode: auto");
        adapt(END);
        report();
        List<AdaptationMessage> first = AdapterRequests.adapt(END + 10_000, DRIFT);
        List<AdaptationMessage> second = AdapterRequests.adapt(END + 20_000, DRIFT);
        AdaptationMessage.Command rollback = new AdaptationMessage.Command(0, "overtaking", Verb.ROLL_BACK, 0, "ada");
        ahead.add(new WaitingCommands.Waiting(sent + first.size() + second.size(), SITE, rollback, brokerMs));
        stream.pass(Duration.ofSeconds(1));
        AdaptationReport report = report();
        assertEquals(Outcome.ROLLED_BACK, report.outcome(), report.reason());
        assertEquals(2, report.version());
        stream.pass(Duration.ofSeconds(1));
        first.forEach(this::send);
        second.forEach(this::send);
        assertEquals(
                List.of(Outcome.PAUSED, Outcome.PAUSED),
                reports().stream().map(AdaptationReport::outcome).toList());
        send(rollback);
        assertEquals(List.of(), reports(), "it was answered when it overtook");
        command(Verb.ROLL_BACK, 0);
        assertRejected("the trained decoder is in service");
    }

    @Test
    void whatWasFittedWhileACommandCameGoesIntoServiceOnlyIfTheCommandLeavesItTo() throws Exception {
        start("mode: auto");
        AdaptationMessage.Command pin =
                new AdaptationMessage.Command(0, "overtaking", Verb.PIN, AdaptationMessage.Command.IN_SERVICE, "ada");
        ahead.add(new WaitingCommands.Waiting(1_000, SITE, pin, brokerMs));
        adapt(END);
        List<AdaptationReport> reports = reports();
        assertEquals(
                List.of(Outcome.PINNED, Outcome.HELD),
                reports.stream().map(AdaptationReport::outcome).toList(),
                reports::toString);
        assertTrue(reports.get(1).reason().contains("a command was carried out while this was fitted"));
        assertTrue(reports.get(1).fitRows() > 0, "it was fitted");
        assertEquals(List.of(), decoders());
        assertTrue(state().pinned());
    }

    private int commands;

    private void command(Verb verb, long version) {
        send(new AdaptationMessage.Command(0, "id " + ++commands, verb, version, "ada"));
    }

    private void adapt(long endMs) {
        AdapterRequests.adapt(endMs, DRIFT).forEach(this::send);
    }

    private void revert(long endMs) {
        send(new AdaptationMessage.Revert(endMs));
    }

    private void send(AdaptationMessage message) {
        stream.send(config.topics().adaptationRequests(), SITE, message.encode(), brokerMs);
        sent++;
    }

    private void assertRejected(String reason) {
        AdaptationReport report = report();
        assertEquals(Outcome.REJECTED, report.outcome(), report.reason());
        assertTrue(report.reason().contains(reason), report.reason());
    }

    private AdaptationReport report() {
        List<AdaptationReport> reports = reports();
        assertEquals(1, reports.size(), reports::toString);
        return reports.get(0);
    }

    private List<AdaptationReport> reports() {
        return stream.read(config.topics().adaptationReports()).stream()
                .map(record -> Json.read(record.value(), AdaptationReport.class))
                .toList();
    }

    private List<TestRecord<byte[], byte[]>> written() {
        published.addAll(stream.read(config.topics().decoders()));
        return published;
    }

    /** Returns the state as the adapter last told it. */
    private SwapState state() {
        List<SwapState> states = written().stream()
                .filter(record -> new String(record.key(), StandardCharsets.UTF_8).equals(SITE + "#swaps#0"))
                .map(record -> SwapState.decode(record.value()))
                .toList();
        return states.get(states.size() - 1);
    }

    private List<PublishedDecoder> decoders() {
        return AssembledDecoders.of(written(), SITE, trained());
    }

    private Decoder trained() {
        return sites.get(SITE).explainer().decoder();
    }
}
