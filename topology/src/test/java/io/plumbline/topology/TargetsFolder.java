package io.plumbline.topology;

import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.ExplainerOptions;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * A cross-layer transcoder in a folder: three layers of the rows of {@link WatchedFolder}. Each layer writes them into
 * itself as that explainer does, and a little into the layers above. A layer whose rows drift is a drift of its own
 * target alone.
 */
public final class TargetsFolder {

    public static final String SITE = "clt";
    public static final int LAYERS = 3;

    /** The configuration, beside the explainer. */
    public static final String FILE = "targets.yaml";

    private static final int WIDTH = WatchedFolder.WIDTH;
    private static final int FEATURES = WatchedFolder.FEATURES;
    private static final double INTO_LAYERS_ABOVE = 0.1;
    private static final double INTO_STUBBORN = 0.02;

    /** The layer whose decoder reproduces drifted rows so badly that the gate lets no refit of it pass. */
    public static final int STUBBORN = 2;

    private TargetsFolder() {}

    /**
     * Writes explainer and baselines, and reads the configuration that watches them.
     *
     * @param adaptation keys of {@code adaptation}, mode among them
     */
    public static MonitorConfig create(Path folder, String bootstrapServers, String adaptation) throws IOException {
        write(folder);
        String yaml = yaml(bootstrapServers, adaptation);
        Files.writeString(folder.resolve(FILE), yaml);
        return MonitorConfig.parse(yaml, FILE, folder);
    }

    /** Writes explainer and baselines. */
    public static void write(Path folder) throws IOException {
        Path explainer = Files.createDirectories(folder.resolve("explainer"));
        writeExplainer(explainer);
        Path baselines = Files.createDirectories(folder.resolve("baselines"));
        List<Explainer> blocks = Formats.readBlocks(explainer, ExplainerOptions.NONE);
        for (int target = 0; target < LAYERS; target++) {
            BaselineBuilder baseline = BaselineBuilder.of(blocks.get(target), List.of(4), List.of());
            for (int record = 0; record < 4 * WatchedFolder.RECORDS; record++) {
                baseline.add(batch(-1 - record, target));
            }
            baseline.build().write(baselines.resolve("targets.%d.safetensors".formatted(target)));
        }
    }

    /** Returns the configuration that watches explainer and baselines of its folder. */
    public static String yaml(String bootstrapServers, String adaptation) {
        return """
                application_id: targets
                kafka: {bootstrap.servers: "%s", monitor.commit.interval.ms: 500}
                window: {%s, minimum_rows: 64}
                sample: {rows: 512}
                state: {store: memory, directory: state}
                http: {port: 0}
                sites:
                  %s:
                    explainer: explainer
                    targets: [0, 1, 2]
                    baseline: baselines
                    rank: 4
                    threshold: {share: 0.6}
                    clear: {share: 0.3}
                    debounce: 1 of 1
                    cooldown: 0s
                    adaptation: {%s}
                """.formatted(bootstrapServers, WatchedFolder.WINDOW, SITE, adaptation);
    }

    /** Returns the records of one window, in which the given layers have drifted. */
    public static List<ProducerRecord<byte[], byte[]>> window(long startMs, Set<Integer> drifted) {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < WatchedFolder.RECORDS; i++) {
            long time = startMs + i * 100L;
            records.add(new ProducerRecord<>(
                    "activations", 0, time, SITE.getBytes(StandardCharsets.UTF_8), record(time, drifted)));
        }
        return records;
    }

    /** Returns a record with the rows of all layers; the given layers have drifted. */
    static byte[] record(long seed, Set<Integer> drifted) {
        SafetensorsWriter writer = SafetensorsWriter.create();
        for (int layer = 0; layer < LAYERS; layer++) {
            Matrix rows = rows(seed, layer, drifted);
            writer.add("activations." + layer, DType.F32, rows).add("targets." + layer, DType.F32, rows);
        }
        return writer.toBytes();
    }

    /** Returns the rows of a layer, which its target should be as well. */
    private static Matrix rows(long seed, int layer, Set<Integer> drifted) {
        long own = seed * LAYERS + layer;
        return drifted.contains(layer) ? WatchedFolder.drifted(own) : WatchedFolder.quiet(own);
    }

    /** Returns quiet rows as the block of a target reads them: those of its source layers side by side. */
    private static ActivationBatch batch(long seed, int target) {
        Matrix joined = Matrix.zeros(WatchedFolder.ROWS, (target + 1) * WIDTH);
        for (int layer = 0; layer <= target; layer++) {
            Matrix rows = rows(seed, layer, Set.of());
            for (int i = 0; i < rows.rows(); i++) {
                for (int j = 0; j < WIDTH; j++) {
                    joined.set(i, layer * WIDTH + j, rows.get(i, j));
                }
            }
        }
        return new ActivationBatch(joined, rows(seed, target, Set.of()), null);
    }

    private static void writeExplainer(Path folder) throws IOException {
        for (int layer = 0; layer < LAYERS; layer++) {
            Matrix encoder = Matrix.zeros(FEATURES, WIDTH);
            int written = LAYERS - layer;
            ByteBuffer decoder = ByteBuffer.allocate(FEATURES * written * WIDTH * Float.BYTES)
                    .order(ByteOrder.LITTLE_ENDIAN);
            for (int j = 0; j < WIDTH; j++) {
                encoder.set(j, j, 1.0);
                encoder.set(j + WIDTH, j, -1.0);
                for (int above = 0; above < written; above++) {
                    double strength = strength(layer, layer + above, j);
                    decoder.putFloat(Float.BYTES * ((j * written + above) * WIDTH + j), (float) strength);
                    decoder.putFloat(Float.BYTES * (((j + WIDTH) * written + above) * WIDTH + j), (float) -strength);
                }
            }
            SafetensorsWriter.create()
                    .add("W_enc_" + layer, DType.F32, encoder)
                    .addVector("b_enc_" + layer, DType.F32, new double[FEATURES])
                    .addVector("b_dec_" + layer, DType.F32, new double[WIDTH])
                    .writeTo(folder.resolve("W_enc_%d.safetensors".formatted(layer)));
            SafetensorsWriter.create()
                    .addRaw("W_dec_" + layer, DType.F32, new long[] {FEATURES, written, WIDTH}, decoder)
                    .writeTo(folder.resolve("W_dec_%d.safetensors".formatted(layer)));
        }
        Files.writeString(folder.resolve("config.yaml"), "model_kind: cross_layer_transcoder\n");
    }

    /** Returns how much a feature of a layer writes into another layer for what it reads there. */
    private static double strength(int layer, int into, int dimension) {
        if (layer < into) {
            return into == STUBBORN ? INTO_STUBBORN : INTO_LAYERS_ABOVE;
        }
        return dimension < 4 ? 1.0 : layer == STUBBORN ? 0.01 : 0.2;
    }
}
