package io.plumbline.benchmarks;

import io.plumbline.calibration.Baseline;
import io.plumbline.calibration.BaselineBuilder;
import io.plumbline.explainer.Explainer;
import io.plumbline.linalg.Matrix;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.wire.ActivationBatch;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The files of a site of width d with a dictionary of d features, and what they are made into at a start. */
final class BenchSite {

    private static final int RANK = 8;
    private static final int BASELINE_BATCHES = 32;

    private final Path folder;
    private final Explainer explainer;
    private final Baseline baseline;
    private @Nullable WatchedSite made;

    private BenchSite(Path folder, Explainer explainer, Baseline baseline) {
        this.folder = folder;
        this.explainer = explainer;
        this.baseline = baseline;
    }

    static String name(int site) {
        return "site-" + site;
    }

    static BenchSite write(Path folder, int d) throws IOException {
        Path weights = Files.createDirectories(folder.resolve("explainer"));
        Matrix diagonal = Matrix.zeros(d, d);
        for (int j = 0; j < d; j++) {
            diagonal.set(j, j, 1.0 + j % 7 * 0.1);
        }
        SafetensorsWriter.create()
                .add("W_enc", DType.F32, diagonal)
                .addVector("b_enc", DType.F32, new double[d])
                .add("W_dec", DType.F32, diagonal)
                .addVector("b_dec", DType.F32, new double[d])
                .writeTo(weights.resolve("sae_weights.safetensors"));
        Files.writeString(weights.resolve("cfg.json"), """
                {"architecture": "standard", "d_in": %1$d, "d_sae": %1$d, "apply_b_dec_to_input": false,
                 "normalize_activations": "none"}
                """.formatted(d));
        Explainer explainer = Explainer.read(weights);
        BaselineBuilder builder = BaselineBuilder.of(explainer, List.of(rank(d)), List.of());
        for (int i = 0; i < BASELINE_BATCHES; i++) {
            builder.add(new ActivationBatch(ActivationsTopic.gaussian(-1 - i, 64, d), null, null));
        }
        Baseline baseline = builder.build();
        baseline.write(folder.resolve("baseline.safetensors"));
        return new BenchSite(folder, explainer, baseline);
    }

    private static int rank(int d) {
        return Math.min(RANK, d / 2);
    }

    /** Returns one site's bytes under every name: what they are made into is computed once. */
    Map<String, WatchedSite> sites(MonitorConfig config) {
        Map<String, WatchedSite> sites = new LinkedHashMap<>();
        for (SiteSettings settings : config.sites().values()) {
            WatchedSite site = made == null
                    ? WatchedSite.of(settings, explainer, baseline)
                    : new WatchedSite(settings, explainer, baseline, made.geometry(), made.names());
            made = site;
            sites.put(settings.site(), site);
        }
        return sites;
    }

    /**
     * Returns the configuration of a monitor of the topic: exactly once, a commit every 5 s, as many threads as
     * partitions.
     */
    MonitorConfig config(String bootstrapServers, ActivationsTopic topic, String run, Windows windows) {
        String yaml = """
                application_id: %1$s
                kafka: {bootstrap.servers: "%2$s", monitor.num.stream.threads: %3$d, monitor.commit.interval.ms: 5000}
                topics:
                  activations: %4$s
                  moments: %1$s-moments
                  window_reports: %1$s-reports
                  adaptation_requests: %1$s-requests
                  adaptation_reports: %1$s-adaptations
                  decoders: %1$s-decoders
                  dead_letters: %1$s-letters
                window: {size: %5$s, advance: %6$s, grace: 0s, idle_close: off, minimum_rows: 64}
                state: {store: memory, directory: state-%1$s}
                http: {port: 0}
                sites:
                %7$s
                """.formatted(
                        run,
                        bootstrapServers,
                        topic.partitions(),
                        topic.name(),
                        windows.size(),
                        windows.advance(),
                        IntStream.range(0, topic.sites())
                                .mapToObj(site -> ("  %s: {explainer: explainer, baseline: baseline.safetensors,"
                                                + " rank: %d, threshold: {share: 0.9}, adaptation: {mode: observe}}")
                                        .formatted(name(site), rank(topic.d())))
                                .collect(Collectors.joining("\n")));
        return MonitorConfig.parse(yaml, "bench.yaml", folder);
    }

    /** Size and advance of windows as the configuration has them. */
    record Windows(String size, String advance) {

        /** Windows longer than the topic: none closes. */
        static final Windows LONG = new Windows("60s", "60s");

        static final Windows HOPPING = new Windows("12s", "1s");
        static final Windows TUMBLING = new Windows("1s", "1s");
    }
}
