package io.plumbline.topology.outages;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.RowSample;
import io.plumbline.topology.assessment.AdaptationMessage;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.function.LongFunction;
import org.apache.kafka.clients.producer.ProducerRecord;

/** Requests as the monitor writes them. */
final class AdaptationRequests {

    static final String TOPIC = "adaptation-requests";
    private static final int CAPACITY = 4096;

    private AdaptationRequests() {}

    /**
     * Returns parts of the sample, then the request; {@code rows} gives the rows of each of {@code records} user
     * requests.
     */
    static List<ProducerRecord<byte[], byte[]>> adapt(
            String site, long windowEndMs, int records, LongFunction<Matrix> rows) {
        RowSample sample = RowSample.ofCapacity(CAPACITY);
        long count = 0;
        for (int record = 0; record < records; record++) {
            Matrix batch = rows.apply(windowEndMs + record);
            for (int row = 0; row < batch.rows(); row++) {
                float[] values = new float[batch.columns()];
                for (int j = 0; j < values.length; j++) {
                    values[j] = (float) batch.get(row, j);
                }
                sample.offer(
                        RowSample.hash(RowSample.requestHash("record " + record), row), record, record, values, null);
                count++;
            }
        }
        List<ProducerRecord<byte[], byte[]>> messages = new ArrayList<>();
        List<byte[]> parts = sample.encode(RowSample.RECORD_PART_BYTES);
        for (int index = 0; index < parts.size(); index++) {
            messages.add(message(site, new AdaptationMessage.SamplePart(windowEndMs, index, parts.get(index))));
        }
        messages.add(message(
                site,
                new AdaptationMessage.Adapt(
                        windowEndMs,
                        windowEndMs - 10_000,
                        List.of(new AdaptationMessage.BlockRows(null, count, CAPACITY, parts.size())))));
        return messages;
    }

    static List<ProducerRecord<byte[], byte[]>> revert(String site, long windowEndMs) {
        return List.of(message(site, new AdaptationMessage.Revert(windowEndMs)));
    }

    static List<ProducerRecord<byte[], byte[]>> approve(String site, long candidate) {
        return List.of(message(
                site,
                new AdaptationMessage.Command(0, "approval", AdaptationMessage.Verb.APPROVE, candidate, "a test")));
    }

    private static ProducerRecord<byte[], byte[]> message(String site, AdaptationMessage message) {
        return new ProducerRecord<>(TOPIC, site.getBytes(StandardCharsets.UTF_8), message.encode());
    }
}
