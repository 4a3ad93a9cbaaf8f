package io.plumbline.causal.commands;

import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.baseline.Provenance;
import io.plumbline.causal.heads.LivePart;
import io.plumbline.records.ActivationFile;
import io.plumbline.topology.config.MonitorConfig;
import java.io.IOException;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;

/** A monitored site of the live model: its explainer, a baseline of its two requests, and a head. */
final class LiveFolder {

    static final String SITE = "blocks.3";
    static final long T0 = 1_700_000_000_000L;
    static final long WINDOW_MS = 10_000;

    private static final LivePart PART = LivePart.autoencoder();

    private LiveFolder() {}

    /** @param downstream keys of the site's {@code downstream} */
    static MonitorConfig create(Path folder, String bootstrapServers, String downstream) throws IOException {
        return of(folder, bootstrapServers, "warn: [kl], warn_threshold: 1e-6, downstream: {" + downstream + "}");
    }

    /** @param keys more of the site's, in one line */
    private static MonitorConfig of(Path folder, String bootstrapServers, String keys) throws IOException {
        Path baseline = folder.resolve("baseline.safetensors");
        BaselineBuilder builder = BaselineBuilder.of(PART.explainer(), List.of(4), List.of());
        try (ActivationFile file = ActivationFile.open(PART.requests())) {
            for (int i = 0; i < file.requests(); i++) {
                builder.add(file.request(i));
            }
        }
        builder.build()
                .with(Provenance.first(Instant.parse("2026-11-01T00:00:00Z"), "two requests"))
                .write(baseline);
        return MonitorConfig.parse(
                """
                application_id: live
                kafka: {bootstrap.servers: "%s"}
                window: {size: 10s, advance: 10s, grace: 0s, idle_close: off, minimum_rows: 64}
                sample: {rows: 512}
                state: {store: memory, directory: %s}
                http: {port: 0}
                sites:
                  %s: {explainer: '%s', baseline: '%s', rank: 4, threshold: {share: 0.99}, debounce: 1 of 1,
                    adaptation: {mode: observe}, %s}
                """.formatted(bootstrapServers, folder.resolve("state"), SITE, PART.folder(), baseline, keys),
                "live.yaml",
                folder);
    }

    /** Returns its requests, each as a record. */
    static List<byte[]> records() throws IOException {
        List<byte[]> records = new ArrayList<>();
        try (ActivationFile file = ActivationFile.open(PART.requests())) {
            for (int i = 0; i < file.requests(); i++) {
                records.add(file.requestAsRecord(i));
            }
        }
        return records;
    }

    /** Returns the mean over its requests of what the oracle says of the trained decoder. */
    static double oracle(String figure) throws IOException {
        var values = PART.json("oracle.json").path("methods").path("fixed").path(figure);
        return (values.path(0).asDouble() + values.path(1).asDouble()) / 2;
    }
}
