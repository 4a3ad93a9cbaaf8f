package io.plumbline.topology.reload;

import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.kafka.TopicFollower;
import io.plumbline.topology.kafka.TopicReader;
import io.plumbline.topology.report.Json;
import io.plumbline.wire.Printable;
import java.nio.charset.StandardCharsets;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
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
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Follows the versions that the instances have agreed on, from the first, and publishes new ones. All instances read
 * the one partition, so all hear the same versions in the same order. One daemon thread; no consumer group.
 */
final class ConfigVersions implements TopicFollower.Steps, AutoCloseable {

    private static final Logger LOG = LoggerFactory.getLogger(ConfigVersions.class);
    private static final long PUBLISH_SECONDS = 30;

    private final MonitorConfig config;
    private final Consumer<ConfigVersion> heard;
    private final CountDownLatch caughtUp = new CountDownLatch(1);
    private @Nullable TopicFollower follower;
    private long next;

    private ConfigVersions(MonitorConfig config, Consumer<ConfigVersion> heard) {
        this.config = config;
        this.heard = heard;
    }

    /** @param heard called with each version in the order of the topic, on one thread */
    static ConfigVersions follow(MonitorConfig config, Consumer<ConfigVersion> heard) {
        ConfigVersions versions = new ConfigVersions(config, heard);
        versions.follower = TopicFollower.start(
                "configurations",
                config.subscriberProperties(),
                config.applicationId() + "-configurations",
                versions);
        return versions;
    }

    /** Waits until what was on the topic at the start is read; returns whether it was in time. */
    boolean awaitCaughtUp(long seconds) throws InterruptedException {
        return caughtUp.await(seconds, TimeUnit.SECONDS);
    }

    /**
     * Publishes a version, whose number is that of its record.
     *
     * @throws IllegalStateException saying why no broker took it
     */
    void publish(ConfigVersion version) throws InterruptedException {
        Map<String, Object> properties = new HashMap<>(config.producerProperties());
        properties.put(ProducerConfig.MAX_BLOCK_MS_CONFIG, TimeUnit.SECONDS.toMillis(PUBLISH_SECONDS));
        try (Producer<byte[], byte[]> producer =
                new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer())) {
            producer.send(new ProducerRecord<>(
                            config.topics().configuration(),
                            version.sha256().getBytes(StandardCharsets.US_ASCII),
                            Json.bytes(version)))
                    .get(PUBLISH_SECONDS, TimeUnit.SECONDS);
        } catch (ExecutionException | TimeoutException | KafkaException e) {
            throw new IllegalStateException(
                    "topic \"%s\" did not take it: %s"
                            .formatted(
                                    config.topics().configuration(),
                                    config.withoutSecrets(String.valueOf(
                                            e.getCause() == null
                                                    ? e
                                                    : e.getCause().getMessage()))),
                    e);
        }
    }

    @Override
    public void begin(TopicReader reader) {
        TopicPartition place = new TopicPartition(config.topics().configuration(), 0);
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
        LOG.warn(
                "the versions of the configuration cannot be read and are asked for again: topic={} "
                        + "every_s={} reason={}",
                config.topics().configuration(),
                TopicFollower.PAUSE.toSeconds(),
                Printable.value(config.withoutSecrets(String.valueOf(away.getMessage()))));
        return true;
    }

    private void take(ConsumerRecord<byte[], byte[]> record) {
        next = record.offset() + 1;
        try {
            ConfigVersion version =
                    Json.read(record.value() == null ? new byte[0] : record.value(), ConfigVersion.class);
            if (version.schema() > ConfigVersion.SCHEMA) {
                throw new IllegalArgumentException("schema " + version.schema());
            }
            heard.accept(version.at(record.offset()));
        } catch (IllegalArgumentException | NullPointerException foreign) {
            LOG.warn(
                    "a record is no version of a configuration and was left out: topic={} offset={} reason={}",
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
