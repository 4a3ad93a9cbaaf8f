package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertEquals;

import io.plumbline.linalg.Matrix;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.ingest.Ingested;
import io.plumbline.topology.ingest.Limits;
import io.plumbline.topology.panes.LateReason;
import io.plumbline.topology.panes.PaneMessage;
import io.plumbline.topology.panes.PaneStore;
import io.plumbline.topology.panes.RequestTotalling;
import io.plumbline.topology.panes.StoreKind;
import io.plumbline.topology.panes.WindowSettings;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import java.util.Set;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Tests a hopping window of 12 panes: every row is in twelve windows, and is multiplied, sent and stored once. */
class HoppingWindowsTest {

    private static final String SITE = "blocks.7";
    private static final int WIDTH = 5;
    private static final int ROWS = 4;
    private static final long T0 = 1_700_000_000_000L / 60_000 * 60_000;
    private static final int PANES_PER_WINDOW = 12;
    private static final int SECONDS = 40;

    private final AtomicLong accumulated = new AtomicLong();
    private final List<ClosedWindow> windows = new ArrayList<>();

    @TempDir
    private Path stateDirectory;

    @Test
    void twelvePanesAWindowDoNotMultiplyTheWork() {
        WindowSettings settings = new WindowSettings(
                Duration.ofSeconds(PANES_PER_WINDOW), Duration.ofSeconds(1), Duration.ZERO, null, null);
        try (TopologyTestDriver driver = driver(settings)) {
            TestInputTopic<byte[], byte[]> in =
                    driver.createInputTopic("activations", new ByteArraySerializer(), new ByteArraySerializer());
            PaneStore<SiteProgress> store = store(driver);
            int mostOpen = 0;
            for (int second = 0; second < SECONDS; second++) {
                in.pipeInput(new byte[] {1}, new byte[] {(byte) second}, Instant.ofEpochMilli(T0 + second * 1_000L));
                mostOpen = Math.max(mostOpen, store.panes(SITE).size());
            }
            long sent = driver
                    .createOutputTopic("moments", new ByteArrayDeserializer(), new ByteArrayDeserializer())
                    .readValuesToList()
                    .stream()
                    .map(bytes -> PaneMessage.decode(bytes, PaneMessage.application("hopping")))
                    .filter(PaneMessage.OfPane.class::isInstance)
                    .mapToLong(tile -> ((PaneMessage.OfPane) tile).rows())
                    .sum();
            assertEquals((long) SECONDS * ROWS, accumulated.get());
            assertEquals((SECONDS - 1L) * ROWS, sent, "the last pane is open");
            assertEquals(SECONDS - 1, windows.size());
            assertEquals(
                    PANES_PER_WINDOW * ROWS, windows.get(SECONDS - 2).moment().rows());
            assertEquals(PANES_PER_WINDOW - 1, mostOpen, "between two closes");
        }
    }

    private static PaneStore<SiteProgress> store(TopologyTestDriver driver) {
        @SuppressWarnings("unchecked")
        PaneStore<SiteProgress> store = (PaneStore<SiteProgress>) driver.getStateStore(WindowStage.WINDOWS_STORE);
        return store;
    }

    private TopologyTestDriver driver(WindowSettings settings) {
        WindowListener listener = new WindowListener() {
            @Override
            public void onLate(String site, long rows, LateReason reason) {}

            @Override
            public void onAccumulated(String site, int rows, long nanoseconds) {
                accumulated.addAndGet(rows);
            }

            @Override
            public void onWindowClosed(String site, long rows) {}
        };
        WindowStage stage = new WindowStage(
                settings,
                StoreKind.MEMORY,
                Map.of(SITE, WIDTH),
                16,
                RequestTotalling.NONE,
                Map.of(),
                listener,
                Map.of());
        WindowStage.Source source =
                new WindowStage.Source(WindowStage.PANES_STORE, Set.of(SITE), 1, SourceWatch.ALWAYS_READ);
        ByteArrayDeserializer in = new ByteArrayDeserializer();
        ByteArraySerializer out = new ByteArraySerializer();
        Topology topology = new Topology();
        topology.addSource("activations-source", in, in, "activations");
        topology.addProcessor("batch", Batcher::new, "activations-source");
        topology.addProcessor("accumulate", stage.accumulator(source, Limits.DEFAULT.ahead()), "batch");
        topology.addSink("closed-panes", "moments", out, out, "accumulate");
        topology.addSource("moments-source", in, in, "moments");
        topology.addProcessor("compose", stage.composer(), "moments-source");
        topology.addProcessor("collect", () -> new Collector(windows), "compose");
        Properties properties = new Properties();
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "hopping");
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "unused:9092");
        properties.put(StreamsConfig.STATE_DIR_CONFIG, stateDirectory.toString());
        properties.put("processing.exception.handler.global.enabled", true);
        properties.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.ByteArraySerde.class);
        return new TopologyTestDriver(topology, properties, Instant.ofEpochMilli(T0));
    }

    /** Makes one batch per record, of the record's number. */
    private static final class Batcher extends ContextualProcessor<byte[], byte[], String, Ingested> {
        @Override
        public void process(Record<byte[], byte[]> record) {
            Matrix rows = ActivationRecords.integerRows(record.value()[0], ROWS, WIDTH);
            long number = record.timestamp();
            context()
                    .forward(new Record<>(
                            SITE,
                            Panes.rows(SITE, number, ActivationRecords.undecoded(rows), number),
                            record.timestamp()));
        }
    }

    private static final class Collector extends ContextualProcessor<String, ClosedWindow, Void, Void> {
        private final List<ClosedWindow> windows;

        private Collector(List<ClosedWindow> windows) {
            this.windows = windows;
        }

        @Override
        public void process(Record<String, ClosedWindow> record) {
            windows.add(record.value());
        }
    }
}
