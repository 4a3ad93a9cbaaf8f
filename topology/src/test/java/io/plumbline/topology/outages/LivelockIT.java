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
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Tests a refit that takes longer than the group waits for its member: expelled, the adapter comes back and reads the
 * same request again, while Kafka Streams says RUNNING.
 */
class LivelockIT {

    private static final long END = 1_700_000_010_000L;
    private static final long POLL_INTERVAL_MS = 3_000;

    @TempDir
    private Path folder;

    @Test
    void aRefitLongerThanThePollIntervalIsSeenThenGivenUpAndTheNextRequestIsAnswered() throws Exception {
        CountDownLatch quick = new CountDownLatch(1);
        AtomicInteger encodings = new AtomicInteger();
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve("broker"))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of());
            WatchedFolder.create(folder, broker.bootstrapServers());
            MonitorConfig config = config(broker.bootstrapServers());
            SiteSettings settings = config.sites().get(WatchedFolder.SITE);
            Explainer explainer = Formats.read(settings.explained().explainer());
            Encoder slow = new WatchedEncoder(explainer.encoder(), rows -> dawdle(rows, quick, encodings));
            WatchedSite site = WatchedSite.of(
                    settings,
                    new Explainer(explainer.architecture(), slow, explainer.decoder(), explainer.directory()),
                    Baseline.read(settings.explained().baseline()));
            try (PlumblineRuntime runtime =
                    PlumblineRuntime.start(config, Map.of(WatchedFolder.SITE, site), Role.ADAPTER)) {
                Pages pages = new Pages(runtime.httpAddress());
                BrokerClient.awaitThat(() -> pages.status("/readyz") == 200, () -> pages.body("/readyz"));
                client.send(AdaptationRequests.adapt(
                        WatchedFolder.SITE, END, WatchedFolder.RECORDS, WatchedFolder::drifted));

                // The condition of the alert PlumblineNoProgress.
                BrokerClient.awaitThat(() -> stalled(pages) > limit(pages), () -> pages.body("/metrics"));
                BrokerClient.awaitThat(() -> pages.status("/readyz") == 503, () -> pages.body("/metrics"));
                String sentence = pages.body("/readyz");
                // At its first record or, where a commit came between them, at a later one.
                assertTrue(sentence.contains("adaptation-requests-0 has stood at offset "), sentence);
                assertEquals(200, pages.status("/healthz"), "a restart would read the same request again");
                BrokerClient.awaitThat(() -> repeats(pages) >= 2, () -> pages.body("/metrics"));

                AdaptationReport given = report(client, config, 1);
                assertEquals(Outcome.FAILED, given.outcome());
                assertTrue(given.reason().contains("begun 3 times"), given.reason());
                assertTrue(given.reason().contains("max.poll.interval.ms"), given.reason());
                assertTrue(encodings.get() >= 3, "a refit encodes at least once, three were begun: " + encodings);

                BrokerClient.awaitThat(() -> stalled(pages) == 0.0, () -> pages.body("/metrics"));
                BrokerClient.awaitThat(() -> pages.status("/readyz") == 200, () -> pages.body("/readyz"));
                assertEquals(0.0, repeats(pages));
                quick.countDown();
                client.send(AdaptationRequests.adapt(
                        WatchedFolder.SITE, END + 10_000, WatchedFolder.RECORDS, WatchedFolder::drifted));
                AdaptationReport next = report(client, config, 2);
                assertEquals(Outcome.PUBLISHED, next.outcome(), next.reason());
                assertEquals(1, next.version());
            }
        }
    }

    private MonitorConfig config(String bootstrapServers) {
        return MonitorConfig.parse(
                """
                application_id: livelock
                kafka:
                  bootstrap.servers: "%s"
                  adapter.main.consumer.max.poll.interval.ms: %d
                window: {size: 10s, advance: 10s, grace: 0s, idle_close: off, minimum_rows: 64}
                sample: {rows: 512}
                state: {store: memory, directory: state}
                http: {port: 0}
                sites:
                  %s:
                    explainer: explainer
                    baseline: baseline.safetensors
                    rank: 4
                    threshold: {share: 0.6}
                    debounce: 1 of 1
                    cooldown: 0s
                    adaptation: {mode: auto, profile: auto, max_norm_ratio: 10, minimum_improvement: 0.05, validation_share: 0.25}
                """.formatted(bootstrapServers, POLL_INTERVAL_MS, WatchedFolder.SITE), "livelock.yaml", folder);
    }

    private static AdaptationReport report(BrokerClient client, MonitorConfig config, int number) {
        List<AdaptationReport> reports =
                client.await(config.topics().adaptationReports(), found -> found.size() >= number).stream()
                        .map(record -> Json.read(record.value(), AdaptationReport.class))
                        .toList();
        assertEquals(number, reports.size(), reports.toString());
        return reports.get(number - 1);
    }

    private static double stalled(Pages pages) {
        return pages.value("plumbline_stalled_seconds{application=\"adapter\",topic=\"adaptation_requests\"}");
    }

    private static double repeats(Pages pages) {
        return pages.value("plumbline_offset_repeats{application=\"adapter\",topic=\"adaptation_requests\"}");
    }

    private static double limit(Pages pages) {
        return pages.value("plumbline_stall_limit_seconds{application=\"adapter\"}");
    }

    /**
     * Slows each refit down, which encodes the rows it fits on more than once, so that it takes more than twice the
     * poll interval.
     */
    private static void dawdle(int rows, CountDownLatch quick, AtomicInteger encodings) {
        if (quick.getCount() > 0 && rows > WatchedFolder.ROWS * WatchedFolder.RECORDS / 2) {
            encodings.incrementAndGet();
            try {
                boolean unused = quick.await(2 * POLL_INTERVAL_MS, TimeUnit.MILLISECONDS);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
