package io.plumbline.topology.faults;

import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.requests.RequestProjection;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/**
 * The files a monitor needs to start: one explainer and baseline for all sites, and a configuration for each instance.
 */
final class MonitorFolder {

    /** The number of monitors of one case; each has a configuration with a state folder of its own. */
    private static final int INSTANCES = 3;

    private static final int FEATURES = 4;
    private static final int RANK = 2;

    /** Directions along which requests are totalled; of integers, so that sums are exact. */
    private static final int COMPONENTS = 3;

    private MonitorFolder() {}

    static RequestProjection projection(int width) {
        return RequestProjection.of(ActivationRecords.integerRows(-2, COMPONENTS, width));
    }

    static Map<String, RequestProjection> projections(Map<String, WatchedSite> sites) {
        Map<String, RequestProjection> projections = new TreeMap<>();
        sites.forEach((name, site) ->
                projections.put(name, projection(site.explainer().targetWidth())));
        return projections;
    }

    static void create(Path folder, String prefix, Traffic.Shape shape, MonitorSetup setup, String bootstrapServers)
            throws IOException {
        writeExplainer(Files.createDirectories(folder.resolve("explainer")), shape.width());
        Explainer explainer = Formats.read(folder.resolve("explainer"));
        BaselineBuilder baseline = BaselineBuilder.of(explainer, List.of(RANK), List.of());
        baseline.add(
                new ActivationBatch(ActivationRecords.integerRows(-1, 2 * shape.width(), shape.width()), null, null));
        baseline.build().write(folder.resolve("baseline.safetensors"));
        for (int instance = 0; instance < INSTANCES; instance++) {
            Files.writeString(
                    config(folder, instance),
                    yaml(folder, prefix, shape, setup, bootstrapServers, instance),
                    StandardCharsets.UTF_8);
        }
    }

    static Path config(Path folder, int instance) {
        return folder.resolve("monitor-%d.yaml".formatted(instance));
    }

    static Path state(Path folder, int instance) {
        return folder.resolve("state-" + instance);
    }

    private static String yaml(
            Path folder,
            String prefix,
            Traffic.Shape shape,
            MonitorSetup setup,
            String bootstrapServers,
            int instance) {
        StringBuilder yaml = new StringBuilder();
        yaml.append("application_id: %sapp%n".formatted(prefix));
        yaml.append("kafka:%n  bootstrap.servers: \"%s\"%n".formatted(bootstrapServers));
        setup.properties().forEach((key, value) -> yaml.append("  monitor.%s: \"%s\"%n".formatted(key, value)));
        yaml.append("""
                topics:
                  activations: %1$sactivations
                  moments: %1$smoments
                  window_reports: %1$swindow-reports
                  adaptation_requests: %1$sadaptation-requests
                  adaptation_reports: %1$sadaptation-reports
                  decoders: %1$sdecoders
                  dead_letters: %1$sdead-letters
                  configuration: %1$sconfiguration
                window: {size: %2$dms, advance: %2$dms, grace: 0s, idle_close: off, minimum_rows: 2}
                sample: {rows: 8}
                state: {store: %3$s, directory: "%4$s"}
                sites:
                """.formatted(prefix, shape.windowMs(), setup.store(), state(folder, instance)));
        for (int i = 0; i < shape.sites(); i++) {
            yaml.append(
                    ("  %s: {explainer: explainer, baseline: baseline.safetensors, rank: %d, threshold: {share: 0.9}, "
                                    + "debounce: 1 of 1, adaptation: {mode: observe}}%n")
                            .formatted(shape.site(i), RANK));
        }
        return yaml.toString();
    }

    /** Writes an explainer that encodes and decodes the first few dimensions as they are. */
    private static void writeExplainer(Path folder, int width) throws IOException {
        Matrix encoder = Matrix.zeros(width, FEATURES);
        Matrix decoder = Matrix.zeros(FEATURES, width);
        for (int j = 0; j < FEATURES; j++) {
            encoder.set(j, j, 1.0);
            decoder.set(j, j, 1.0);
        }
        SafetensorsWriter.create()
                .add("W_enc", DType.F32, encoder)
                .addVector("b_enc", DType.F32, new double[FEATURES])
                .add("W_dec", DType.F32, decoder)
                .addVector("b_dec", DType.F32, new double[width])
                .writeTo(folder.resolve("sae_weights.safetensors"));
        Files.writeString(folder.resolve("cfg.json"), """
                {"architecture": "standard", "d_in": %d, "d_sae": %d, "apply_b_dec_to_input": false,
                 "normalize_activations": "none"}
                """.formatted(width, FEATURES));
    }
}
