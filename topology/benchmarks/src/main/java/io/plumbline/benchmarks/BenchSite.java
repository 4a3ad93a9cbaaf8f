package io.plumbline.benchmarks;

import io.plumbline.baseline.Baseline;
import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.records.ActivationBatch;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.runtime.PlumblineRuntime;
import io.plumbline.topology.runtime.Role;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.function.IntFunction;
import java.util.function.IntToDoubleFunction;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** The files of a site, and what they are made into at a start, which is computed once. */
final class BenchSite {

    static final String NAME = "layer";

    private static final String STANDARD = "\"standard\"";
    private static final String TOP_K = "\"topk\", \"k\": 32";

    private final Path folder;
    private final Explainer explainer;
    private final Baseline baseline;
    private @Nullable WatchedSite made;

    /** Returns the names of sites that share a topic; the first is that of a site alone. */
    static String name(int site) {
        return site == 0 ? NAME : NAME + "." + site;
    }

    private BenchSite(Path folder, Explainer explainer, Baseline baseline) {
        this.folder = folder;
        this.explainer = explainer;
        this.baseline = baseline;
    }

    /** Width of the rows, features of the dictionary, rank of the subspaces. */
    record Size(int d, int features, int rank) {

        /** The size of the dictionary published for GPT-2 small, as the next is that for Pythia-1.4B. */
        static final Size GPT2 = new Size(768, 24_576, 32);

        static final Size PYTHIA = new Size(2_048, 65_536, 64);

        @Override
        public String toString() {
            return "%,d x %,d".formatted(d, features);
        }
    }

    /** Writes a site that is only watched: its dictionary has a feature for each column of the rows. */
    static BenchSite watched(Path folder, int d) throws IOException {
        float[] diagonal = new float[d * d];
        for (int j = 0; j < d; j++) {
            diagonal[j * d + j] = (float) (1.0 + j % 7 * 0.1);
        }
        return write(
                folder,
                STANDARD,
                Weights.ofFloats(d, d, diagonal),
                watchedRank(d),
                IntStream.range(0, 32)
                        .mapToObj(batch -> ActivationsTopic.gaussian(-1 - batch, 64, d))
                        .toList());
    }

    private static int watchedRank(int d) {
        return Math.min(8, d / 2);
    }

    /** Writes a site whose decoder is fitted: a TopK dictionary of random columns of about length one. */
    static BenchSite fitted(Path folder, Size size, int batches, IntFunction<Matrix> clean) throws IOException {
        return fitted(folder, size, randomWeights(size), batches, clean);
    }

    /** Writes a site with this decoder, which is fitted. */
    static BenchSite fitted(Path folder, Size size, Weights decoder, int batches, IntFunction<Matrix> clean)
            throws IOException {
        return write(
                folder,
                TOP_K,
                decoder,
                size.rank(),
                IntStream.range(0, batches).mapToObj(clean).toList());
    }

    static Weights randomWeights(Size size) {
        return randomWeights(size, column -> 1.0);
    }

