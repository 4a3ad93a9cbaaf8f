package io.plumbline.topology.runtime;

import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.BrokerClient;
import io.plumbline.topology.MonitorConfig;
import io.plumbline.topology.WatchedFolder;
import io.plumbline.topology.demo.EmbeddedBroker;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Prints what bad records cost good ones; asserts only that all arrive, since time is the machine's. */
class PoisonSoak {

    private static final long T0 = 1_700_000_000_000L;
    private static final int GOOD = 70_000;
    private static final int WARM_UP = 20_000;

    @TempDir
    private Path folder;

    @Test
    void printsTheTimeOfGoodRecordsAloneAndAmongBadOnes() throws Exception {
        double warmUp = seconds("warm-up", WARM_UP, 0.3);
        for (int round = 1; round <= 3; round++) {
            double alone = seconds("alone" + round, GOOD, 0);
            double among = seconds("among" + round, GOOD, 0.3);
            System.out.printf(
                    "round %d: %,d good records alone %.2f s; among 30 %% bad ones %.2f s; ratio %.2f, their share of records %.2f%n",
                    round, GOOD, alone, among, among / alone, 1 / 0.7);
        }
        assertTrue(warmUp > 0);
    }

    /** From start until the last good record is counted and the last bad one is a letter. */
    private double seconds(String name, int good, double badShare) throws Exception {
        try (EmbeddedBroker broker = EmbeddedBroker.start(folder.resolve(name))) {
            BrokerClient client = new BrokerClient(broker.bootstrapServers());
            client.createTopic("activations", 1, Map.of("retention.ms", "-1"));
            MonitorConfig config = WatchedFolder.create(
                    folder.resolve(name + "-site"),
                    broker.bootstrapServers(),
                    WatchedFolder.WINDOW,
                    "limits: {rows_per_record: %d}".formatted(Poison.MOST_ROWS),
                    WatchedFolder.SITE);
            List<ProducerRecord<byte[], byte[]>> records = new ArrayList<>();
            int bad = 0;
            for (int i = 0; i < good; i++) {
                records.add(Poison.good(i % 100, T0 + i));
                while (bad < badShare / (1 - badShare) * (i + 1)) {
                    records.add(Poison.bad(Poison.REASONS[bad % Poison.REASONS.length], bad, T0 + i));
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
