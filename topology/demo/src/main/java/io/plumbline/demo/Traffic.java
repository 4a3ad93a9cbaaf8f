package io.plumbline.demo;

import io.plumbline.records.ActivationFile;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Properties;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.clients.producer.RecordMetadata;
import org.apache.kafka.common.serialization.ByteArraySerializer;

/**
 * A model server that replays recordings: one record per request, whole requests filling one window after another. The
 * records of a site are spread over all partitions.
 */
final class Traffic implements AutoCloseable {

    private final KafkaProducer<byte[], byte[]> producer;
    private final String topic;
    private final int partitions;
    private final String site;
    private long sent;

    Traffic(String bootstrapServers, String topic, int partitions, String site) {
        Properties properties = new Properties();
        properties.put("bootstrap.servers", bootstrapServers);
        properties.put("acks", "all");
        properties.put("enable.idempotence", "true");
        this.producer = new KafkaProducer<>(properties, new ByteArraySerializer(), new ByteArraySerializer());
        this.topic = topic;
        this.partitions = partitions;
        this.site = site;
    }

    /** One window's worth of a recording: requests {@code from .. to-1}. */
    record Stretch(String language, ActivationFile file, int from, int to) {}

    /** Cuts a recording into stretches of whole requests with at least {@code rows} rows; a remainder is left out. */
    static List<Stretch> cut(String language, ActivationFile file, int rows) {
        List<Stretch> stretches = new ArrayList<>();
        int from = 0;
        int filled = 0;
        for (int request = 0; request < file.requests(); request++) {
            filled += file.request(request).rows();
            if (filled >= rows) {
                stretches.add(new Stretch(language, file, from, request + 1));
                from = request + 1;
                filled = 0;
            }
        }
        return stretches;
    }

    /** Sends some requests of a stretch, evenly spaced over a window that starts at {@code windowStartMs}. */
    void send(Stretch stretch, int from, int to, long windowStartMs, long windowMs) throws InterruptedException {
        List<Future<RecordMetadata>> acknowledgements = new ArrayList<>();
        int requests = stretch.to() - stretch.from();
        for (int i = from; i < to; i++) {
            long timestampMs = windowStartMs + windowMs * i / requests;
            ProducerRecord<byte[], byte[]> record = new ProducerRecord<>(
                    topic,
                    (int) (sent++ % partitions),
                    timestampMs,
                    null,
                    stretch.file().requestAsRecord(stretch.from() + i));
            record.headers().add("site", site.getBytes(StandardCharsets.UTF_8));
            acknowledgements.add(producer.send(record));
        }
        for (Future<RecordMetadata> acknowledgement : acknowledgements) {
            try {
                acknowledgement.get();
            } catch (ExecutionException e) {
                throw new IllegalStateException("the broker refused a record: " + e.getMessage(), e);
            }
        }
    }

    @Override
    public void close() {
        producer.close();
    }
}
