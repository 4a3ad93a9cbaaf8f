package io.plumbline.benchmarks;

import io.plumbline.calibration.Baseline;
import io.plumbline.calibration.BaselineBuilder;
import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.Explainer;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
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
import java.util.SplittableRandom;

/**
 * A site with a dictionary of random weights, TopK {@value #TOP_K}, whose rows live in as many directions as are
 * compared: in others each time its traffic drifts, so that a refit is worth making again.
 */
final class SwapSite {

    static final String SITE = "layer";

    /** The number of rows of a window that are kept for a refit, and sent in one. */
    static final int SAMPLED_ROWS = 2_048;

    private static final int ROWS_A_RECORD = 32;
    static final int RECORDS = SAMPLED_ROWS / ROWS_A_RECORD;

    static final int WINDOW_MS = 10_000;

    private static final int TOP_K = 32;
    private static final double LOUD = 3.0;
    private static final double FAINT = 0.1;
    private static final double OFFSET = 0.5;

    private final Size size;
    private final Path folder;
    private final Explainer explainer;
    private final Baseline baseline;
    private final Map<String, WatchedSite> made = new LinkedHashMap<>();

    private SwapSite(Size size, Path folder, Explainer explainer, Baseline baseline) {
        this.size = size;
        this.folder = folder;
        this.explainer = explainer;
        this.baseline = baseline;
    }

    /** Width of the rows, features of the dictionary, rank of the subspaces. */
    record Size(int d, int features, int rank) {

        /** The size of the dictionary published for GPT-2 small, as the next is that for Pythia-1.4B. */
        static final Size GPT2 = new Size(768, 24_576, 32);

        static final Size PYTHIA = new Size(2_048, 65_536, 64);

        /** A size with which it is only seen whether the bench runs at all. */
        static final Size SMALL = new Size(64, 1_024, 4);
    }

    static SwapSite write(Path folder, Size size) throws IOException {
        Path files = Files.createDirectories(folder.resolve("explainer"));
        writeExplainer(files, size);
        Explainer explainer = Explainer.read(files);
        BaselineBuilder builder = BaselineBuilder.of(explainer, List.of(size.rank()), List.of());
        for (int record = 0; record < RECORDS; record++) {
            builder.add(new ActivationBatch(rows(size, 0, record), null, null));
        }
        Baseline baseline = builder.build();
        baseline.write(folder.resolve("baseline.safetensors"));
        return new SwapSite(size, folder, explainer, baseline);
    }

    /** Writes an explainer whose encoder reads what the decoder writes; columns of length one. */
    private static void writeExplainer(Path folder, Size size) throws IOException {
        float[] values = new float[Math.multiplyExact(size.features(), size.d())];
        SplittableRandom random = new SplittableRandom(1);
        double scale = Math.sqrt(3.0 / size.d());
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) (random.nextDouble(-1.0, 1.0) * scale);
        }
        Weights decoder = Weights.ofFloats(size.features(), size.d(), values);
        SafetensorsWriter.create()
                .add("W_enc", DType.F32, decoder.transpose())
                .addVector("b_enc", DType.F32, new double[size.features()])
                .add("W_dec", DType.F32, decoder)
                .addVector("b_dec", DType.F32, new double[size.d()])
                .writeTo(folder.resolve("sae_weights.safetensors"));
        Files.writeString(folder.resolve("cfg.json"), """
                {"architecture": "topk", "k": %d, "d_in": %d, "d_sae": %d, "apply_b_dec_to_input": false,
                 "normalize_activations": "none"}
                """.formatted(TOP_K, size.d(), size.features()));
    }

    /** Rows of a record of a window; traffic {@code kind} has directions and a mean of its own. */
    byte[] record(int kind, int record) {
        return SafetensorsWriter.create()
                .add("activations", DType.F32, rows(size, kind, record))
                .toBytes();
    }

    private static Matrix rows(Size size, int kind, int record) {
        SplittableRandom random = new SplittableRandom(1_000L * kind + record);
        Matrix rows = Matrix.zeros(ROWS_A_RECORD, size.d());
        int directions = size.d() / size.rank();
        int first = kind % directions * size.rank();
        for (int i = 0; i < ROWS_A_RECORD; i++) {
            for (int j = 0; j < size.d(); j++) {
                boolean loud = j >= first && j < first + size.rank();
                double mean = loud ? kind == 0 ? 0.0 : OFFSET : 0.0;
                rows.set(i, j, (float) (mean + (loud ? LOUD : FAINT) * random.nextGaussian()));
            }
        }
        return rows;
    }

    Size size() {
        return size;
    }

    Decoder trained() {
        return explainer.decoder();
    }

    /**
     * Returns the configuration of a monitor and adapter with every window a drifted one that is fitted by itself, and
     * a gate that lets pass what reconstructs better.
     */
    MonitorConfig config(String bootstrapServers, String run) {
        return MonitorConfig.parse(
                """
                application_id: %1$s
                kafka: {bootstrap.servers: "%2$s"}
                topics:
                  activations: %1$s-activations
                  moments: %1$s-moments
                  window_reports: %1$s-reports
                  adaptation_requests: %1$s-requests
                  adaptation_reports: %1$s-adaptations
                  decoders: %1$s-decoders
                  dead_letters: %1$s-letters
                window: {size: %3$dms, advance: %3$dms, grace: 0s, idle_close: off}
                sample: {rows: %4$d}
                state: {store: memory, directory: state-%1$s}
                http: {port: 0}
                sites:
                  %5$s:
                    explainer: explainer
                    baseline: baseline.safetensors
                    rank: %6$d
                    threshold: {share: 0.01}
                    clear: {share: 0.005}
                    debounce: 1 of 1
                    cooldown: 0s
                    adaptation:
                      mode: auto
                      max_swaps: 1000 per 1d
                      rollback: off
                      profile: paper
                      rank: %6$d
                      relative_lambdas: true
                      lambda_geometric: 2.0
                      lambda_preservation: 1.0
                      max_gap_growth: 1.0
                      minimum_cosine: -1.0
                      changed_features: 1.0
                      max_norm_ratio: 1000
                      max_id_cost: 1000
                      pooled_rows: %4$d
                """.formatted(run, bootstrapServers, WINDOW_MS, SAMPLED_ROWS, SITE, size.rank()), "bench.yaml", folder);
    }

    /** Computes once what does not depend on windows. */
    Map<String, WatchedSite> sites(MonitorConfig config) {
        config.sites().forEach((name, settings) -> {
            WatchedSite known = made.get(name);
            made.put(
                    name,
                    known == null
                            ? WatchedSite.of(settings, explainer, baseline)
                            : new WatchedSite(settings, explainer, baseline, known.geometry(), known.names()));
        });
        return made;
    }
}
