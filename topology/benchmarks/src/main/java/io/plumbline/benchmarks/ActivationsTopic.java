package io.plumbline.benchmarks;

import io.plumbline.linalg.Matrix;
import io.plumbline.wire.DType;
import io.plumbline.wire.SafetensorsWriter;
import java.io.IOException;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.SplittableRandom;
import java.util.concurrent.atomic.AtomicReference;
import org.apache.kafka.clients.producer.KafkaProducer;
import org.apache.kafka.clients.producer.ProducerRecord;
import org.apache.kafka.common.serialization.ByteArraySerializer;
import org.apache.kafka.common.serialization.StringSerializer;
import org.jspecify.annotations.Nullable;

/**
 * A topic full of Gaussian rows, written once and read by all that are compared. Its event times span {@value
 * #EVENT_SECONDS} s.
 *
 * @param type of the rows
 * @param d width of a row
 * @param rowsPerRecord rows a record
 * @param records over all partitions, which take turns
 * @param sites that the records are of, in turns
 */
record ActivationsTopic(String name, DType type, int d, int rowsPerRecord, int partitions, long records, int sites) {

    /** The seconds of event time: two windows of twelve. */
    static final int EVENT_SECONDS = 24;

    /** The first time: later than 0, which a broker would delete, and divisible by every window. */
    static final long FIRST_MS = 1_700_006_400_000L;

    private static final int DIFFERENT_RECORDS = 16;

    static ActivationsTopic fill(
            Bench bench, DType type, int d, int rowsPerRecord, int partitions, long rows, int sites)
            throws IOException, InterruptedException {
        String name = "rows-%d-%d-%d-%d".formatted(d, rowsPerRecord, partitions, sites);
        bench.next("filling the topic %s".formatted(name));
        long records = Math.max(2L * DIFFERENT_RECORDS, rows / rowsPerRecord);
        ActivationsTopic topic = new ActivationsTopic(name, type, d, rowsPerRecord, partitions, records, sites);
        bench.createTopic(name, partitions);
        topic.send(bench.bootstrapServers());
        return topic;
    }

    private void send(String bootstrapServers) throws IOException {
        List<byte[]> values = new ArrayList<>();
        for (int i = 0; i < DIFFERENT_RECORDS; i++) {
            values.add(SafetensorsWriter.create()
                    .add("activations", type, gaussian(i, rowsPerRecord, d))
                    .toBytes());
        }
        Map<String, Object> settings = Map.of(
                "bootstrap.servers", bootstrapServers,
                "max.request.size", "16000000",
                "batch.size", "1000000",
                "acks", "1");
        AtomicReference<@Nullable Exception> refused = new AtomicReference<>();
        try (KafkaProducer<String, byte[]> producer =
                new KafkaProducer<>(settings, new StringSerializer(), new ByteArraySerializer())) {
            for (long i = 0; i < records; i++) {
                var unused = producer.send(
                        new ProducerRecord<>(
                                name,
                                (int) (i % partitions),
                                FIRST_MS + i * EVENT_SECONDS * 1000 / records,
                                BenchSite.name((int) (i % sites)),
                                values.get((int) (i % DIFFERENT_RECORDS))),
                        (metadata, e) -> refused.compareAndSet(null, e));
            }
        }
        Exception first = refused.get();
        if (first != null) {
            throw new IOException("topic %s could not be filled: %s".formatted(name, first.getMessage()), first);
        }
    }

    long rows() {
        return records * rowsPerRecord;
    }

    /** Returns rows of floats whose energy falls with the column, as that of activations falls with the direction. */
    static Matrix gaussian(long seed, int n, int d) {
        SplittableRandom random = new SplittableRandom(seed);
        Matrix rows = Matrix.zeros(n, d);
        double[] values = rows.values();
        for (int i = 0; i < values.length; i++) {
            values[i] = (float) (7 / Math.sqrt(1 + i % d) * random.nextGaussian());
        }
        return rows;
    }
}
