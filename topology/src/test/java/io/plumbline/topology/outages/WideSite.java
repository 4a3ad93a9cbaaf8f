package io.plumbline.topology.outages;

import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Random;

/**
 * A site whose decoder travels in many chunks: 160 dimensions, 24,576 features, 15.7 MB. Quiet rows live in the first
 * four dimensions, which the decoder reproduces; drifted rows in the next four, which it does not, until it is
 * refitted.
 */
final class WideSite {

    static final String SITE = "layer.wide";
    static final int WIDTH = 160;
    static final int FEATURES = 24_576;

    /** The number of chunks of 512 KiB, 26 bytes of each are a header. */
    static final int CHUNKS = 31;

    static final int ROWS = 8;
    static final int RECORDS = 24;
    static final int WINDOW_MS = 10_000;

    private static final double[] LOUD = {3.0, 2.5, 2.0, 1.5};
    private static final double FAINT = 0.1;

    private WideSite() {}

    /** Writes explainer, baseline and configuration; properties of the clients as lines of YAML. */
    static MonitorConfig create(Path folder, String bootstrapServers, List<String> kafka, String mode)
            throws IOException {
        Path explainer = Files.createDirectories(folder.resolve("explainer"));
        writeExplainer(explainer);
        BaselineBuilder baseline = BaselineBuilder.of(Formats.read(explainer), List.of(4), List.of());
        for (int record = 0; record < RECORDS; record++) {
            baseline.add(new ActivationBatch(quiet(-1 - record), null, null));
        }
        baseline.build().write(folder.resolve("baseline.safetensors"));
        Path file = config(folder);
        Files.writeString(
                file,
                """
                application_id: wide
                kafka:
                  bootstrap.servers: "%s"
                  %s
                window: {size: %dms, advance: %dms, grace: 0s, idle_close: off, minimum_rows: 64}
                sample: {rows: 512}
                state: {store: memory, directory: state}
                http: {port: 0}
                sites:
                  %s:
                    explainer: explainer
                    baseline: baseline.safetensors
                    rank: 4
                    threshold: {share: 0.6}
                    clear: {share: 0.3}
                    debounce: 1 of 1
                    cooldown: 0s
                    adaptation: {mode: %s, max_swaps: 1000 per 1d, max_norm_ratio: 10, max_id_cost: 1, profile: paper, relative_lambdas: true, rank: 160, lambda_preservation: 0.01, lambda_geometric: 0.0}
                """.formatted(bootstrapServers, String.join("\n  ", kafka), WINDOW_MS, WINDOW_MS, SITE, mode),
                StandardCharsets.UTF_8);
        return MonitorConfig.load(file);
    }

    static Path config(Path folder) {
        return folder.resolve("wide.yaml");
    }

    static Matrix quiet(long seed) {
        return rows(seed, 0);
    }

    static Matrix drifted(long seed) {
        return rows(seed, LOUD.length);
    }

    private static Matrix rows(long seed, int loudFrom) {
        Random random = new Random(seed);
        Matrix rows = Matrix.zeros(ROWS, WIDTH);
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < WIDTH; j++) {
                boolean loud = j >= loudFrom && j < loudFrom + LOUD.length;
                rows.set(i, j, (float) ((loud ? LOUD[j - loudFrom] : FAINT) * random.nextGaussian()));
            }
        }
        return rows;
    }

    private static void writeExplainer(Path folder) throws IOException {
        Matrix encoder = Matrix.zeros(WIDTH, FEATURES);
        Matrix decoder = Matrix.zeros(FEATURES, WIDTH);
        Random random = new Random(1);
        // Features that never fire: an artefact of zeros would be the same torn or whole.
        for (int i = 0; i < decoder.values().length; i++) {
            decoder.values()[i] = (float) (1e-3 * random.nextGaussian());
        }
        for (int j = 0; j < WIDTH; j++) {
            // What the decoder reproduces is weaker in it than what a refit makes of the rest: the gap falls for all to
            // see.
            double strength = j < LOUD.length ? 0.6 : 0.2;
            double reading = j < LOUD.length ? 1.0 / strength : 1.0;
            encoder.set(j, j, reading);
            encoder.set(j, j + WIDTH, -reading);
            decoder.set(j, j, strength);
            decoder.set(j + WIDTH, j, -strength);
        }
        SafetensorsWriter.create()
                .add("W_enc", DType.F32, encoder)
                .addVector("b_enc", DType.F32, new double[FEATURES])
                .add("W_dec", DType.F32, decoder)
                .addVector("b_dec", DType.F32, new double[WIDTH])
                .writeTo(folder.resolve("sae_weights.safetensors"));
        Files.writeString(folder.resolve("cfg.json"), """
                {"architecture": "standard", "d_in": %d, "d_sae": %d, "apply_b_dec_to_input": false,
                 "normalize_activations": "none"}
                """.formatted(WIDTH, FEATURES));
    }
}
