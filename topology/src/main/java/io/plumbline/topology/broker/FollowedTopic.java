package io.plumbline.topology.broker;

import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.kafka.OncePerMinute;
import io.plumbline.topology.kafka.TopicFollower;
import io.plumbline.topology.kafka.TopicReader;
import io.plumbline.topology.report.Json;
import io.plumbline.wire.Printable;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.Consumer;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.Producer;
import org.apache.kafka.clients.producer.ProducerConfig;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.errors.RetriableException;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows a topic of one partition from its first record, and adds to it. All instances so hear the same records in the
 * same order. One daemon thread; no consumer group.
 */
public final class FollowedTopic implements TopicFollower.Steps, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(FollowedTopic.class);
    private static final long PUBLISH_SECONDS = 30;

    private final MonitorConfig config;
    private final String topic;
    private final Consumer<ConsumerRecord<byte[], byte[]>> heard;
    private final OncePerMinute lines = new OncePerMinute(System::nanoTime);
    private final CountDownLatch caughtUp = new CountDownLatch(1);
    private @Nullable TopicFollower follower;
    private long next;

    private FollowedTopic(MonitorConfig config, String topic, Consumer<ConsumerRecord<byte[], byte[]>> heard) {
        this.config = config;
        this.topic = topic;
        this.heard = heard;
    }

    /**
     * Begins to read.
     *
     * @param name of the thread and of the client
     * @param heard called with each record in the order of the topic, on one thread; what it refuses by an
     *     {@link IllegalArgumentException} or a {@link NullPointerException} is left out
     */
    public static FollowedTopic follow(
            MonitorConfig config, String topic, String name, Consumer<ConsumerRecord<byte[], byte[]>> heard) {
        FollowedTopic followed = new FollowedTopic(config, topic, heard);
        followed.follower =
                TopicFollower.start(name, config.subscriberProperties(), config.applicationId() + "-" + name, followed);
        return followed;
    }

    /** Waits until what was on the topic at the start is read; returns whether it was in time. */
    public boolean awaitCaughtUp(long seconds) throws InterruptedException {
        return caughtUp.await(seconds, TimeUnit.SECONDS);
    }

    /**
     * Adds records to a topic, values as JSON.
     *
     * @param values by their keys
     * @throws IllegalStateException saying why no broker took one
     */
    public static void publish(MonitorConfig config, String topic, Map<String, ?> values) throws InterruptedException {
        Map<String, Object> properties = new HashMap<>(config.producerProperties());
        properties.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, TimeUnit.SECONDS.toMillis(PUBLISH_SECONDS));
        try (Producer<byte[], byte[]> producer =
                new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer())) {
            List<Future<?>> sent = new ArrayList<>();
            values.forEach((key, value) -> sent.add(producer.send(
                    new ProducerRecord<>(topic, key.getBytes(StandardCharsets.UTF_8), Json.bytes(value)))));
            for (Future<?> one : sent) {
                one.get(PUBLISH_SECONDS, TimeUnit.SECONDS);
            }
        } catch (ExecutionException | TimeoutException | KafkaException e) {
            throw new IllegalStateException(
                    "topic \"%s\" did not take it: %s"
                            .formatted(
                                    topic,
                                    config.withoutSecrets(String.valueOf(
                                            e.getCause() == null
                                                    ? e
                                                    : e.getCause().getMessage()))),
                    e);
        }
    }

    /** Returns whether {@link #publish} failed because nobody answered, and not because of the record. */
    public static boolean isAway(RuntimeException refused) {
        return BrokerRefusal.causes(refused)
                .anyMatch(why -> why instanceof RetriableException || why instanceof TimeoutException);
    }

    @Override
    public void begin(TopicReader reader) {
        TopicPartition place = new TopicPartition(topic, 0);
        reader.assign(List.of(place));
        reader.beginAt(place, Math.max(next, reader.begin().getOrDefault(place, 0L)));
    }

    @Override
    public void read(TopicReader reader) {
        if (reader.isAtEnd()) {
            caughtUp.countDown();
        }
        reader.poll(TopicFollower.POLL).forEach(this::take);
    }

    @Override
    public boolean isAskedAgain(RuntimeException away) {
        if (lines.take(topic).isPresent()) {
            LOG.warn(
                    "a topic cannot be read and is asked for again: topic={} every_s={} reason={}",
                    topic,
                    TopicFollower.PAUSE.toSeconds(),
                    Printable.value(config.withoutSecrets(String.valueOf(away.getMessage()))));
        }
        return true;
    }

    private void take(ConsumerRecord<byte[], byte[]> record) {
        next = record.offset() + 1;
        try {
            heard.accept(record);
        } catch (IllegalArgumentException | NullPointerException foreign) {
            LOG.warn(
                    "a record is not of this program and was left out: topic={} offset={} reason={}",
                    record.topic(),
                    record.offset(),
                    Printable.value(foreign.getMessage()));
        }
    }

    @Override
    public void close() {
        if (follower != null) {
            follower.close();
        }
    }
}
