package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.TargetsFolder;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.topology.adaptation.Outcome;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.assessment.WatchedTargets;
import io.plumbline.topology.cli.Shell;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.emission.DecoderSubscriber;
import io.plumbline.topology.emission.DecoderSubscription;
import io.plumbline.topology.emission.PublishedDecoder;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.TargetsReport;
import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CopyOnWriteArrayList;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a site with several targets through a broker with several partitions of closed panes. */
class TargetsIT {

    private static final long T0 = 1_700_000_000_000L;
    private static final ObjectMapper JSON = new ObjectMapper();

    @TempDir
    private Path folder;

    @Test
    void oneTargetDriftsTheReportNamesItAndEachTargetIsScraped() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            MonitorConfig config = TargetsFolder.create(folder, broker.bootstrapServers(), "mode: observe");
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic(config.topics().activations(), 1, Map.of("retention.ms", "-1"));
            client.createTopic(config.topics().moments(), 4, Map.of("retention.ms", "-1"));
            List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>(TargetsFolder.window(T0, Set.of(1)));
            records.addAll(TargetsFolder.window(T0 + 10_000, Set.of()));
            client.sendAll(records);
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                JsonNode told = await(client, config);
                assertEquals("targets.1", told.get("worst_block").asText(), told.toString());
                assertEquals("[\"targets.1\"]", told.get("drifted_blocks").toString());
                assertEquals("drifted", told.get("verdict").asText());
                assertEquals(TargetsFolder.LAYERS, told.get("blocks").size());
                String worst = "plumbline_worst_block{block=\"targets.1\",site=\"clt\"} 1.0\n";
                BrokerClient.awaitThat(() -> metrics(runtime).contains(worst), () -> metrics(runtime));
                for (int target = 0; target < TargetsFolder.LAYERS; target++) {
                    String gap = "plumbline_faithfulness_gap{site=\"clt/targets.%d\"} ".formatted(target);
                    String verdict = "plumbline_verdict{site=\"clt/targets.%d\",verdict=\"%s\"} 1.0\n"
                            .formatted(target, target == 1 ? "drifted" : "aligned");
                    assertTrue(metrics(runtime).contains(gap), metrics(runtime));
                    assertTrue(metrics(runtime).contains(verdict), metrics(runtime));
                }
                assertFalse(metrics(runtime).contains("plumbline_faithfulness_gap{site=\"clt\"}"), metrics(runtime));
            }
            String exported = exported().replace("{job=\"targets\",", "{");
            assertTrue(
                    exported.contains("plumbline_worst_block{site=\"clt\",block=\"targets.1\"} 1.0 1700000010.000\n"),
                    exported);
            for (int target = 0; target < TargetsFolder.LAYERS; target++) {
                assertTrue(exported.contains("plumbline_faithfulness_gap{site=\"clt/targets.%d\"} ".formatted(target)));
            }
        }
    }

    @Test
    void aSubscriberSwapsAllBlocksOrNone() throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            MonitorConfig config =
                    TargetsFolder.create(folder, broker.bootstrapServers(), "mode: auto, max_norm_ratio: 10");
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic(config.topics().activations(), 1, Map.of("retention.ms", "-1"));
            client.createTopic(config.topics().moments(), 2, Map.of("retention.ms", "-1"));
            client.createTopic(config.topics().adaptationRequests(), 3, Map.of("retention.ms", "-1"));
            WatchedTargets targets = Objects.requireNonNull(
                    WatchedTargets.of(WatchedSite.readAll(config.sites().values()))
                            .get(TargetsFolder.SITE));
            List<PublishedDecoder> seen = new CopyOnWriteArrayList<>();
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.ALL);
                    DecoderSubscriber subscriber = DecoderSubscriber.start(
                            client.properties(),
                            config.topics().decoders(),
                            DecoderSubscription.of(Map.of(TargetsFolder.SITE, targets.trained())),
                            seen::add)) {
                assertNotNull(subscriber, "reads from the first record on");
                client.sendAll(TargetsFolder.window(T0, Set.of(1, TargetsFolder.STUBBORN)));
                client.sendAll(TargetsFolder.window(T0 + 10_000, Set.of(1)));
                AdaptationReport refused = report(client, config, 1);
                assertEquals(Outcome.REFUSED, refused.outcome(), refused.reason());
                assertEquals(List.of(), seen);
                client.sendAll(TargetsFolder.window(T0 + 20_000, Set.of(1)));
                AdaptationReport published = report(client, config, 2);
                assertEquals(Outcome.PUBLISHED, published.outcome(), published.reason());
                List<Explainer> fetched = fetched(broker);
                assertEquals(trained(targets, 0), fetched.get(0).decoder());
                assertNotEquals(trained(targets, 1), fetched.get(1).decoder());
                assertEquals(trained(targets, 2), fetched.get(2).decoder());
                client.sendAll(TargetsFolder.window(T0 + 30_000, Set.of()));
                client.sendAll(TargetsFolder.window(T0 + 40_000, Set.of()));
                BrokerClient.awaitThat(
                        () -> seen.stream().anyMatch(one -> one.manifest().kind() == DecoderKind.TRAINED),
                        seen::toString);
                for (PublishedDecoder one : seen) {
                    List<Decoder> blocks = targets.joint().split(one.decoder());
                    boolean adapted = one.manifest().kind() == DecoderKind.ADAPTED;
                    assertEquals(adapted, !blocks.get(1).equals(trained(targets, 1)), "version " + one.version());
                    assertEquals(trained(targets, 0), blocks.get(0), "version " + one.version());
                    assertEquals(trained(targets, 2), blocks.get(2), "version " + one.version());
                }
                String served = "plumbline_subscriber_decoder_version{site=\"clt\"} %d.0\n"
                        .formatted(seen.get(seen.size() - 1).version());
                BrokerClient.awaitThat(() -> metrics(runtime).contains(served), () -> metrics(runtime));
            }
        }
    }

    /** Returns what {@code export} writes of the site and its target layers. */
    private String exported() throws IOException {
        Path file = folder.resolve("clt.om");
        Shell shell = Shell.run(
                "export",
                "--config",
                folder.resolve(TargetsFolder.FILE),
                "--site",
                TargetsFolder.SITE,
                "--openmetrics",
                file);
        assertEquals(0, shell.exitCode(), shell.err());
        return Files.readString(file);
    }

    /** Returns the blocks of the folder that {@code decoders fetch} writes. */
    private List<Explainer> fetched(EmbeddedBroker broker) throws IOException {
        Shell shell = Shell.run(
                "decoders",
                "fetch",
                "--bootstrap-servers",
                broker.bootstrapServers(),
                "--site",
                TargetsFolder.SITE,
                "--explainer",
                folder.resolve("explainer"),
                "--targets",
                "0,1,2",
                "--out",
                folder.resolve("fetched"));
        assertEquals(0, shell.exitCode(), shell.err());
        return Formats.readBlocks(folder.resolve("fetched"), ExplainerOptions.NONE);
    }

    /** Returns the nth report on the adaptation of all targets. */
    private static AdaptationReport report(BrokerClient client, MonitorConfig config, int number) {
        List<AdaptationReport> reports =
                client
                        .await(
                                config.topics().adaptationReports(),
                                found -> ofAll(found).size() >= number)
                        .stream()
                        .map(report -> Json.read(report.value(), AdaptationReport.class))
                        .filter(report -> report.site().equals(TargetsFolder.SITE))
                        .toList();
        return reports.get(number - 1);
    }

    private static List<ConsumerRecord<byte[], byte[]>> ofAll(List<ConsumerRecord<byte[], byte[]>> reports) {
        return reports.stream()
                .filter(report -> new String(report.key(), StandardCharsets.UTF_8).equals(TargetsFolder.SITE))
                .toList();
    }

    private static Decoder trained(WatchedTargets targets, int block) {
        return targets.blocks().get(block).explainer().decoder();
    }

    /** Returns the first report about all targets. */
    private static JsonNode await(BrokerClient client, MonitorConfig config) throws IOException {
        List<ConsumerRecord<byte[], byte[]>> reports = client.await(
                config.topics().windowReports(), found -> found.stream().anyMatch(TargetsIT::isOfAll));
        return JSON.readTree(reports.stream()
                .filter(TargetsIT::isOfAll)
                .findFirst()
                .orElseThrow()
                .value());
    }

    private static boolean isOfAll(ConsumerRecord<byte[], byte[]> report) {
        return report.headers().lastHeader(TargetsReport.HEADER) != null;
    }

    private static String metrics(PlumblineRuntime runtime) {
        URI address = URI.create(
                "http://localhost:%d/metrics".formatted(runtime.httpAddress().getPort()));
        try (InputStream body = address.toURL().openStream()) {
            return new String(body.readAllBytes(), StandardCharsets.UTF_8);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
