package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.baseline.BaselineBuilder;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.fixtures.EmbeddedBroker;
import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Comparator;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.stream.Stream;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Prints what bad records cost good ones; asserts only that all arrive, since time is the machine's. */
class PoisonSoak {

    private static final long T0 = 1_700_000_000_000L;

    @TempDir
    private Path folder;

    /** Measures the cheapest records there are, and such as a model sends: 64 rows of 256 values, 65 kB. */
    @ParameterizedTest(name = "{0} good records, {1} values a row")
    @CsvSource({"70000, 8", "10000, 256"})
    void printsTheTimeOfGoodRecordsAloneAndAmongBadOnes(int good, int width) throws Exception {
        Poison poison = width == WatchedFolder.WIDTH ? Poison.SMALL : new Poison(width, 64, seed -> rows(seed, width));
        double warmUp = seconds("warm-up", poison, good / 4, 0.3);
        for (int round = 1; round <= 3; round++) {
            double alone = seconds("alone" + round, poison, good, 0);
            double among = seconds("among" + round, poison, good, 0.3);
            System.out.printf(
                    "%d values, round %d: %,d good records alone %.2f s; among 30 %% bad ones %.2f s; ratio %.2f, "
                            + "their share of records %.2f%n",
                    width, round, good, alone, among, among / alone, 1 / 0.7);
        }
        assertTrue(warmUp > 0);
    }

    private static Matrix rows(long seed, int width) {
        Random random = new Random(seed);
        Matrix rows = Matrix.zeros(64, width);
        Arrays.setAll(rows.values(), i -> (float) ((1.0 + i % width % 7) * random.nextGaussian()));
        return rows;
    }

    /** Returns the seconds from start until the last good record is counted and the last bad one is a letter. */
    private double seconds(String name, Poison poison, int good, double badShare) throws Exception {
        Path place = folder.resolve(name);
        try (EmbeddedBroker broker = EmbeddedBroker.start(place)) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            MonitorConfig config = config(folder.resolve(name + "-site"), broker.bootstrapServers(), poison);
            List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
            int bad = 0;
            for (int i = 0; i < good; i++) {
                records.add(poison.good(i % 100, T0 + i));
                while (bad < badShare / (1 - badShare) * (i + 1)) {
                    records.add(poison.bad(Poison.REASONS[bad % Poison.REASONS.length], bad, T0 + i));
                    bad++;
                }
            }
            client.sendAll(records);
            int letters = bad;
            try (PlumblineRuntime runtime = PlumblineRuntime.start(config, Role.MONITOR)) {
                BrokerClient.awaitThat(() -> count(runtime, "plumbline_records_total") > 0, () -> "nothing read");
                long begin = System.nanoTime();
                double before = count(runtime, "plumbline_records_total");
                BrokerClient.awaitThat(
                        () -> count(runtime, "plumbline_records_total") == good
                                && count(runtime, "plumbline_dead_letters_total") == letters,
                        () -> "not all read");
                double elapsed = (System.nanoTime() - begin) / 1e9;
                // Of what was not read yet when the clock started.
                return elapsed * good / (good - before);
            }
        } finally {
            delete(place);
        }
    }

    private static MonitorConfig config(Path site, String bootstrapServers, Poison poison) throws Exception {
        String limits = "limits: {rows_per_record: %d}".formatted(poison.most());
        MonitorConfig small =
                WatchedFolder.create(site, bootstrapServers, WatchedFolder.WINDOW, limits, WatchedFolder.SITE);
        if (poison.width() == WatchedFolder.WIDTH) {
            return small;
        }
        int width = poison.width();
        Matrix identity = Matrix.zeros(width, width);
        for (int j = 0; j < width; j++) {
            identity.set(j, j, 1.0 + j % 7);
        }
        SafetensorsWriter.create()
                .add("W_enc", DType.F32, identity)
                .addVector("b_enc", DType.F32, new double[width])
                .add("W_dec", DType.F32, identity)
                .addVector("b_dec", DType.F32, new double[width])
                .writeTo(site.resolve("explainer/sae_weights.safetensors"));
        Files.writeString(site.resolve("explainer/cfg.json"), """
                {"architecture": "standard", "d_in": %1$d, "d_sae": %1$d, "apply_b_dec_to_input": false,
                 "normalize_activations": "none"}
                """.formatted(width));
        BaselineBuilder baseline = BaselineBuilder.of(Formats.read(site.resolve("explainer")), List.of(4), List.of());
        for (int record = 0; record < 16; record++) {
            baseline.add(new ActivationBatch(poison.rows().apply(-1 - record), null, null));
        }
        baseline.build().write(site.resolve("baseline.safetensors"));
        return MonitorConfig.load(site.resolve(WatchedFolder.FILE));
    }

    private static void delete(Path directory) throws IOException {
        try (Stream<Path> files = Files.walk(directory)) {
            for (Path path : files.sorted(Comparator.reverseOrder()).toList()) {
                Files.delete(path);
            }
        }
    }

    private static double count(PlumblineRuntime runtime, String name) {
        try {
            return PoisonIT.sum(PoisonIT.metrics(runtime), name);
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }
}
