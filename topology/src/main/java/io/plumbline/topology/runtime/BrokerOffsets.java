package io.plumbline.topology.runtime;

import io.plumbline.topology.config.MonitorConfig;
import io.plumbline.topology.kafka.NextOffsets;
import io.plumbline.topology.kafka.TopicReader;
import java.time.Duration;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.ExecutionException;
import org.apache.kafka.clients.admin.Admin;
import org.apache.kafka.clients.admin.AdminClientConfig;
import org.apache.kafka.clients.consumer.ConsumerConfig;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;
import org.apache.kafka.common.KafkaException;
import org.apache.kafka.common.KafkaFuture;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.Uuid;
import org.apache.kafka.common.errors.InterruptException;
import org.apache.kafka.common.errors.RetriableException;

/**
 * Asks the broker what lies between the offset that a state holds and the one that reading went on at.
 *
 * <p>A reader of committed records is sent from the one to the other: markers of transactions and aborted records are
 * nothing to it. It stops at the first record, and the whole stretch counts then, as an upper bound: to count a day of
 * records would take an hour.
 *
 * <p>What is deleted cannot be looked at. A single offset is taken for the marker behind the last record; more are
 * taken for records. Of a topic of activations those from the committed offset on are counted by {@link SourceWatcher}.
 */
final class BrokerOffsets implements NextOffsets.Source, AutoCloseable {

    private static final Duration POLL = Duration.ofMillis(200);
    private static final String ANSWER_WITHIN_MS = "15000";

    private final Admin admin;
    private final MonitorConfig config;
    private final String group;

    private BrokerOffsets(Admin admin, MonitorConfig config, String group) {
        this.admin = admin;
        this.config = config;
        this.group = group;
    }

    /** @param group application id of the application whose offsets are compared */
    static BrokerOffsets of(MonitorConfig config, String group) {
        Map<String, Object> properties = new HashMap<>(config.adminProperties());
        properties.put(AdminClientConfig.DEFAULT_API_TIMEOUT_MS_CONFIG, ANSWER_WITHIN_MS);
        properties.put(AdminClientConfig.REQUEST_TIMEOUT_MS_CONFIG, ANSWER_WITHIN_MS);
        properties.put(AdminClientConfig.CLIENT_ID_CONFIG, group + "-offsets");
        return new BrokerOffsets(Admin.create(properties), config, group);
    }

    @Override
    public Uuid topicId(String topic) {
        return Objects.requireNonNull(
                        answer(admin.describeTopics(List.of(topic)).allTopicNames())
                                .get(topic),
                        topic)
                .topicId();
    }

    @Override
    public long lost(TopicPartition partition, long from, long to) {
        try (TopicReader reader = TopicReader.open(
                config.subscriberProperties(),
                Map.of(
                        ConsumerConfig.MAX_POLL_RECORDS_CONFIG, "1",
                        ConsumerConfig.MAX_PARTITION_FETCH_BYTES_CONFIG, "65536",
                        ConsumerConfig.FETCH_MAX_WAIT_MS_CONFIG, "20"))) {
            reader.assign(List.of(partition));
            long first = reader.begin().getOrDefault(partition, 0L);
            long there = Math.max(from, first);
            return deleted(partition, from, Math.min(first, to))
                    + (holdsRecord(reader, partition, there, to) ? to - there : 0);
        }
    }

    private static boolean holdsRecord(TopicReader reader, TopicPartition partition, long from, long to) {
        if (from >= to) {
            return false;
        }
        reader.beginAt(partition, from);
        reader.endAt(partition, to);
        long deadline = System.nanoTime() + TopicReader.PATIENCE.toNanos();
        while (!reader.isAtEnd(partition)) {
            try {
                for (ConsumerRecord<byte[], byte[]> record : reader.poll(POLL)) {
                    return record.offset() < to;
                }
            } catch (RetriableException | InterruptException unanswered) {
                throw unanswered;
            } catch (KafkaException unreadable) {
                return true; // a record that no consumer can read is what the group was moved over
            }
            if (System.nanoTime() > deadline) {
                throw new KafkaException(
                        "%s gave nothing from offset %d on, where offset %d was read".formatted(partition, from, to));
            }
        }
        return false;
    }

    private long deleted(TopicPartition partition, long from, long to) {
        if (to - from <= 1) {
            return 0;
        }
        if (!config.isActivationTopic(partition.topic())) {
            return to - from;
        }
        OffsetAndMetadata committed = answer(
                        admin.listConsumerGroupOffsets(group).partitionsToOffsetAndMetadata())
                .get(partition);
        return committed == null ? to - from : Math.max(0, Math.min(committed.offset(), to) - from);
    }

    private static <T> T answer(KafkaFuture<T> asked) {
        try {
            return asked.get();
        } catch (ExecutionException e) {
            throw new KafkaException("the broker did not say what the offsets of a topic mean", e.getCause());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new KafkaException("interrupted while the broker was asked about offsets", e);
        }
    }

    @Override
    public void close() {
        admin.close(Duration.ofSeconds(1));
    }
}
