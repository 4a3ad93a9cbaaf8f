package io.plumbline.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.Properties;
import org.apache.kafka.clients.consumer.ConsumerRecord;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.PartitionInfo;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** Reads a topic of JSON reports, committed ones only, as any user of it would. One thread. */
final class Reports implements AutoCloseable {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final KafkaConsumer<byte[], byte[]> consumer;
    private final Deque<JsonNode> read = new ArrayDeque<>();
    private final String topic;

    Reports(String bootstrapServers, String topic) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrapServers);
        properties.put("isolation.level", "read_committed");
        consumer = new KafkaConsumer<>(properties, new ByteArrayDeserializer(), new ByteArrayDeserializer());
        this.topic = topic;
        List<TopicPartition> partitions = consumer.partitionsFor(topic).stream()
                .map((PartitionInfo info) -> new TopicPartition(info.topic(), info.partition()))
                .toList();
        consumer.assign(partitions);
        consumer.seekToBeginning(partitions);
    }

    /** The next report; throws when there is none before the deadline. */
    JsonNode next(long deadlineNanos) throws IOException {
        while (read.isEmpty()) {
            if (System.nanoTime() > deadlineNanos) {
                throw new IllegalStateException("nothing came on topic %s in time".formatted(topic));
            }
            for (ConsumerRecord<byte[], byte[]> record : consumer.poll(Duration.ofMillis(100))) {
                read.add(JSON.readTree(record.value()));
            }
        }
        return read.remove();
    }

    @Override
    public void close() {
        consumer.close();
    }
}
