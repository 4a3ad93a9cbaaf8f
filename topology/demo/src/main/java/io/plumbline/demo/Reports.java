package io.plumbline.demo;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import io.plumbline.topology.kafka.TopicReader;
import java.io.IOException;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.Map;
import org.apache.kafka.clients.consumer.ConsumerRecord;

/** Reads a topic of JSON reports, committed ones only, as any user of it would. One thread. */
final class Reports implements AutoCloseable {

    private static final ObjectMapper JSON = new ObjectMapper();

    private final TopicReader reader;
    private final Deque<JsonNode> read = new ArrayDeque<>();
    private final String topic;

    Reports(String bootstrapServers, String topic) {
        reader = TopicReader.open(Map.of("bootstrap.servers", bootstrapServers), Map.of());
        this.topic = topic;
        reader.assign(reader.partitions(topic));
    }

    /** Returns the next report; throws when there is none before the deadline. */
    JsonNode next(long deadlineNanos) throws IOException {
        while (read.isEmpty()) {
            if (System.nanoTime() > deadlineNanos) {
                throw new IllegalStateException("nothing came on topic %s in time".formatted(topic));
            }
            for (ConsumerRecord<byte[], byte[]> record : reader.poll(Duration.ofMillis(100))) {
                read.add(JSON.readTree(record.value()));
            }
        }
        return read.remove();
    }

    @Override
    public void close() {
        reader.close();
    }
}
