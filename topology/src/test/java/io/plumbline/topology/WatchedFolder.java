package io.plumbline.topology;

import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.baseline.CleanWindowPass;
import io.plumbline.baseline.Provenance;
import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.topology.assessment.SiteSettings;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Instant;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.function.LongFunction;
import org.apache.kafka.clients.producer.ProducerRecord;

/**
 * A small site in a folder: 8 dimensions, 16 features, rank 4. The encoder reads every dimension; the decoder
 * reproduces the first four and badly the rest. Quiet rows live in the first four dimensions, drifted rows in the last
 * four: the gap then is nearly the largest possible one, and a refit repairs the reconstruction.
 */
public final class WatchedFolder {

    public static final String SITE = "layer.a";
    public static final int WIDTH = 8;
    public static final int FEATURES = 16;
    public static final int ROWS = 8;
    public static final int RECORDS = 16;
    private static final int CLEAN_WINDOWS = 40;

    /** The configuration, beside the explainer. */
    public static final String FILE = "small.yaml";

    public static final String WINDOW = "size: 10s, advance: 10s, grace: 0s, idle_close: off";

    private static final Instant MADE = Instant.parse("2026-11-01T00:00:00Z");
    private static final double[] LOUD = {3.0, 2.5, 2.0, 1.5};
    private static final double[] FAINT = {0.12, 0.10, 0.08, 0.06};

    private WatchedFolder() {}

    /** Writes explainer and baseline, and reads the configuration that watches them. */
    public static MonitorConfig create(Path folder, String bootstrapServers) throws IOException {
        return create(folder, bootstrapServers, "f32");
    }

    /** @param dtype in which adapted decoders travel */
    static MonitorConfig create(Path folder, String bootstrapServers, String dtype) throws IOException {
        return createAdapting(folder, bootstrapServers, "mode: auto, dtype: " + dtype);
    }

    /** @param adaptation keys of {@code adaptation}, mode among them */
    public static MonitorConfig createAdapting(Path folder, String bootstrapServers, String adaptation)
            throws IOException {
        return create(folder, bootstrapServers, WINDOW, "", adaptation, List.of(SITE));
    }

    /**
     * Creates any number of sites of the one explainer.
     *
     * @param window the window's times
     * @param more lines of the file
     */
    public static MonitorConfig create(
            Path folder, String bootstrapServers, String window, String more, String... sites) throws IOException {
        return create(folder, bootstrapServers, window, more, "mode: auto", List.of(sites));
    }

    private static MonitorConfig create(
            Path folder, String bootstrapServers, String window, String more, String adaptation, List<String> sites)
            throws IOException {
        writeExplainer(Files.createDirectories(folder.resolve("explainer")));
        writeBaseline(folder.resolve("explainer"), folder.resolve("baseline.safetensors"));
        StringBuilder yaml = new StringBuilder("""
                application_id: small
                kafka: {bootstrap.servers: "%s", monitor.commit.interval.ms: 500}
                window: {%s, minimum_rows: 64}
                sample: {rows: 512}
                state: {store: memory, directory: state}
                http: {port: 0}
                %s
                sites:
                """.formatted(bootstrapServers, window, more));
        for (String site : sites) {
            yaml.append("""
                      %s:
                        explainer: explainer
                        baseline: baseline.safetensors
                        rank: 4
                        threshold: {share: 0.6}
                        clear: {share: 0.3}
                        debounce: 1 of 1
                        cooldown: 25s
                        adaptation: {profile: auto, max_norm_ratio: 10, %s}
                    """.formatted(site, adaptation).indent(2));
        }
        Files.writeString(folder.resolve(FILE), yaml);
        return MonitorConfig.parse(yaml.toString(), FILE, folder);
    }

    /**
     * Creates the site beside an explainer that describes the drifted rows as the first one describes the quiet ones,
     * with a baseline of the same rows.
     *
     * @param adaptation keys of {@code adaptation}, mode among them
     */
    public static MonitorConfig createWithCandidate(Path folder, String bootstrapServers, String adaptation)
            throws IOException {
        createAdapting(folder, bootstrapServers, adaptation);
        Path candidate = Files.createDirectories(folder.resolve("candidate"));
        writeExplainer(candidate, 0.8, 1.0);
        writeBaseline(candidate, folder.resolve("candidate.safetensors"));
        String yaml = Files.readString(folder.resolve(FILE))
                + "      candidate: {explainer: candidate, baseline: candidate.safetensors, better: 2 of 3}\n";
        Files.writeString(folder.resolve(FILE), yaml);
        return MonitorConfig.parse(yaml, FILE, folder);
    }

    private static void writeBaseline(Path explainer, Path file) throws IOException {
        writeBaseline(explainer, file, 4 * RECORDS);
    }

