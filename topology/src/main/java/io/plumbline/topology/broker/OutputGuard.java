package io.plumbline.topology.broker;

import io.plumbline.topology.config.TopicNames;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.wire.Printable;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.util.Collections;
import java.util.IdentityHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.InvalidRecordException;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.errors.InvalidTimestampException;
import org.apache.kafka.common.errors.RecordTooLargeException;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.errors.SerializationException;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.serialization.Serializer;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.errors.DefaultProductionExceptionHandler;
import org.apache.kafka.streams.errors.ErrorHandlerContext;
import org.apache.kafka.streams.errors.ProductionExceptionHandler;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Lets an application go on where a topic does not take one of its outputs: a dead letter is written without its bytes,
 * anything else, and a letter that is still too large, is left out, logged with its place and counted.
 *
 * <p>A topic may come to take less than it did at the start ({@code max.message.bytes}), and the refusal ends the
 * transaction: one thread is lost. From then on the guard knows what is too large there, and tells before it is sent,
 * where leaving it out costs nothing else.
 *
 * <p>A topic that somebody else made may refuse event times that are years old, or, where it is compacted, a record
 * without a key. From then on outputs go there with the time of writing, and with the place of the record for a key.
 *
 * <p>Panes on their way to windows and change-logs are never left out: where these are refused, the application stops.
 * Thread-safe; one for each application of a process.
 */
public final class OutputGuard {

    /** The key under which Kafka Streams hands the guard to its {@link Handler}. */
    static final String CONFIG = "plumbline.output.guard";

    private static final Logger LOG = LoggerFactory.getLogger(OutputGuard.class);

    /** Hears of each output left out, with the name its topic has in the configuration. */
    public interface Listener {
        void onLeftOut(String topic);
    }

    private final Map<String, String> names;
    private final String deadLetters;
    private final Listener listener;
    private final Map<String, Long> refusedFrom = new ConcurrentHashMap<>();
    private final Set<String> rewritten = ConcurrentHashMap.newKeySet();
    private final Set<Throwable> refusals =
            Collections.synchronizedSet(Collections.newSetFromMap(new IdentityHashMap<>()));

    private OutputGuard(Map<String, String> names, String deadLetters, Listener listener) {
        this.names = names;
        this.deadLetters = deadLetters;
        this.listener = listener;
    }

    /** Returns a guard that tells nobody. */
    public static OutputGuard silent(TopicNames topics) {
        return of(topics, topic -> {});
    }

    /** Returns a guard for the outputs of either application. */
    public static OutputGuard of(TopicNames topics, Listener listener) {
        return new OutputGuard(
                Map.of(
                        topics.deadLetters(), "dead_letters",
                        topics.windowReports(), "window_reports",
                        topics.adaptationRequests(), "adaptation_requests",
                        topics.adaptationReports(), "adaptation_reports"),
                topics.deadLetters(),
                listener);
    }

    /** The values {@link Listener#onLeftOut} may be told. */
    public static List<String> topics() {
        return List.of("dead_letters", "window_reports", "adaptation_requests", "adaptation_reports");
    }

    /** Serializes the sinks' values, and refuses what the topic is known not to take. */
    public Serializer<byte[]> values() {
        return new Serializer<>() {
            @Override
            public byte[] serialize(String topic, byte[] value) {
                return value;
            }

            @Override
            public byte[] serialize(String topic, Headers headers, byte[] value) {
                if (rewritten.contains(topic) || isTooLarge(topic, headers, value)) {
                    throw new SerializationException("%d bytes".formatted(bytes(headers, value)));
                }
                return value;
            }
        };
    }

    /** Returns whether the thread was lost to an output that will be left out when it is made again. */
    public boolean willLeaveOut(Throwable lost) {
        return BrokerRefusal.causes(lost).anyMatch(refusals::remove);
    }

    private boolean isTooLarge(String topic, Headers headers, byte @Nullable [] value) {
        Long from = refusedFrom.get(topic);
        return from != null && bytes(headers, value) >= from;
    }

    /**
     * Returns the bytes of value and headers: of two outputs of one topic, the larger one is not taken where the
     * smaller is not.
     */
    private static long bytes(Headers headers, byte @Nullable [] value) {
        long bytes = value == null ? 0 : value.length;
        for (Header header : headers) {
            bytes += Utils.utf8Length(header.key());
            bytes += header.value() == null ? 0 : header.value().length;
        }
        return bytes;
    }

