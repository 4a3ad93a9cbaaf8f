package io.plumbline.topology.scale;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ReluEncoder;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.config.MonitorConfig;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;

/** Makes sites with random explainers in memory: many, or wide ones, without files. */
final class RandomSites {

    private static final int BASELINE_ROWS = 64;
    private static final int BASELINE_REQUESTS = 32;

    private RandomSites() {}

    /** Holds everything of a configuration but the sites; topics get {@code prefix}. */
    record Setting(String bootstrapServers, String prefix, String window, int sampleRows, String store, String kafka) {

        /** The configuration that watches {@code names} at {@code rank}. */
        MonitorConfig of(List<String> names, int rank, Path folder) {
            return MonitorConfig.parse(yaml(names, rank), prefix + "config", folder);
        }

        String yaml(List<String> names, int rank) {
            StringBuilder yaml = new StringBuilder("""
                    application_id: %2$sapp
                    kafka: {bootstrap.servers: "%1$s"%6$s}
                    topics:
                      {activations: %2$sactivations, moments: %2$smoments, window_reports: %2$sreports,
                       adaptation_requests: %2$srequests, adaptation_reports: %2$sadaptations, decoders: %2$sdecoders,
                       dead_letters: %2$sletters, configuration: %2$sversions}
                    window: {%3$s}
                    sample: {rows: %4$d}
                    state: {store: %5$s, directory: state}
                    http: {port: 0}
                    sites:
                    """.formatted(
                            bootstrapServers, prefix, window, sampleRows, store, kafka.isEmpty() ? "" : ", " + kafka));
            for (String name : names) {
                yaml.append(("  %s: {explainer: e, baseline: b, rank: %d, threshold: {share: 0.9}, adaptation: {mode: "
                                + "observe}}%n")
                        .formatted(name, rank));
            }
            return yaml.toString();
        }
    }

    /** The folder {@code e} with the sizes of an explainer and no weights, for the estimate of memory. */
    static void writeShape(Path folder, int width, int features) throws IOException {
        Files.writeString(
                Files.createDirectories(folder.resolve("e")).resolve("cfg.json"), """
                {"architecture": "standard", "d_in": %d, "d_sae": %d, "apply_b_dec_to_input": false,
                 "normalize_activations": "none"}
                """.formatted(width, features));
    }

    /** A site for every one of the configuration; the same for the same name. */
    static Map<String, WatchedSite> watched(MonitorConfig config, int width, int features) {
        Map<String, WatchedSite> sites = new LinkedHashMap<>();
        for (SiteSettings settings : config.sites().values()) {
            sites.put(settings.site(), watched(settings, width, features));
        }
        return sites;
    }

    private static WatchedSite watched(SiteSettings settings, int width, int features) {
        Explainer explainer = explainer(width, features, settings.site().hashCode());
        return WatchedSite.of(
                settings, explainer, baseline(explainer, settings.explained().rank()));
    }

    static Explainer explainer(int width, int features, long seed) {
        Random random = new Random(seed);
        return new Explainer(
                "standard",
                ReluEncoder.of(gaussian(features, width, random), new double[features]),
                new Decoder(gaussian(features, width, random), new double[width]),
                Path.of("in-memory"));
    }

    static Baseline baseline(Explainer explainer, int rank) {
        BaselineBuilder builder = BaselineBuilder.of(explainer, List.of(rank), List.of());
        Matrix rows = ActivationRecords.integerRows(17, BASELINE_ROWS, explainer.targetWidth());
        for (int request = 0; request < BASELINE_REQUESTS; request++) {
            builder.add(new ActivationBatch(
                    rows.rowRange(
                            request * BASELINE_ROWS / BASELINE_REQUESTS,
                            (request + 1) * BASELINE_ROWS / BASELINE_REQUESTS),
                    null,
                    null));
        }
        return builder.build();
    }

    private static Matrix gaussian(int rows, int columns, Random random) {
        Matrix matrix = Matrix.zeros(rows, columns);
        double scale = 1.0 / Math.sqrt(columns);
        for (int i = 0; i < matrix.values().length; i++) {
            matrix.values()[i] = (float) (scale * random.nextGaussian());
        }
        return matrix;
    }
}
