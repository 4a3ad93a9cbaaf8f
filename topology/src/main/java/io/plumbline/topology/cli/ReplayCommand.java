package io.plumbline.topology.cli;

import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.Spec;

/** {@code plumbline replay}: sends dumps to a topic, one record per request. */
@Command(
        name = "replay",
        mixinStandardHelpOptions = true,
        description = {
            "Sends recorded activations to Kafka, one record per request, as a model server would.",
            "",
            "Records carry the headers `site` and `request`; their key is the request, so that one site spreads over all"
                    + " partitions. They are sent by an idempotent producer with acks=all.",
            ""
        },
        footer = {
            "",
            "Example, ten minutes of traffic at one record a second of event time, as fast as the broker takes it:",
            "  plumbline replay --activations en.safetensors de.safetensors --site encoder.layer.2 \\",
            "      --bootstrap-servers localhost:9092 --start 2026-01-01T00:00:00Z --event-time-step 1s",
            "Event times long past are subject to the topic's retention: set retention.ms=-1 on it first."
        })
final class ReplayCommand implements Callable<Integer> {

    @Option(
            names = "--activations",
            required = true,
            arity = "1..*",
            paramLabel = "FILE",
            description = "Dumps, in order.")
    List<Path> activations;

    @Option(names = "--site", required = true, paramLabel = "SITE", description = "The site the rows belong to.")
    String site;

    @Option(
            names = "--bootstrap-servers",
            required = true,
            paramLabel = "HOST:PORT",
            description = "Where the Kafka cluster is.")
    String bootstrapServers;

    @Option(names = "--topic", defaultValue = "activations", description = "Default: ${DEFAULT-VALUE}.")
    String topic;

    @Option(
            names = "--create-topic",
            paramLabel = "PARTITIONS",
            description = "Create the topic with this many partitions where it is missing.")
    @Nullable
    Integer createTopic;

    @Option(
            names = "--rate",
            paramLabel = "ROWS/S",
            description = "At most this many rows a second. Default: no limit.")
    @Nullable
    Double rate;

    @Option(
            names = "--start",
            paramLabel = "INSTANT",
            description = "Event time of the first record, such as 2026-01-01T00:00:00Z; needs --event-time-step."
                    + " Default: now.")
    @Nullable
    String start;

    @Option(
            names = "--event-time-step",
            paramLabel = "DURATION",
            description = "Event time between records, such as 500ms. Default: event time is the time of sending.")
    @Nullable
    String eventTimeStep;

    @Option(
            names = "--kafka-property",
            paramLabel = "KEY=VALUE",
            description = "A property for the producer, such as security.protocol=SSL. May be repeated.")
    Map<String, String> kafkaProperties = new TreeMap<>();

    @Spec
    CommandSpec spec;

    /** Event time of each record. */
    private record EventTimes(long firstMs, @Nullable Duration step) {
        long of(long record) {
            return step == null ? System.currentTimeMillis() : firstMs + record * step.toMillis();
        }
    }

    /** What has gone out so far. */
    private static final class Sent {
        private long records;
        private long rows;
        private final AtomicReference<@Nullable RuntimeException> failure = new AtomicReference<>();

        private void requireNoFailure() {
            RuntimeException first = failure.get();
            if (first != null) {
                throw first;
            }
        }
    }

    @Override
    public Integer call() throws IOException {
        if (rate != null && !(rate > 0)) {
            throw new UsageException("--rate = %s: expected rows per second above 0".formatted(rate));
        }
        EventTimes times = eventTimes();
        try (ActivationStream stream = ActivationStream.open(activations)) {
            requireTopic();
            long begun = System.nanoTime();
            Sent sent = send(stream, times, begun);
            double seconds = (System.nanoTime() - begun) / 1e9;
            spec.commandLine()
                    .getOut()
                    .println(String.format(
                            Locale.ROOT,
                            "sent %,d records, %,d rows to %s in %.1f s (%,.0f rows/s)",
                            sent.records,
                            sent.rows,
                            topic,
                            seconds,
                            sent.rows / seconds));
        }
        return ExitCodes.FINE;
    }

    private EventTimes eventTimes() {
        if (eventTimeStep == null) {
            if (start != null) {
                throw new UsageException("--start needs --event-time-step, the event time between records");
            }
            return new EventTimes(0, null);
        }
        Duration step = Options.duration("--event-time-step", eventTimeStep);
        return new EventTimes(
                start == null
                        ? System.currentTimeMillis()
                        : Options.instant("--start", start).toEpochMilli(),
                step);
    }

    private void requireTopic() {
        Map<String, String> properties = producerProperties();
        if (Brokers.topics(properties).contains(topic)) {
            return;
        }
        if (createTopic == null) {
            throw new UsageException("topic %s does not exist at %s; create it, or add --create-topic PARTITIONS"
                    .formatted(topic, bootstrapServers));
        }
        Brokers.createTopic(properties, topic, createTopic);
    }

    private Map<String, String> producerProperties() {
        Map<String, String> properties = new TreeMap<>(kafkaProperties);
        properties.put("bootstrap.servers", bootstrapServers);
        properties.put("acks", "all");
        properties.put("enable.idempotence", "true");
        return properties;
    }

    private Sent send(ActivationStream stream, EventTimes times, long begun) throws IOException {
        Sent sent = new Sent();
        Map<String, Object> properties = new TreeMap<>(producerProperties());
        try (Producer<byte[], byte[]> producer =
                        new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
                Progress progress = Progress.of("sending", stream.rows())) {
            stream.forEachRecord((request, rows, value) -> {
                sent.requireNoFailure();
                waitForTurn(sent.rows, begun);
                // The callback hears of failures; waiting for each record would be slow.
                Future<RecordMetadata> unused =
                        producer.send(record(request, value, times.of(sent.records)), (metadata, failure) -> {
                            if (failure != null) {
                                sent.failure.compareAndSet(
                                        null,
                                        new IllegalStateException(
                                                "request %s was not stored on %s: %s; the replay stopped there"
                                                        .formatted(request, topic, failure.getMessage()),
                                                failure));
                            }
                        });
                sent.records++;
                sent.rows += rows;
                progress.advance(rows);
            });
            producer.flush();
        }
        sent.requireNoFailure();
        return sent;
    }

    private void waitForTurn(long rowsSent, long begun) {
        if (rate == null) {
            return;
        }
        long due = begun + (long) (rowsSent / rate * 1e9);
        for (long left = due - System.nanoTime(); left > 0; left = due - System.nanoTime()) {
            LockSupport.parkNanos(left);
        }
    }

    private ProducerRecord<byte[], byte[]> record(String request, byte[] value, long timestampMs) {
        byte[] name = request.getBytes(StandardCharsets.UTF_8);
        ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(topic, null, timestampMs, name, value);
        record.headers().add("site", site.getBytes(StandardCharsets.UTF_8));
        record.headers().add("request", name);
        return record;
    }
}
