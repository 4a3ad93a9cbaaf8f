package io.plumbline.topology.windows;

import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.ingest.IngestListener;
import io.plumbline.topology.ingest.IngestProcessor;
import io.plumbline.topology.ingest.SiteShape;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.streams.AutoOffsetReset;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.processor.api.ContextualProcessor;
import org.apache.kafka.streams.processor.api.Record;

/**
 * The stages up to closed windows as a program of its own, to be killed. Every window leaves as its start, rows and a
 * 64-bit hash over every bit of its moment.
 *
 * <p>Arguments: bootstrap servers, state folder, store kind, stream threads, group protocol.
 */
public final class CrashableWindows {

    static final String ACTIVATIONS = "activations";
    static final String MOMENTS = "moments";
    static final String HASHES = "window-hashes";
    static final String DEAD_LETTERS = "dead-letters";
    static final int WIDTH = 24;
    static final int SITES = 4;
    static final int PARTITIONS = 2;
    static final Duration WINDOW = Duration.ofSeconds(1);

    private CrashableWindows() {}

    static String site(int index) {
        return "site-" + index;
    }

    public static void main(String[] arguments) throws InterruptedException {
        Properties properties = properties("crashable", arguments[0], arguments[1], arguments[3], arguments[4]);
        KafkaStreams streams = new KafkaStreams(topology(StoreKind.valueOf(arguments[2]), PARTITIONS, ""), properties);
        streams.setUncaughtExceptionHandler(error -> {
            Runtime.getRuntime().halt(3);
            throw new IllegalStateException(error);
        });
        streams.start();
        new CountDownLatch(1).await();
    }

    static Properties properties(
            String applicationId, String bootstrapServers, String stateFolder, String threads, String protocol) {
        Properties properties = new Properties();
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, applicationId);
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
        properties.put(StreamsConfig.STATE_DIR_CONFIG, stateFolder);
        properties.put(StreamsConfig.NUM_STREAM_THREADS_CONFIG, threads);
        properties.put(StreamsConfig.GROUP_PROTOCOL_CONFIG, protocol);
        properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        properties.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, "1000");
        properties.put("producer.transaction.timeout.ms", "5000");
        if (protocol.equals("classic")) {
            properties.put("main.consumer.session.timeout.ms", "6000");
            properties.put("main.consumer.heartbeat.interval.ms", "1000");
        }
        properties.put("main.consumer.max.poll.records", "20");
        properties.put("processing.exception.handler.global.enabled", "true");
        return properties;
    }

    /** @param prefix of every topic's name */
    static Topology topology(StoreKind kind, int partitions, String prefix) {
        Map<String, SiteShape> shapes = new HashMap<>();
        Map<String, Integer> dimensions = new HashMap<>();
        for (int i = 0; i < SITES; i++) {
            shapes.put(site(i), new SiteShape(site(i), WIDTH, WIDTH, false));
            dimensions.put(site(i), WIDTH);
        }
        WindowSettings settings = new WindowSettings(WINDOW, WINDOW, Duration.ZERO, Duration.ofSeconds(8), null);
        WindowStage stage = new WindowStage(settings, kind, dimensions, 8, partitions, Map.of(), new Silent());
        ByteArrayDeserializer in = new ByteArrayDeserializer();
        ByteArraySerializer out = new ByteArraySerializer();
        Topology topology = new Topology();
        topology.addSource(AutoOffsetReset.earliest(), "activations", in, in, prefix + ACTIVATIONS);
        topology.addProcessor(
                "ingest",
                IngestProcessor.supplier(shapes, new Silent(), "accumulate", "dead-letters", 1_000_000),
                "activations");
        topology.addProcessor("accumulate", stage.accumulator(), "ingest");
        topology.addSink("dead-letters", prefix + DEAD_LETTERS, out, out, "ingest");
        topology.addSink("closed-panes", prefix + MOMENTS, out, out, "accumulate");
        topology.addSource(AutoOffsetReset.earliest(), "moments", in, in, prefix + MOMENTS);
        topology.addProcessor("compose", stage.composer(), "moments");
        topology.addProcessor("hash", Hasher::new, "compose");
        topology.addSink("hashes", prefix + HASHES, out, out, "hash");
        return topology;
    }

    /** The identity of a window: start, rows and hash of its state. */
    static byte[] fingerprint(long startMs, long rows, double[] state) {
        long hash = 1125899906842597L;
        for (double value : state) {
            // Small integers have only zeros in their low bits: the shift brings the high ones down.
            hash = (hash ^ Double.doubleToLongBits(value)) * 0x9E3779B97F4A7C15L;
            hash ^= hash >>> 32;
        }
        return ByteBuffer.allocate(24)
                .putLong(startMs)
                .putLong(rows)
                .putLong(hash)
                .array();
    }

    private static final class Hasher extends ContextualProcessor<String, ClosedWindow, byte[], byte[]> {
        @Override
        public void process(Record<String, ClosedWindow> record) {
            ClosedWindow window = record.value();
            if (!window.complete()) {
                throw new IllegalStateException("incomplete window " + window.startMs());
            }
            byte[] print = fingerprint(
                    window.startMs(), window.moment().rows(), window.moment().state());
            context().forward(new Record<>(window.site().getBytes(StandardCharsets.UTF_8), print, record.timestamp()));
        }
    }

    private record Silent() implements IngestListener, WindowListener {
        @Override
        public void onAccepted(String site, int rows) {}

        @Override
        public void onDeadLetter(DeadLetter.Reason reason) {}

        @Override
        public void onLate(String site, long rows, Level level) {}

        @Override
        public void onAccumulated(String site, int rows, long nanoseconds) {}

        @Override
        public void onWindowClosed(String site, long rows) {}
    }
}
