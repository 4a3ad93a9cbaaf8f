package io.plumbline.topology.emission;

import io.plumbline.explainer.Decoder;
import io.plumbline.linalg.Weights;
import io.plumbline.topology.adaptation.AdaptationReport;
import io.plumbline.topology.adaptation.AdapterAnswer;
import io.plumbline.topology.adaptation.DecoderKind;
import io.plumbline.topology.adaptation.Outcome;
import io.plumbline.topology.emission.DecoderSubscription.Parent;
import io.plumbline.wire.DType;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryPoolMXBean;
import java.lang.management.MemoryType;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
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
 * Runs the two ends of the decoders topic as programs of their own, so that each can be given a heap that is hardly
 * larger than the decoders it holds. Lines on standard output: what happened, a version, milliseconds since the epoch.
 *
 * <p>{@code emit BROKER STATE-FOLDER FEATURES WIDTH}: holds one decoder and publishes it for every record of
 * {@code triggers}. {@code follow BROKER SPOOL-FOLDER FEATURES WIDTH VERSIONS}: serves so many versions, compares every
 * weight, and ends.
 */
public final class LargeDecoders {

    static final String TRIGGERS = "triggers";
    static final String DECODERS = "decoders";
    static final String REPORTS = "reports";
    static final String SITE = "blocks.7";
    static final String PARENT = "a".repeat(64);

    private LargeDecoders() {}

    public static void main(String[] arguments) throws InterruptedException {
        int features = Integer.parseInt(arguments[3]);
        int width = Integer.parseInt(arguments[4]);
        if (arguments[0].equals("emit")) {
            emit(arguments[1], arguments[2], features, width);
        } else {
            follow(arguments[1], Path.of(arguments[2]), features, width, Integer.parseInt(arguments[5]));
        }
    }

    private static void emit(String broker, String stateFolder, int features, int width) throws InterruptedException {
        float[] weights = new float[features * width];
        for (int i = 0; i < weights.length; i++) {
            weights[i] = weight(i);
        }
        Decoder decoder = new Decoder(Weights.ofFloats(features, width, weights), new double[width]);
        Properties properties = new Properties();
        properties.put(StreamsConfig.APPLICATION_ID_CONFIG, "emitter");
        properties.put(StreamsConfig.BOOTSTRAP_SERVERS_CONFIG, broker);
        properties.put(StreamsConfig.STATE_DIR_CONFIG, stateFolder);
        properties.put(StreamsConfig.PROCESSING_GUARANTEE_CONFIG, StreamsConfig.EXACTLY_ONCE_V2);
        properties.put("producer.transaction.timeout.ms", "600000");
        KafkaStreams streams = new KafkaStreams(topology(decoder), properties);
        streams.setUncaughtExceptionHandler(error -> {
            error.printStackTrace();
            Runtime.getRuntime().halt(3);
            throw new IllegalStateException(error);
        });
        streams.start();
        new CountDownLatch(1).await();
    }

    private static Topology topology(Decoder decoder) {
        ByteArrayDeserializer in = new ByteArrayDeserializer();
        ByteArraySerializer out = new ByteArraySerializer();
        return new Topology()
                .addSource(AutoOffsetReset.earliest(), "triggers", in, in, TRIGGERS)
                .addProcessor("publish", () -> new Publisher(decoder), "triggers")
                .addProcessor(
                        "emit",
                        DecoderEmitter.supplier(
                                report -> say("emitted", report.version()), "decoders", "reports", Map.of(), null),
                        "publish")
                .addSink("decoders", DECODERS, out, out, new DecoderPartitioner(), "emit")
                .addSink("reports", REPORTS, out, out, "emit");
    }

    /** Answers every record with the decoder. */
    private static final class Publisher extends ContextualProcessor<byte[], byte[], String, AdapterAnswer> {
        private final Decoder decoder;
        private long version;

        private Publisher(Decoder decoder) {
            this.decoder = decoder;
        }

        @Override
        public void process(Record<byte[], byte[]> record) {
            say("triggered", Long.parseLong(new String(record.value(), StandardCharsets.UTF_8)));
            AdaptationReport report = new AdaptationReport(
                    SITE,
                    0,
                    1,
                    Outcome.PUBLISHED,
                    "",
                    0,
                    1,
                    1,
                    1,
                    1,
                    1,
                    null,
                    null,
                    null,
                    null,
                    null,
                    List.of(),
                    null,
                    0.0);
            AdapterAnswer.Publication publication =
                    new AdapterAnswer.Publication(++version, DecoderKind.ADAPTED, decoder, DType.F32, Map.of(), PARENT);
            context()
                    .forward(new Record<>(
                            SITE,
                            new AdapterAnswer(report.published(version), publication, null, null),
                            record.timestamp()));
        }
    }

    @SuppressWarnings("try") // the subscriber is held open, not used
    private static void follow(String broker, Path spoolFolder, int features, int width, int versions)
            throws InterruptedException {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", broker);
        CountDownLatch left = new CountDownLatch(versions);
        Decoder[] inService = new Decoder[1];
        DecoderSubscription subscription = new DecoderSubscription(
                Map.of(SITE, List.of(new Parent(PARENT, features, width))),
                DecoderManifest.LARGEST_ARTEFACT,
                DecoderSubscription.DEFAULT_MOST_SPOOLED,
                spoolFolder,
                null);
        try (DecoderSubscriber subscriber =
                DecoderSubscriber.start(properties, DECODERS, subscription, new DecoderListener() {
                    @Override
                    public void onDecoder(PublishedDecoder published) {
                        say("verified", published.version());
                        Weights weights = published.decoder().weights();
                        for (int i = 0; i < features * width; i++) {
                            double weight = weights.get(i / width, i % width);
                            if (weight != weight(i)) {
                                throw new IllegalStateException("weight " + i + " is " + weight);
                            }
                        }
                        inService[0] = published.decoder();
                        left.countDown();
                    }

                    @Override
                    public void onRefused(String site, long version, String reason) {
                        say("refused: " + reason, version);
                        left.countDown();
                    }

                    @Override
                    public void onInterrupted(String reason) {
                        say("interrupted: " + reason, 0);
                    }
                })) {
            left.await();
        }
    }

    /** Returns one of 1,024 values that float32 holds exactly. */
    private static float weight(int index) {
        return ((index * 31) & 1023) / 64.0f - 8.0f;
    }

    /** Says something with the largest use of the heap so far, garbage included. */
    private static void say(String what, long version) {
        long peak = 0;
        for (MemoryPoolMXBean pool : ManagementFactory.getMemoryPoolMXBeans()) {
            if (pool.getType() == MemoryType.HEAP) {
                peak += pool.getPeakUsage().getUsed();
            }
        }
        System.out.printf("%s %d %d %d%n", what, version, System.currentTimeMillis(), peak >> 20);
    }
}
