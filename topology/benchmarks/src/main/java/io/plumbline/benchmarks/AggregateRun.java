package io.plumbline.benchmarks;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.wire.ActivationBatch;
import java.nio.ByteBuffer;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.common.serialization.Serde;
import org.apache.kafka.common.serialization.Serdes;
import org.apache.kafka.streams.KafkaStreams;
import org.apache.kafka.streams.StreamsBuilder;
import org.apache.kafka.streams.StreamsConfig;
import org.apache.kafka.streams.Topology;
import org.apache.kafka.streams.errors.StreamsUncaughtExceptionHandler;
import org.apache.kafka.streams.kstream.Consumed;
import org.apache.kafka.streams.kstream.Materialized;
import org.apache.kafka.streams.kstream.TimeWindows;
import org.apache.kafka.streams.state.Stores;

/**
 * The program one would write first: {@code groupByKey().windowedBy().aggregate()} with the moment as the aggregate and
 * a serde for it; exactly once, a commit every 5 s, caches large enough for the moment, state in memory, which is its
 * fastest form.
 */
final class AggregateRun {

    private static final Duration WINDOW = Duration.ofSeconds(60);
    private static final long LOOK_EVERY_MS = 50;
    private static final double GIVE_UP_SECONDS = 120;

    /** Adds a batch to {@code [ sum of rows (d) | packed lower triangle of X^T X ]}. */
    @FunctionalInterface
    interface Sums {
        void add(Matrix batch, double[] state);
    }

    private AggregateRun() {}

    /** Rows a second, without warm-up, in the first {@code seconds} since the first row or until the topic's end. */
    static double rate(
            String bootstrapServers, ActivationsTopic topic, Path state, String run, Sums sums, double seconds)
            throws InterruptedException {
        AtomicLong rows = new AtomicLong();
        RateMeter meter = new RateMeter();
        CountDownLatch failed = new CountDownLatch(1);
        try (KafkaStreams streams =
                new KafkaStreams(topology(topic, sums, rows), properties(bootstrapServers, topic, state, run))) {
            streams.setUncaughtExceptionHandler(e -> {
                failed.countDown();
                return StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
            });
            streams.start();
            long begin = System.nanoTime();
            while (meter.seconds() < seconds && rows.get() < topic.rows()) {
                if (failed.await(LOOK_EVERY_MS, TimeUnit.MILLISECONDS)
                        || (System.nanoTime() - begin) / 1e9 > GIVE_UP_SECONDS) {
                    throw new IllegalStateException("the DSL aggregate stopped after %,d rows".formatted(rows.get()));
                }
                meter.at(System.nanoTime(), (double) rows.get());
            }
        }
        return meter.hotRate();
    }

    private static Topology topology(ActivationsTopic topic, Sums sums, AtomicLong rows) {
        int d = topic.d();
        StreamsBuilder builder = new StreamsBuilder();
        builder.stream(topic.name(), Consumed.with(Serdes.String(), Serdes.ByteArray()))
                .groupByKey()
                .windowedBy(TimeWindows.ofSizeWithNoGrace(WINDOW))
                .aggregate(
                        () -> new double[d + d * (d + 1) / 2],
                        (site, record, moment) -> {
                            Matrix batch = ActivationBatch.parse(record).activations();
                            sums.add(batch, moment);
                            rows.addAndGet(batch.rows());
                            return moment;
                        },
                        Materialized.<String, double[]>as(Stores.inMemoryWindowStore("moments", WINDOW, WINDOW, false))
                                .withKeySerde(Serdes.String())
                                .withValueSerde(moments())
                                .withCachingEnabled());
        return builder.build();
    }

    /** Adds a batch in plain loops, row after row. */
    static void plainLoops(Matrix batch, double[] state) {
        int d = batch.columns();
        double[] x = batch.values();
        for (int row = 0; row < batch.rows(); row++) {
            int from = row * d;
            int at = d;
            for (int i = 0; i < d; i++) {
                double factor = x[from + i];
                state[i] += factor;
                for (int j = 0; j <= i; j++) {
                    state[at + j] += factor * x[from + j];
                }
                at += i + 1;
            }
        }
    }

    /** Adds a batch as the monitor does. */
    static void ourKernel(Matrix batch, double[] state) {
        SecondMomentAccumulator.ofState(batch.columns(), 0, state)
                .addFloats(batch)
                .state();
    }

    private static Serde<double[]> moments() {
        return Serdes.serdeFrom(
                (topic, moment) -> {
                    ByteBuffer bytes = ByteBuffer.allocate(moment.length * Double.BYTES);
                    bytes.asDoubleBuffer().put(moment);
                    return bytes.array();
                },
                (topic, bytes) -> {
                    double[] moment = new double[bytes.length / Double.BYTES];
                    ByteBuffer.wrap(bytes).asDoubleBuffer().get(moment);
                    return moment;
                });
    }

    private static Properties properties(String bootstrapServers, ActivationsTopic topic, Path state, String run) {
        long bytes = 4L * topic.d() * (topic.d() + 3);
        Properties properties = new Properties();
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, bootstrapServers);
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, run);
        properties.put(StreamsConfig.STATE_DIR_CONFIG, state.toString());
        properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        properties.put(StreamsConfig.COMMIT_INTERVAL_MS_CONFIG, "5000");
        properties.put(StreamsConfig.STATESTORE_CACHE_MAX_BYTES_CONFIG, Long.toString(8 * bytes));
        properties.put("auto.offset.reset", "earliest");
        properties.put("max.partition.fetch.bytes", "16777216");
        // With the defaults it does not run at all: a moment is larger than a request may be.
        properties.put("producer.max.request.size", Long.toString(2 * bytes));
        properties.put("producer.buffer.memory", Long.toString(8 * bytes + (1 << 25)));
        properties.put("topic.max.message.bytes", Long.toString(2 * bytes));
        return properties;
    }
}