    /** Writes a baseline of so many quiet requests; a larger one begins with the same. */
    public static void writeBaseline(Path explainer, Path file, int records) throws IOException {
        BaselineBuilder baseline = BaselineBuilder.of(Formats.read(explainer), List.of(4), List.of());
        for (int record = 0; record < records; record++) {
            baseline.add(new ActivationBatch(quiet(-1 - record), null, null));
        }
        baseline.build().with(Provenance.first(MADE, "quiet rows")).write(file);
    }

    /**
     * Creates sites of the one explainer that the same requests pass and that are judged as one, each with a baseline
     * of its own.
     *
     * @param more lines of the file
     * @param model keys of the model
     */
    public static MonitorConfig createModel(
            Path folder, String bootstrapServers, String more, String model, String... sites) throws IOException {
        writeExplainer(Files.createDirectories(folder.resolve("explainer")));
        Explainer explainer = Formats.read(folder.resolve("explainer"));
        StringBuilder yaml =
                new StringBuilder("""
                application_id: small
                kafka: {bootstrap.servers: "%s", monitor.commit.interval.ms: 500}
                window: {%s, minimum_rows: 64}
                sample: {rows: 512}
                state: {store: memory, directory: state}
                http: {port: 0}
                %s
                models:
                  small: {sites: [%s], %s}
                sites:
                """.formatted(bootstrapServers, WINDOW, more, String.join(", ", sites), model));
        for (String site : sites) {
            BaselineBuilder builder = BaselineBuilder.of(explainer, List.of(4), List.of(ROWS * RECORDS))
                    .encoding(512);
            LongFunction<ActivationBatch> request =
                    record -> new ActivationBatch(quiet(site.hashCode() * 1_000L + record), null, null);
            for (int record = 0; record < CLEAN_WINDOWS * RECORDS; record++) {
                builder.add(request.apply(record));
            }
            CleanWindowPass windows = builder.secondPass();
            for (int record = 0; record < CLEAN_WINDOWS * RECORDS; record++) {
                windows.add(request.apply(record));
            }
            windows.build().with(Provenance.first(MADE, "quiet rows")).write(folder.resolve(site + ".safetensors"));
            yaml.append("""
                      %s:
                        explainer: explainer
                        baseline: %s.safetensors
                        rank: 4
                        trigger: [faithfulness_gap, reconstruction_fvu_trained]
                        debounce: 1 of 1
                        adaptation: {mode: observe}
                    """.formatted(site, site).indent(2));
        }
        Files.writeString(folder.resolve(FILE), yaml);
        return MonitorConfig.parse(yaml.toString(), FILE, folder);
    }

    /** The configuration that was last written there, with another cooldown than 25 s. */
    static MonitorConfig cooling(Path folder, String cooldown) throws IOException {
        Path file = folder.resolve(FILE);
        String yaml = Files.readString(file).replaceAll("cooldown: \\w+", "cooldown: " + cooldown);
        Files.writeString(file, yaml);
        return MonitorConfig.parse(yaml, FILE, folder);
    }

    public static Map<String, WatchedSite> sites(MonitorConfig config) throws IOException {
        Map<String, WatchedSite> sites = new LinkedHashMap<>();
        for (SiteSettings settings : config.sites().values()) {
            sites.put(settings.site(), WatchedSite.read(settings));
        }
        return sites;
    }

    public static Matrix quiet(long seed) {
        return rows(seed, LOUD, FAINT);
    }

    public static Matrix drifted(long seed) {
        return rows(seed, FAINT, LOUD);
    }

    /** Returns the records of one window, all in partition 0, whose rows {@code traffic} makes of their times. */
    public static List<ProducerRecord<byte[], byte[]>> window(long startMs, LongFunction<Matrix> traffic) {
        List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
        for (int i = 0; i < RECORDS; i++) {
            long time = startMs + i * 100L;
            records.add(new ProducerRecord<>(
                    "activations",
                    0,
                    time,
                    SITE.getBytes(StandardCharsets.UTF_8),
                    ActivationRecords.blob(traffic.apply(time))));
        }
        return records;
    }

    private static Matrix rows(long seed, double[] first, double[] last) {
        Random random = new Random(seed);
        Matrix rows = Matrix.zeros(ROWS, WIDTH);
        for (int i = 0; i < ROWS; i++) {
            for (int j = 0; j < WIDTH; j++) {
                double scale = j < 4 ? first[j] : last[j - 4];
                rows.set(i, j, (float) (scale * random.nextGaussian()));
            }
        }
        return rows;
    }

    private static void writeExplainer(Path folder) throws IOException {
        writeExplainer(folder, 1.0, 0.2);
    }

    /** Writes one that gives so much of the first four dimensions back, and so much of the last four. */
    private static void writeExplainer(Path folder, double first, double last) throws IOException {
        Matrix encoder = Matrix.zeros(WIDTH, FEATURES);
        Matrix decoder = Matrix.zeros(FEATURES, WIDTH);
        for (int j = 0; j < WIDTH; j++) {
            double strength = j < 4 ? first : last;
            encoder.set(j, j, 1.0);
            encoder.set(j, j + WIDTH, -1.0);
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
