package io.plumbline.topology.windows;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.records.MomentTile;
import io.plumbline.topology.ActivationRecords;
import io.plumbline.topology.panes.LateReason;
import io.plumbline.topology.panes.PaneMessage;
import io.plumbline.topology.panes.PaneStore;
import io.plumbline.topology.panes.RequestTotalling;
import io.plumbline.topology.panes.RowsRead;
import io.plumbline.topology.panes.SiteClock;
import io.plumbline.topology.panes.StoreKind;
import io.plumbline.topology.panes.WindowSettings;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Properties;
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

/**
 * Tests a rolling restart in which an instance with the older configuration gets panes of a new site. Were they
 * skipped, the site would lose rows without a count; were a partition's one word that it has none of its rows skipped,
 * its windows would never close.
 */
class UnknownSiteTest {

    private static final int WIDTH = 5;
    private static final long PANE_MS = 10_000;
    private static final long APPLICATION = PaneMessage.application("unknown-site");

    private final List<String> closed = new ArrayList<>();

    @TempDir
    private Path stateDirectory;

    @Test
    void panesAndProgressOfASiteNotConfiguredHereAreKeptAndItsWindowsNotClosed() {
        SecondMomentAccumulator moment = SecondMomentAccumulator.ofDimension(WIDTH);
        moment.add(ActivationRecords.integerRows(9, 4, WIDTH));
        MomentTile tile = MomentTile.cut(WIDTH, 4, moment.state(), 0);
        try (TopologyTestDriver driver = driver()) {
            TestInputTopic<byte[], byte[]> moments =
                    driver.createInputTopic("moments", new ByteArraySerializer(), new ByteArraySerializer());
            byte[] site = "new".getBytes(StandardCharsets.UTF_8);
            moments.pipeInput(site, Panes.tile(0, PANE_MS, tile).encode(APPLICATION));
            moments.pipeInput(
                    site,
                    new PaneMessage.Progress(0, 2, PANE_MS, false, PANE_MS, new RowsRead(4, 0, 0, 0, 0))
                            .encode(APPLICATION));
            moments.pipeInput(
                    site,
                    new PaneMessage.Progress(1, 2, SiteClock.NEVER, true, SiteClock.NEVER, RowsRead.NONE)
                            .encode(APPLICATION));
            @SuppressWarnings("unchecked")
            PaneStore<SiteProgress> store = (PaneStore<SiteProgress>) driver.getStateStore(WindowStage.WINDOWS_STORE);
            assertTrue(closed.isEmpty());
            store.reset(Map.of()); // as the instance that takes the task over reads it
            assertEquals(4, store.panes("new").get(0L).rows());
            assertEquals(PANE_MS, store.site("new").frontierMs(), "both partitions were heard");
        }
    }

    private TopologyTestDriver driver() {
        WindowListener listener = new WindowListener() {
            @Override
            public void onLate(String site, long rows, LateReason reason) {}

            @Override
            public void onAccumulated(String site, int rows, long nanoseconds) {}

            @Override
            public void onWindowClosed(String site, long rows) {
                closed.add(site);
            }
        };
        WindowSettings settings =
                new WindowSettings(Duration.ofMillis(PANE_MS), Duration.ofMillis(PANE_MS), Duration.ZERO, null, null);
        WindowStage stage = new WindowStage(
                settings,
                StoreKind.MEMORY,
                Map.of("old", WIDTH),
                16,
                RequestTotalling.NONE,
                Map.of(),
                listener,
                Map.of());
        Topology topology = new Topology();
        ByteArrayDeserializer in = new ByteArrayDeserializer();
        topology.addSource("moments-source", in, in, "moments");
        topology.addProcessor("compose", stage.composer(), "moments-source");
        topology.addProcessor("ignore", Ignore::new, "compose");
        Properties properties = new Properties();
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "unknown-site");
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, "unused:9092");
        properties.put(StreamsConfig.STATE_DIR_CONFIG, stateDirectory.toString());
        properties.put("processing.exception.handler.global.enabled", true);
        properties.put(StreamsConfig.DEFAULT_KEY_SERDE_CLASS_CONFIG, Serdes.ByteArraySerde.class);
        return new TopologyTestDriver(topology, properties, Instant.EPOCH);
    }

    private static final class Ignore extends ContextualProcessor<String, ClosedWindow, Void, Void> {
        @Override
        public void process(Record<String, ClosedWindow> record) {}
    }
}
