package io.plumbline.benchmarks;

import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.apache.kafka.clients.consumer.KafkaConsumer;
import org.apache.kafka.common.TopicPartition;
import org.apache.kafka.common.serialization.ByteArrayDeserializer;

/** A consumer that does nothing with what it reads: the most any program could. */
final class ConsumerRun {

    private static final Duration POLL = Duration.ofMillis(200);

    private ConsumerRun() {}

    /** Returns rows a second through one partition, with large fetches, for it does nothing while one is on its way. */
    static double rate(String bootstrapServers, ActivationsTopic topic) {
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", bootstrapServers,
                "max.partition.fetch.bytes", "16777216",
                "max.poll.records", "64",
                "isolation.level", "read_committed");
        RateMeter meter = new RateMeter();
        try (KafkaConsumer<byte[], byte[]> consumer =
                new KafkaConsumer<>(settings, new ByteArrayDeserializer(), new ByteArrayDeserializer())) {
            List<TopicPartition> partition = List.of(new TopicPartition(topic.name(), 0));
            consumer.assign(partition);
            consumer.seekToBeginning(partition);
            long end = topic.records();
            long read = 0;
            meter.at(System.nanoTime(), 0.0);
            while (read < end) {
                read += consumer.poll(POLL).count();
                meter.at(System.nanoTime(), (double) read * topic.rowsPerRecord());
            }
        }
        return meter.hotRate();
    }
}