    /** Returns random weights, each column times its scale. */
    static Weights randomWeights(Size size, IntToDoubleFunction scales) {
        float[] values = new float[Math.multiplyExact(size.features(), size.d())];
        SplittableRandom random = new SplittableRandom(1);
        double scale = Math.sqrt(3.0 / size.d());
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) (random.nextDouble(-1.0, 1.0) * scale * scales.applyAsDouble(i % size.d()));
        }
        return Weights.ofFloats(size.features(), size.d(), values);
    }

    /** Writes an explainer whose encoder reads what the decoder writes, and a baseline of clean rows. */
    private static BenchSite write(Path folder, String architecture, Weights decoder, int rank, List<Matrix> clean)
            throws IOException {
        Path files = Files.createDirectories(folder.resolve("explainer"));
        SafetensorsWriter.create()
                .add("W_enc", DType.F32, decoder.transpose())
                .addVector("b_enc", DType.F32, new double[decoder.rows()])
                .add("W_dec", DType.F32, decoder)
                .addVector("b_dec", DType.F32, new double[decoder.columns()])
                .writeTo(files.resolve("sae_weights.safetensors"));
        Files.writeString(files.resolve("cfg.json"), """
                {"architecture": %s, "d_in": %d, "d_sae": %d, "apply_b_dec_to_input": false,
                 "normalize_activations": "none"}
                """.formatted(architecture, decoder.columns(), decoder.rows()));
        Explainer explainer = Formats.read(files);
        BaselineBuilder builder = BaselineBuilder.of(explainer, List.of(rank), List.of());
        for (Matrix rows : clean) {
            builder.add(new ActivationBatch(rows, null, null));
        }
        Baseline baseline = builder.build();
        baseline.write(folder.resolve("baseline.safetensors"));
        return new BenchSite(folder, explainer, baseline);
    }

    Decoder trained() {
        return explainer.decoder();
    }

    /** Starts a monitor. One of several sites reads the files of each, so that it takes the memory that it would. */
    PlumblineRuntime start(MonitorConfig config) throws IOException, InterruptedException {
        return config.sites().size() > 1
                ? PlumblineRuntime.start(config, Role.MONITOR)
                : PlumblineRuntime.start(config, sites(config), Role.MONITOR);
    }

    Map<String, WatchedSite> sites(MonitorConfig config) {
        SiteSettings settings = config.sites().get(NAME);
        if (settings == null) {
            throw new IllegalStateException("the configuration has no site " + NAME);
        }
        WatchedSite site = made == null
                ? WatchedSite.of(settings, explainer, baseline)
                : new WatchedSite(settings, explainer, baseline, made.geometry(), made.names());
        made = site;
        return Map.of(NAME, site);
    }

    /**
     * Returns the configuration of a monitor of the topic that fits nothing: exactly once, a commit every 5 s, as many
     * threads as partitions.
     */
    MonitorConfig watching(Bench bench, ActivationsTopic topic, Windows windows) {
        return config(
                bench,
                bench.nextRun(),
                "monitor.num.stream.threads: %d, monitor.commit.interval.ms: 5000".formatted(topic.partitions()),
                topic,
                "window: {size: %s, advance: %s, grace: 0s, idle_close: off, minimum_rows: 64}"
                        .formatted(windows.size(), windows.advance()),
                "rank: %d, threshold: {share: 0.9}, adaptation: {mode: observe}".formatted(watchedRank(topic.d())));
    }

    private MonitorConfig config(
            Bench bench, String run, String clients, ActivationsTopic topic, String window, String site) {
        return config(
                bench,
                run,
                clients,
                topic.name(),
                window,
                IntStream.range(0, topic.sites()).mapToObj(BenchSite::name).toList(),
                site);
    }

    MonitorConfig config(Bench bench, String run, String clients, String activations, String window, String site) {
        return config(bench, run, clients, activations, window, List.of(NAME), site);
    }

    /** Returns a configuration; clients and site are entries of a YAML mapping in braces, window is lines. */
    private MonitorConfig config(
            Bench bench,
            String run,
            String clients,
            String activations,
            String window,
            List<String> sites,
            String site) {
        return MonitorConfig.parse(
                yaml(bench.bootstrapServers(), run, clients, activations, window, sites, site), "bench.yaml", folder);
    }

    static String yaml(
            String bootstrapServers,
            String run,
            String clients,
            String activations,
            String window,
            List<String> sites,
            String site) {
        return """
                application_id: %1$s
                kafka: {bootstrap.servers: "%2$s", %3$s}
                topics:
                  activations: %4$s
                  moments: %1$s-moments
                  window_reports: %1$s-reports
                  adaptation_requests: %1$s-requests
                  adaptation_reports: %1$s-adaptations
                  decoders: %1$s-decoders
                  dead_letters: %1$s-letters
                %5$s
                state: {store: memory, directory: state-%1$s}
                http: {port: 0}
                sites:
                %6$s
                """.formatted(
                        run,
                        bootstrapServers,
                        clients,
                        activations,
                        window,
                        sites.stream()
                                .map(name -> "  %s: {explainer: explainer, baseline: baseline.safetensors, %s}"
                                        .formatted(name, site))
                                .collect(Collectors.joining("\n")));
    }

    /** Size and advance of windows as the configuration has them. */
    record Windows(String size, String advance) {

        /** Windows longer than the topic: none closes. */
        static final Windows LONG = new Windows("60s", "60s");

        /** Half of the topic: of each site one closes. */
        static final Windows HALVES = new Windows("12s", "12s");

        static final Windows HOPPING = new Windows("12s", "1s");
        static final Windows TUMBLING = new Windows("1s", "1s");
    }
}
