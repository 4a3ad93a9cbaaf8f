package io.plumbline.topology.ingest;

import io.plumbline.topology.ingest.RecordReader.Refused;
import io.plumbline.topology.kafka.Task;
import io.plumbline.topology.kafka.TaskProcessor;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.jspecify.annotations.Nullable;

/** Reads raw records; good ones go to {@code accepted}, bad ones with their reason to {@code deadLetters}. */
public final class IngestTask implements Task<byte @Nullable [], byte @Nullable []> {

    private final ProcessorContext<Object, Object> context;
    private final RecordReader reader;
    private final Limits limits;
    private final Admission admission;
    private final IngestListener listener;
    private final String accepted;
    private final String deadLetters;
    private final int largestDeadLetter;

    private IngestTask(
            ProcessorContext<Object, Object> context,
            RecordReader reader,
            Limits limits,
            Admission admission,
            IngestListener listener,
            String accepted,
            String deadLetters,
            int largestDeadLetter) {
        this.context = context;
        this.reader = reader;
        this.limits = limits;
        this.admission = admission;
        this.listener = listener;
        this.accepted = accepted;
        this.deadLetters = deadLetters;
        this.largestDeadLetter = largestDeadLetter;
    }

    /** Returns the stage with as many records in a pane as come. */
    public static ProcessorSupplier<byte[], byte[], Object, Object> supplier(
            Map<String, SiteShape> sites,
            Limits limits,
            IngestListener listener,
            String accepted,
            String deadLetters,
            int largestDeadLetter) {
        return supplier(
                sites,
                limits,
                context -> (record, timestampMs) -> null,
                listener,
                accepted,
                deadLetters,
                largestDeadLetter);
    }

    /**
     * @param limits what is past them is refused
     * @param admissions asked about records that read well
     * @param accepted name of the child node that takes {@link Ingested}
     * @param deadLetters name of the sink that takes refused bytes
     * @param largestDeadLetter bytes its topic and producer take in one record
     */
    public static ProcessorSupplier<byte[], byte[], Object, Object> supplier(
            Map<String, SiteShape> sites,
            Limits limits,
            Admission.Supplier admissions,
            IngestListener listener,
            String accepted,
            String deadLetters,
            int largestDeadLetter) {
        RecordReader reader = new RecordReader(sites, limits);
        return TaskProcessor.supplier(
                Set.of(),
                context -> new IngestTask(
                        context,
                        reader,
                        limits,
                        admissions.of(context),
                        listener,
                        accepted,
                        deadLetters,
                        largestDeadLetter));
    }

    @Override
    public void process(Record<byte @Nullable [], byte @Nullable []> record) {
        RecordMetadata metadata = context.recordMetadata().orElseThrow();
        long begin = System.nanoTime();
        try {
            List<Ingested> read = reader.readAll(record.key(), record.value(), record.headers(), record.timestamp());
            DeadLetter wrong = limits.wrongTime(read.get(0).site(), record.timestamp(), context.currentSystemTimeMs());
            if (wrong != null) {
                throw new Refused(wrong);
            }
            for (Ingested ingested : read) {
                DeadLetter refusal = admission.refusal(ingested, record.timestamp());
                if (refusal != null) {
                    throw new Refused(refusal);
                }
            }
            listener.onRead(System.nanoTime() - begin);
            for (Ingested ingested : read) {
                listener.onAccepted(ingested.site(), ingested.rows());
                if (ingested.moment() != null) {
                    listener.onMoment(ingested.site());
                }
                context.forward(new Record<>(ingested.site(), ingested, record.timestamp()), accepted);
            }
        } catch (Refused refused) {
            DeadLetter letter = refused.deadLetter();
            listener.onRead(System.nanoTime() - begin);
            listener.onDeadLetter(letter.reason());
            context.forward(
                    letter.record(record, metadata.topic(), metadata.partition(), metadata.offset(), largestDeadLetter),
                    deadLetters);
        }
    }
}
