package io.plumbline.topology.cli;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.topology.adaptation.Outcome;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.DecoderListener;
import io.plumbline.topology.emission.DecoderRecords;
import io.plumbline.topology.emission.DecoderSubscriber;
import io.plumbline.topology.emission.DecoderSubscription;
import io.plumbline.topology.emission.PublishedDecoder;
import io.plumbline.topology.emission.SigningKeys;
import io.plumbline.topology.emission.TrustedKeys;
import io.plumbline.topology.outages.Pages;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.function.LongFunction;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests that a person decides: over a real broker, by the command line, beside a subscriber that follows throughout.
 */
class ProposeApproveIT {

    private static final String SITE = WatchedFolder.SITE;
    private static final long T0 = 1_700_000_000_000L;
    private static final long WINDOW_MS = 10_000;
    private static final int ROWS = WatchedFolder.ROWS * WatchedFolder.RECORDS;
    private static final String REFUSED = "plumbline_decoder_refusals_total{site=\"%s\"}".formatted(SITE);
    private static final String ADAPTED = "plumbline_adaptation_rows_total{site=\"%s\"}".formatted(SITE);

    @TempDir
    private Path folder;

    private BrokerClient client;
    private String broker;
    private int windows;

    @Test
    @SuppressWarnings("try") // monitor, adapter and subscriber are held open, not used
    void nothingIsSwappedBeforeApprovalNorRevertedWhilePinned() throws Exception {
        try (EmbeddedBroker server = EmbeddedBroker.start(folder.resolve("broker"))) {
            broker = server.bootstrapServers();
            client = new BrokerClient(broker);
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            WatchedFolder.createAdapting(folder, broker, "mode: propose");
            SigningKeys keys = SigningKeys.create(folder, "signing");
            Path ada = SigningKeys.create(folder, "ada").key();
            Path file = Files.writeString(
                    folder.resolve(WatchedFolder.FILE),
                    "signing: {key: signing.pem, trusted: signing.pub, approvers: {ada: ada.pub}}\n",
                    StandardOpenOption.APPEND);
            MonitorConfig config = MonitorConfig.load(file);
            Decoder trained = Formats.read(folder.resolve("explainer")).decoder();
            List<PublishedDecoder> followed = new CopyOnWriteArrayList<>();
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.ALL);
                    DecoderSubscriber subscriber = DecoderSubscriber.start(
                            client.properties(),
                            config.topics().decoders(),
                            DecoderSubscription.of(Map.of(SITE, trained))
                                    .signedBy(TrustedKeys.read(List.of(keys.publicKey()))),
                            followed::add)) {
                Pages pages = new Pages(runtime.httpAddress());
                send(WatchedFolder::quiet);
                send(WatchedFolder::drifted);
                send(WatchedFolder::drifted);
                awaitReport(Outcome.PROPOSED);
                assertEquals(ROWS, pages.value(ADAPTED), "rows of the window that was fitted");
                assertEquals(List.of(), followed, "a candidate is nothing to a subscriber");
                String listed = order(0, "list").out();
                assertTrue(
                        listed.matches("(?s).*layer\\.a +0 +trained .*layer\\.a +1 +candidate +waits until.*"), listed);
                // A decoder and a state that somebody else writes, with the right to.
                String decoders = config.topics().decoders();
                client.send(DecoderRecords.of(decoders, SITE, 1, trained.sha256(), trained));
                client.send(DecoderRecords.swapState(decoders, SITE, "{\"version\":9,\"pinned\":true}"));
                BrokerClient.awaitThat(() -> pages.value(REFUSED) == 2, () -> "refused " + pages.value(REFUSED));
                assertEquals(List.of(), followed, "what nobody signed");
                Path looked = folder.resolve("candidate");
                Shell fetched = order(
                        0,
                        "fetch",
                        "--candidate",
                        "--site",
                        SITE,
                        "--explainer",
                        folder.resolve("explainer"),
                        "--out",
                        looked);
                assertTrue(fetched.out().contains("version 1 in"), fetched.out());

                Shell typed = order(2, "approve", "--site", SITE, "--candidate", 1, "--by", "ada");
                assertTrue(typed.err().contains("the command is not signed: expected the key of ada"), typed.err());
                Shell stale = order(2, "approve", "--site", SITE, "--candidate", 2, "--key", ada);
                assertTrue(stale.err().contains("candidate 2 does not wait, candidate 1 does"), stale.err());
                Shell approved = order(0, "approve", "--site", SITE, "--candidate", 1, "--by", "bob", "--key", ada);
                assertTrue(approved.out().contains("in service as version 1, approved by ada"), approved.out());
                BrokerClient.awaitThat(() -> followed.size() == 1, () -> "followed " + followed);
                assertEquals(
                        Formats.read(looked).decoder().sha256(),
                        followed.get(0).decoder().sha256());

                order(0, "pin", "--site", SITE, "--key", ada);
                listed = order(0, "list").out();
                assertTrue(listed.matches("(?s).*layer\\.a +1 +adapted .* pinned .*"), listed);
                send(WatchedFolder::quiet, WatchedFolder::quiet, WatchedFolder::quiet);
                awaitReport(Outcome.HELD);
                assertEquals(1, followed.size(), "pinned");
                assertEquals(
                        2, order(2, "rollback", "--site", SITE, "--key", ada).exitCode());
                order(0, "unpin", "--site", SITE, "--key", ada);
                send(WatchedFolder::quiet, WatchedFolder::quiet);
                BrokerClient.awaitThat(() -> followed.size() == 2, () -> "followed " + followed);
                assertEquals(DecoderKind.TRAINED, followed.get(1).manifest().kind());
                assertEquals(trained.sha256(), followed.get(1).decoder().sha256());
            }
        }
    }

    @Test
    @SuppressWarnings("try") // monitor, adapter and subscribers are held open, not used
    void anotherExplainerServesWhoeverHoldsItUntilItIsRolledBack() throws Exception {
        try (EmbeddedBroker server = EmbeddedBroker.start(folder.resolve("broker"))) {
            broker = server.bootstrapServers();
            client = new BrokerClient(broker);
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            MonitorConfig config = WatchedFolder.createWithCandidate(
                    folder, broker, "mode: propose, rollback: off, minimum_improvement: 0.99");
            String checked = Shell.run("check", "--config", folder.resolve(WatchedFolder.FILE))
                    .out();
            assertTrue(
                    checked.contains("is measured in every window and proposed once it reconstructs better"), checked);
            Decoder trained = Formats.read(folder.resolve("explainer")).decoder();
            Decoder other = Formats.read(folder.resolve("candidate")).decoder();
            DecoderSubscription old = DecoderSubscription.of(Map.of(SITE, trained));
            List<PublishedDecoder> followed = new CopyOnWriteArrayList<>();
            List<String> refused = new CopyOnWriteArrayList<>();
            DecoderListener ofOld = new DecoderListener() {
                @Override
                public void onDecoder(PublishedDecoder decoder) {
                    refused.add("took version " + decoder.version());
                }

                @Override
                public void onRefused(String site, long version, String reason) {
                    refused.add(reason);
                }
            };
            String topic = config.topics().decoders();
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.ALL);
                    DecoderSubscriber holder =
                            DecoderSubscriber.start(client.properties(), topic, old.or(SITE, other), followed::add);
                    DecoderSubscriber without = DecoderSubscriber.start(client.properties(), topic, old, ofOld)) {
                send(WatchedFolder::drifted, WatchedFolder::drifted, WatchedFolder::drifted);
                awaitReport(Outcome.PROPOSED);
                String listed = order(0, "list").out();
                assertTrue(listed.matches("(?s).*layer\\.a +1 +explainer +waits until.*"), listed);
                Shell approved = order(0, "approve", "--site", SITE, "--candidate", 1, "--by", "ada");
                assertTrue(
                        approved.out().contains("the candidate explainer is in service as version 1, approved by ada"),
                        approved.out());
                BrokerClient.awaitThat(
                        () -> followed.size() == 1 && refused.size() == 1, () -> followed + " and " + refused);
                assertEquals(other.sha256(), followed.get(0).decoder().sha256());
                assertEquals(other.sha256(), followed.get(0).manifest().parentSha256());
                assertTrue(refused.get(0).contains("it was made from the trained decoder " + other.sha256()));

                Pages pages = new Pages(runtime.httpAddress());
                send(WatchedFolder::drifted, WatchedFolder::drifted, WatchedFolder::drifted);
                BrokerClient.awaitThat(
                        () -> pages.value("plumbline_fraction_of_variance_unexplained{decoder=\"trained\",site=\"%s\"}"
                                        .formatted(SITE))
                                < 0.02,
                        () -> "judged by the explainer before");
                Shell back = order(0, "rollback", "--site", SITE, "--by", "ada");
                assertTrue(back.out().contains("the explainer before it is in service again"), back.out());
                BrokerClient.awaitThat(() -> followed.size() == 2, () -> "followed " + followed);
                assertEquals(trained.sha256(), followed.get(1).decoder().sha256());
            }
        }
    }

    /** Runs {@code plumbline decoders} and expects this exit code. */
    private Shell order(int exitCode, String command, Object... more) {
        List<Object> arguments = new ArrayList<>(List.of("decoders", command, "--bootstrap-servers", broker));
        arguments.addAll(List.of(more));
        Shell shell = Shell.run(arguments.toArray());
        assertEquals(exitCode, shell.exitCode(), () -> command + ": " + shell.out() + shell.err());
        return shell;
    }

    private void awaitReport(Outcome outcome) {
        var unused = client.await("adaptation-reports", found -> found.stream()
                .map(record -> Json.read(record.value(), AdaptationReport.class).outcome())
                .anyMatch(outcome::equals));
    }

    /** Sends one window after the other; the last is not closed before rows of a later one come. */
    @SafeVarargs
    private void send(LongFunction<Matrix>... traffic) throws Exception {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (LongFunction<Matrix> window : traffic) {
            records.addAll(WatchedFolder.window(T0 + windows * WINDOW_MS, window));
            windows++;
        }
        client.sendAll(records);
    }
}
