package io.plumbline.topology.outages;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.baseline.Baseline;
import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.WatchedEncoder;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.Outcome;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.cli.Shell;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.io.StringWriter;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a person's command behind three requests to refit another site of the partition, while the first one runs. */
class OvertakingCommandIT {

    private static final long END = 1_700_000_010_000L;
    private static final String SLOW = "layer.b";

    @TempDir
    private Path folder;

    @Test
    void aRollbackSaysWhatItWaitsForAndComesBeforeTheRefitsThatWait() throws Exception {
        CountDownLatch released = new CountDownLatch(1);
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of());
            MonitorConfig config = WatchedFolder.create(
                    folder, broker.bootstrapServers(), WatchedFolder.WINDOW, "", WatchedFolder.SITE, SLOW);
            Map<String, WatchedSite> sites = new LinkedHashMap<>(WatchedFolder.sites(config));
            sites.put(SLOW, slow(config.sites().get(SLOW), released));
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, sites, Role.ADAPTER)) {
                Pages pages = new Pages(runtime.httpAddress());
                BrokerClient.awaitThat(() -> pages.status("/readyz") == 200, () -> pages.body("/readyz"));
                client.send(adapt(WatchedFolder.SITE, END));
                assertEquals(
                        Outcome.PUBLISHED, reports(client, config, 1).get(0).outcome());
                for (int request = 0; request < 3; request++) {
                    client.send(adapt(SLOW, END + 10_000L * request));
                }
                StringWriter err = new StringWriter();
                CompletableFuture<Shell> rollback = CompletableFuture.supplyAsync(() -> Shell.run(
                        err,
                        "decoders",
                        "rollback",
                        "--config",
                        folder.resolve(WatchedFolder.FILE),
                        "--site",
                        WatchedFolder.SITE));
                BrokerClient.awaitThat(() -> err.toString().contains("no answer for"), err::toString);
                released.countDown();
                Shell answered = rollback.get(60, TimeUnit.SECONDS);
                assertEquals(0, answered.exitCode(), answered.err());
                assertTrue(
                        answered.out().matches("(?s).*site layer\\.a, rolled_back: \\S+ rolled back version 1;.*"),
                        answered.out());
                assertTrue(answered.err().contains("adapter small-adapter (small-adapter-"), answered.err());
                assertTrue(
                        answered.err()
                                .matches("(?s).* it works on a refit of layer\\.b, asked for at 20\\S+, and 2 more lie"
                                        + " before the command, which overtakes them.*"),
                        answered.err());
                List<AdaptationReport> reports = reports(client, config, 5);
                assertEquals(Outcome.ROLLED_BACK, reports.get(1).outcome(), reports.toString());
                assertEquals(
                        List.of(SLOW, SLOW, SLOW),
                        reports.subList(2, 5).stream()
                                .map(AdaptationReport::site)
                                .toList());
                assertEquals(Outcome.PUBLISHED, reports.get(2).outcome(), "what ran meanwhile is not lost");
            }
        } finally {
            released.countDown();
        }
    }

    private static WatchedSite slow(SiteSettings settings, CountDownLatch released) throws Exception {
        Explainer explainer = Formats.read(settings.explained().explainer());
        Encoder encoder = new WatchedEncoder(explainer.encoder(), rows -> await(released));
        return WatchedSite.of(
                settings,
                new Explainer(explainer.architecture(), encoder, explainer.decoder(), explainer.directory()),
                Baseline.read(settings.explained().baseline()));
    }

    private static void await(CountDownLatch released) {
        try {
            boolean unused = released.await(60, TimeUnit.SECONDS);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static List<ProducerRecord<byte[], byte[]>> adapt(String site, long endMs) {
        return AdaptationRequests.adapt(site, endMs, WatchedFolder.RECORDS, WatchedFolder::drifted);
    }

    private static List<AdaptationReport> reports(BrokerClient client, MonitorConfig config, int number) {
        return client.await(config.topics().adaptationReports(), found -> found.size() >= number).stream()
                .map(record -> Json.read(record.value(), AdaptationReport.class))
                .toList();
    }
}
