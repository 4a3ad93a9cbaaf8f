package io.plumbline.benchmarks;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.records.ActivationBatch;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.lang.ProcessBuilder.Redirect;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Properties;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicLong;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;
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
import org.jspecify.annotations.Nullable;

/** Reads a topic by other programs than the monitor. All return rows a second without warm-up. */
final class Rivals {

    private static final String INTERPRETER = "PLUMBLINE_PYTHON";
    private static final Duration POLL = Duration.ofMillis(200);
    private static final Duration WINDOW = Duration.ofSeconds(60);
    private static final long LOOK_EVERY_MS = 50;
    private static final long GIVE_UP_SECONDS = 120;

    /** The seconds after which rivals stop: slow ones do not read to the end. */
    private static final double SECONDS = 4.0;

    private final Bench bench;
    private final ActivationsTopic topic;

    Rivals(Bench bench, ActivationsTopic topic) {
        this.bench = bench;
        this.topic = topic;
    }

    /** Adds a batch to {@code [ sum of rows (d) | packed lower triangle of X^T X ]}. */
    @FunctionalInterface
    interface Sums {
        void add(Matrix batch, double[] state);
    }

    /**
     * Runs a consumer that does nothing with what it reads, the most any program could: one partition, with large
     * fetches, since it does nothing while one is on its way.
     */
    double consumer() {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", bench.bootstrapServers(),
                "max.partition.fetch.bytes", "16777216",
                "max.poll.records", "64",
                "isolation.level", "read_committed");
        RateMeter meter = new RateMeter();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partition = List.of(new TopicPartition(topic.name(), 0));
            consumer.assign(partition);
            consumer.seekToBeginning(partition);
            long read = 0;
            meter.at(System.nanoTime(), 0.0);
            while (read < topic.records()) {
                read += consumer.poll(POLL).count();
                meter.at(System.nanoTime(), (double) read * topic.rowsPerRecord());
            }
        }
        return meter.hotRate();
    }

    /**
     * Runs the program one would write first: {@code groupByKey().windowedBy().aggregate()} with the moment as the
     * aggregate and a serde for it; exactly once, a commit every 5 s, caches large enough for the moment, state in
     * memory, which is its fastest form.
     */
    double aggregate(Sums sums) throws IOException, InterruptedException {
        AtomicLong rows = new AtomicLong();
        RateMeter meter = new RateMeter();
        CountDownLatch failed = new CountDownLatch(1);
        try (KafkaStreams streams = new KafkaStreams(topology(sums, rows), properties(bench.nextRun()))) {
            streams.setUncaughtExceptionHandler(e -> {
                failed.countDown();
                return StreamsUncaughtExceptionHandler.StreamThreadExceptionResponse.SHUTDOWN_CLIENT;
            });
            streams.start();
            long begin = System.nanoTime();
            while (meter.seconds() < SECONDS && rows.get() < topic.rows()) {
                if (failed.await(LOOK_EVERY_MS, TimeUnit.MILLISECONDS)
                        || (System.nanoTime() - begin) / 1e9 > GIVE_UP_SECONDS) {
                    throw new IllegalStateException("the DSL aggregate stopped after %,d rows".formatted(rows.get()));
                }
                meter.at(System.nanoTime(), (double) rows.get());
            }
        }
        return meter.hotRate();
    }

    private Topology topology(Sums sums, AtomicLong rows) {
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

    private Properties properties(String run) throws IOException {
        long bytes = 4L * topic.d() * (topic.d() + 3);
        Properties properties = new Properties();
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, bench.bootstrapServers());
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, run);
        properties.put(
                StreamsConfig.STATE_DIR_CONFIG, bench.folder("state-" + run).toString());
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

    /** Returns why there is no Python with what {@link #python} needs, in one sentence; or null. */
    static @Nullable String missingPython() throws InterruptedException {
        try {
            Process process = new ProcessBuilder(interpreter(), "-c", "import numpy, confluent_kafka")
                    .redirectOutput(Redirect.DISCARD)
                    .redirectError(Redirect.DISCARD)
                    .start();
            if (process.waitFor() == 0) {
                return null;
            }
        } catch (IOException e) {
            // Says no more than that there is no such program.
        }
        return "the consumer in Python is left out: name an interpreter with confluent-kafka and NumPy in %s, not %s"
                .formatted(INTERPRETER, interpreter());
    }

    private static String interpreter() {
        String named = System.getenv(INTERPRETER);
        return named == null || named.isBlank() ? "python3" : named;
    }

    /**
     * Runs a consumer in Python with confluent-kafka and NumPy.
     *
     * @param oneThread whether NumPy may multiply by one thread only, as a worker per partition would
     */
    double python(boolean oneThread) throws IOException, InterruptedException {
        Path folder = bench.folder("python");
        Path script = folder.resolve("consumer.py");
        try (InputStream in = Rivals.class.getResourceAsStream("consumer.py")) {
            if (in == null) {
                throw new IllegalStateException("consumer.py is missing from the jar");
            }
            Files.write(script, in.readAllBytes());
        }
        Path errors = folder.resolve("consumer.log");
        ProcessBuilder builder = new ProcessBuilder(List.of(
                        interpreter(),
                        script.toString(),
                        bench.bootstrapServers(),
                        topic.name(),
                        Integer.toString(topic.d()),
                        Long.toString(topic.records()),
                        String.format(Locale.ROOT, "%.3f", SECONDS)))
                .redirectError(Redirect.to(errors.toFile()));
        if (oneThread) {
            builder.environment().put("OPENBLAS_NUM_THREADS", "1");
        }
        Process process = builder.start();
        RateMeter meter = new RateMeter();
        try (BufferedReader out = process.inputReader(StandardCharsets.UTF_8)) {
            String line;
            while ((line = out.readLine()) != null && Character.isDigit(line.charAt(0))) {
                int blank = line.indexOf(' ');
                meter.at(
                        (long) (1e9 * Double.parseDouble(line.substring(0, blank))),
                        Double.parseDouble(line.substring(blank + 1)));
            }
            if (!process.waitFor(GIVE_UP_SECONDS, TimeUnit.SECONDS) || process.exitValue() != 0) {
                throw new IOException("the consumer in Python failed: %s".formatted(Files.readString(errors)));
            }
        } finally {
            process.destroyForcibly();
        }
        return meter.hotRate();
    }
}
