package io.plumbline.topology;

import io.plumbline.topology.assessment.DriftListener;
import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.broker.StreamsSettings;
import io.plumbline.topology.broker.Topics;
import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.windows.WindowListener;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Properties;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.TestInputTopic;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.TopologyTestDriver;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;
import org.apache.kafka.streams.test.TestRecord;
import org.jspecify.annotations.Nullable;

/** Runs a topology in the test driver, spoken to in bytes. */
public final class Streaming implements AutoCloseable {

    /** The wall-clock time, later than the event times of any test. */
    private static final Instant NOW = Instant.parse("2030-01-01T00:00:00Z");

    private final TopologyTestDriver driver;

    public Streaming(Topology topology, Properties settings, Path stateDirectory) {
        Properties properties = new Properties();
        properties.putAll(settings);
        properties.put(StreamsConfig.STATE_DIR_CONFIG, stateDirectory.toString());
        driver = new TopologyTestDriver(topology, properties, NOW);
    }

    /** Runs a monitor with a listener for its windows alone, on topics that take a megabyte. */
    public static Streaming monitor(MonitorConfig config, Path stateDirectory, DriftListener listener)
            throws IOException {
        return new Streaming(
                MonitorTopology.build(
                        config,
                        WatchedSite.readAll(config.sites().values()),
                        Topics.Prepared.of(config.topics().activations(), 1, 1_000_000),
                        site -> null,
                        new MonitorTopology.Listeners(new IngestListener() {}, new WindowListener() {}, listener)),
                StreamsSettings.monitor(config),
                stateDirectory);
    }

    void send(String topic, byte @Nullable [] key, byte @Nullable [] value, long timestampMs) {
        send(topic, key, value, new RecordHeaders(), timestampMs);
    }

    void send(String topic, byte @Nullable [] key, byte @Nullable [] value, Headers headers, long timestampMs) {
        TestInputTopic<byte[], byte[]> input =
                driver.createInputTopic(topic, new ByteArraySerializer(), new ByteArraySerializer());
        input.pipeInput(new TestRecord<>(key, value, headers, Instant.ofEpochMilli(timestampMs)));
    }

    public void send(String topic, @Nullable String key, byte @Nullable [] value, long timestampMs) {
        send(topic, key == null ? null : key.getBytes(StandardCharsets.UTF_8), value, timestampMs);
    }

    /** Returns what is in a store, in the order of its keys. */
    Map<String, byte[]> store(String name) {
        Map<String, byte[]> entries = new LinkedHashMap<>();
        KeyValueStore<String, byte[]> store = driver.getKeyValueStore(name);
        try (KeyValueIterator<String, byte[]> all = store.all()) {
            all.forEachRemaining(entry -> entries.put(entry.key, entry.value));
        }
        return entries;
    }

    /** Lets wall-clock time pass. */
    void pass(Duration time) {
        driver.advanceWallClockTime(time);
    }

    public List<TestRecord<byte[], byte[]>> read(String topic) {
        return driver.createOutputTopic(topic, new ByteArrayDeserializer(), new ByteArrayDeserializer())
                .readRecordsToList();
    }

    @Override
    public void close() {
        driver.close();
    }
}