    private boolean learns(ProducerRecord<byte[], byte[]> record, Exception refusal) {
        if (!names.containsKey(record.topic())) {
            return false;
        }
        if (refusal instanceof RecordTooLargeException) {
            refusedFrom.merge(record.topic(), bytes(record.headers(), record.value()), Math::min);
        } else if (isOfTimeOrKey(refusal) && record.timestamp() != null) {
            rewritten.add(record.topic());
        } else {
            return false; // for another reason, or rewritten and refused all the same
        }
        refusals.add(refusal);
        LOG.warn(
                "a topic does not take a record of this application: topic={} reason={}",
                record.topic(),
                Printable.value(refusal.getMessage()));
        return true;
    }

    /**
     * Returns whether a time or a missing key is the reason. Kafka refuses good records that were sent together with a
     * bad one with a bare exception.
     */
    private static boolean isOfTimeOrKey(Exception refusal) {
        return refusal instanceof InvalidTimestampException
                || refusal instanceof InvalidRecordException
                || (refusal.getClass() == KafkaException.class
                        && String.valueOf(refusal.getMessage()).contains("part of a batch"));
    }

    /** Returns the record with a key and without a time, for which the producer puts the present. */
    private static ProducerRecord<byte[], byte[]> rewritten(
            ProducerRecord<?, ?> refused, byte[] value, ErrorHandlerContext place) {
        byte[] key = refused.key() instanceof byte[] given
                ? given
                : madeOf(refused, place).getBytes(StandardCharsets.UTF_8);
        return new ProducerRecord<>(refused.topic(), refused.partition(), null, key, value, refused.headers());
    }

    /** Returns what is sent in place of a refused output; none where nothing can be. */
    private List<ProducerRecord<byte[], byte[]>> instead(ProducerRecord<?, ?> refused, ErrorHandlerContext place) {
        boolean rewrites = rewritten.contains(refused.topic());
        if (rewrites
                && refused.value() instanceof byte[] value
                && !isTooLarge(refused.topic(), refused.headers(), value)) {
            return List.of(rewritten(refused, value, place));
        }
        if (refused.topic().equals(deadLetters) && refused.value() instanceof byte[] value) {
            ProducerRecord<byte[], byte[]> small = new ProducerRecord<>(
                    refused.topic(),
                    null,
                    rewrites ? null : refused.timestamp(),
                    rewrites ? madeOf(refused, place).getBytes(StandardCharsets.UTF_8) : null,
                    null,
                    DeadLetter.withoutContent(
                            refused.headers(), refused.key() instanceof byte[] key ? key : null, value));
            if (!isTooLarge(small.topic(), small.headers(), null)) {
                return List.of(small);
            }
        }
        LOG.error(
                "an output that its topic does not take is left out: topic={} made_of={} bytes={}\n"
                        + "raise max.message.bytes of the topic and the producer's max.request.size, then start again",
                refused.topic(),
                Printable.value(madeOf(refused, place)),
                refused.value() instanceof byte[] value ? value.length : 0);
        listener.onLeftOut(Objects.requireNonNull(names.get(refused.topic()), refused.topic()));
        return List.of();
    }

    /** The place of the record it was made of; of a window, which is made of many, its site and time. */
    private static String madeOf(ProducerRecord<?, ?> refused, ErrorHandlerContext place) {
        return place.topic() == null
                ? "site %s, event time %s"
                        .formatted(
                                refused.key() instanceof byte[] key ? new String(key, StandardCharsets.UTF_8) : "?",
                                Instant.ofEpochMilli(Objects.requireNonNullElse(refused.timestamp(), 0L)))
                : "%s-%d@%d".formatted(place.topic(), place.partition(), place.offset());
    }

    /** Handles what a topic does not take; made by Kafka Streams. */
    public static final class Handler implements ProductionExceptionHandler {

        private final DefaultProductionExceptionHandler otherwise = new DefaultProductionExceptionHandler();
        private @Nullable OutputGuard guard;

        @Override
        public void configure(Map<String, ?> configs) {
            otherwise.configure(configs);
            guard = configs.get(CONFIG) instanceof OutputGuard found ? found : null;
        }

        @Override
        public Response handleError(
                ErrorHandlerContext context, ProducerRecord<byte[], byte[]> record, Exception exception) {
            // Never to be retried: a lost thread is exact, a task made anew in its thread may not be, see
            // DecidedCommits.
            if ((guard != null && guard.learns(record, exception)) || exception instanceof RetriableException) {
                return Response.fail();
            }
            return otherwise.handleError(context, record, exception);
        }

        @Override
        @SuppressWarnings("rawtypes") // as Kafka declares it
        public Response handleSerializationError(
                ErrorHandlerContext context,
                ProducerRecord record,
                Exception exception,
                SerializationExceptionOrigin origin) {
            ProducerRecord<?, ?> refused = record;
            return guard == null || !guard.names.containsKey(refused.topic())
                    ? otherwise.handleSerializationError(context, record, exception, origin)
                    : Response.resume(guard.instead(refused, context));
        }
    }
}
