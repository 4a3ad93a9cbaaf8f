package io.plumbline.demo;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.fasterxml.jackson.databind.JsonNode;
import io.plumbline.demo.Traffic.Stretch;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.records.ActivationFile;
import io.plumbline.topology.AlertmanagerServer;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.PrometheusServer;
import io.plumbline.topology.Webhook;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Plays the demonstration's recorded traffic at the pace of the alerts: German is drift, which a real Prometheus sees
 * by the deployed rules and a real Alertmanager tells a webhook; English again, and it tells the end. The site also
 * warns while it is drifted, and that is held back.
 */
class AlertingSoak {

    private static final String SITE = "encoder.layer.2";
    private static final int PARTITIONS = 2;
    private static final int ROWS_PER_WINDOW = 2048;
    private static final long PATIENCE_SECONDS = 300;
    private static final String DRIFTED = "PlumblineSiteDrifted";
    private static final String WARNING = "PlumblineSiteWarning";

    @TempDir
    private Path folder;

    private Traffic traffic;
    private Reports windows;
    private long startMs;
    private long windowMs;

    /** Requests of the window that is next which are sent already: they closed the one before. */
    private int begun;

    @Test
    void driftArrivesOnceWithItsNumbersWhatComesOfItIsHeldBackAndTheRevertEndsIt() throws Exception {
        try (DemoFolder demo = DemoFolder.unpack();
                EmbeddedBroker broker = EmbeddedBroker.start(demo.broker());
                Webhook webhook = Webhook.start();
                AlertmanagerServer alertmanager =
                        AlertmanagerServer.start(folder.resolve("alertmanager"), webhook.address())) {
            MonitorConfig config = MonitorConfig.parse(
                    DemoFolder.configuration(demo.root(), broker.bootstrapServers())
                            .replace(
                                    "    cooldown: 1h\n",
                                    "    cooldown: 1h\n    warn: [whitened_mean_shift]\n    warn_threshold: 5.0\n"),
                    "demo.yaml",
                    demo.root());
            new BrokerClient(broker.bootstrapServers())
                    .createTopic(config.topics().activations(), PARTITIONS, Map.of());
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.ALL);
                    PrometheusServer prometheus = PrometheusServer.start(
                            folder.resolve("prometheus"), alertmanager.address(), runtime.httpAddress());
                    Traffic sent = new Traffic(
                            broker.bootstrapServers(), config.topics().activations(), PARTITIONS, SITE);
                    Reports reports = new Reports(
                            broker.bootstrapServers(), config.topics().windowReports());
                    ActivationFile english = ActivationFile.open(demo.root().resolve("english.safetensors"));
                    ActivationFile german = ActivationFile.open(demo.root().resolve("german.safetensors"))) {
                traffic = sent;
                windows = reports;
                windowMs = config.window().paneMs();
                startMs = System.currentTimeMillis() / windowMs * windowMs - 20 * windowMs;
                List<Stretch> inEnglish = Traffic.cut("English", english, ROWS_PER_WINDOW);
                List<Stretch> inGerman = Traffic.cut("German", german, ROWS_PER_WINDOW);
                assertEquals("aligned", window(inEnglish.get(0), inGerman.get(0)));
                assertEquals(List.of(), webhook.alerts(), "nothing is wrong yet");

                assertEquals("drifted", window(inGerman.get(0), inGerman.get(1)));
                Map<String, String> warning = Map.of("alertname", WARNING, "site", SITE);
                await(() -> !webhook.alerts(DRIFTED, "firing").isEmpty(), webhook);
                await(() -> alertmanager.inhibits(warning), webhook);
                JsonNode drifted = webhook.alerts(DRIFTED, "firing").get(0);
                assertEquals(SITE, drifted.at("/labels/site").asText());
                assertEquals("critical", drifted.at("/labels/severity").asText());
                String summary = drifted.at("/annotations/summary").asText();
                assertTrue(
                        summary.matches(SITE
                                + " has drifted: \\S+ of the threshold, by \\w+\\. "
                                + ".* gap is (5\\.9|6\\.0)\\d? of at most 8\\..*"),
                        summary);
                assertEquals(
                        "docs/operate/runbook.md#plumblinesitedrifted",
                        drifted.at("/annotations/runbook_url").asText());
                await(
                        () -> !prometheus
                                .query("plumbline_decoder_info{site=\"%s\",kind=\"adapted\"}".formatted(SITE))
                                .isEmpty(),
                        webhook);

                assertEquals("drifted", window(inGerman.get(1), inEnglish.get(1)));
                assertEquals("aligned", window(inEnglish.get(1), inEnglish.get(2)));
                await(() -> !webhook.alerts(DRIFTED, "resolved").isEmpty(), webhook);
                await(
                        () -> prometheus
                                        .query("plumbline_decoder_info{site=\"%s\",version=\"2\",kind=\"trained\"}"
                                                .formatted(SITE))
                                        .size()
                                == 1,
                        webhook);
                assertEquals(List.of(), webhook.alerts(WARNING, "firing"), "inhibited, and all the same sent");
                assertEquals(
                        List.of(DRIFTED),
                        webhook.alerts().stream()
                                .map(alert -> alert.at("/labels/alertname").asText())
                                .distinct()
                                .toList());
            }
        }
    }

    /** Sends the rest of a window, and of the next one what closes it; returns its verdict. */
    private String window(Stretch stretch, Stretch next) throws Exception {
        int requests = stretch.to() - stretch.from();
        traffic.send(stretch, begun, requests, startMs, windowMs);
        startMs += windowMs;
        begun = PARTITIONS;
        traffic.send(next, 0, begun, startMs, windowMs);
        JsonNode report = windows.next(System.nanoTime() + TimeUnit.SECONDS.toNanos(PATIENCE_SECONDS));
        return report.get("verdict").asText();
    }

    private interface Question {
        boolean holds() throws Exception;
    }

    private static void await(Question question, Webhook webhook) throws InterruptedException {
        Supplier<String> cameSoFar = () -> "the webhook got " + webhook.alerts();
        BrokerClient.awaitThat(
                () -> {
                    try {
                        return question.holds();
                    } catch (Exception e) {
                        throw new IllegalStateException(e);
                    }
                },
                PATIENCE_SECONDS,
                cameSoFar);
    }
}
