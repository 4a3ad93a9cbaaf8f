package io.plumbline.topology;

import io.plumbline.records.ActivationFile;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.broker.Topics;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.metrics.Metrics;
import io.plumbline.topology.metrics.PipelineMeters;
import io.plumbline.topology.report.Json;
import io.plumbline.topology.report.WindowReport;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;

/** Makes the reports of windows of recorded English, the demonstration's, with more German in each. */
public final class GermanAmongEnglish {

    public static final String SITE = "blocks.7";

    private static final long T0 = 1_700_000_040_000L;
    private static final long WINDOW_MS = 60_000;
    private static final int ENGLISH = 36;

    private GermanAmongEnglish() {}

    /**
     * Runs a monitor over them.
     *
     * @param german how many German requests come in each window, none of them twice
     * @param labels what a configuration has under {@code features}
     */
    public static List<WindowReport> reports(Path folder, String labels, int... german) throws IOException {
        for (String name : List.of(
                "cfg.json",
                "sae_weights.safetensors",
                "baseline.safetensors",
                "german.safetensors",
                "english.safetensors")) {
            try (InputStream in = Objects.requireNonNull(
                    GermanAmongEnglish.class.getResourceAsStream("/io/plumbline/fixtures/" + name), name)) {
                Files.copy(in, folder.resolve(name));
            }
        }
        MonitorConfig config = config(folder, labels);
        List<WindowReport> reports = new ArrayList<>();
        try (Metrics metrics = Metrics.create(Metrics.Settings.of(config.window(), 1));
                ActivationFile english = ActivationFile.open(folder.resolve("english.safetensors"));
                ActivationFile foreign = ActivationFile.open(folder.resolve("german.safetensors"))) {
            metrics.expect(List.of(SITE));
            PipelineMeters pipeline = metrics.pipeline();
            try (Streaming stream = new Streaming(
                    MonitorTopology.build(
                            config,
                            WatchedFolder.sites(config),
                            Topics.Prepared.of(config.topics().activations(), 1, 10_000_000),
                            site -> null,
                            new MonitorTopology.Listeners(pipeline, pipeline, pipeline)),
                    StreamsSettings.monitor(config),
                    folder.resolve("state"))) {
                String topic = config.topics().activations();
                int sent = 6; // the first ones are copies of each other
                for (int window = 0; window <= german.length; window++) {
                    long start = T0 + window * WINDOW_MS;
                    for (int i = 0; i < ENGLISH; i++) {
                        send(stream, topic, english, (window * ENGLISH + i) % english.requests(), "en", start + i);
                    }
                    for (int i = 0; window < german.length && i < german[window]; i++) {
                        send(stream, topic, foreign, sent++, "de", start + ENGLISH + i);
                    }
                }
                stream.read(config.topics().windowReports())
                        .forEach(record -> reports.add(Json.read(record.value(), WindowReport.class)));
            }
        }
        return reports;
    }

    private static void send(
            Streaming stream, String topic, ActivationFile file, int request, String language, long timeMs)
            throws IOException {
        Headers headers = new RecordHeaders()
                .add("request", (language + "-" + request).getBytes(StandardCharsets.UTF_8))
                .add("tags", ("language=" + language).getBytes(StandardCharsets.UTF_8));
        stream.send(
                topic,
                SITE.getBytes(StandardCharsets.UTF_8),
                ActivationRecords.blob(file.request(request).activations()),
                headers,
                timeMs);
    }

    private static MonitorConfig config(Path folder, String labels) throws IOException {
        return MonitorConfig.parse("""
                application_id: groups
                kafka: {bootstrap.servers: "unused:9092"}
                window: {size: 60s, advance: 60s, grace: 0s, idle_close: off}
                state: {store: memory, directory: state}
                http: {port: 0}
                sites:
                  %s: {explainer: ., baseline: baseline.safetensors, rank: 32, threshold: {share: 0.95}, features: %s}
                """.formatted(SITE, labels), "groups.yaml", folder);
    }
}
