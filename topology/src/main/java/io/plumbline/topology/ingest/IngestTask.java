package io.plumbline.topology.ingest;

import io.plumbline.topology.ingest.RecordReader.Refused;
import io.plumbline.topology.kafka.Task;
import io.plumbline.topology.kafka.TaskProcessor;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.apache.kafka.common.header.Header;
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
    private final RefusedRecords refused;

    private IngestTask(
            ProcessorContext<Object, Object> context,
            RecordReader reader,
            Limits limits,
            Admission admission,
            IngestListener listener,
            String accepted,
            RefusedRecords refused) {
        this.context = context;
        this.reader = reader;
        this.limits = limits;
        this.admission = admission;
        this.listener = listener;
        this.accepted = accepted;
        this.refused = refused;
    }

    /** Returns the stage with as many records in a pane as come. */
    public static ProcessorSupplier<byte[], byte[], Object, Object> supplier(
            Map<String, SiteShape> sites,
            Limits limits,
            IngestListener listener,
            String accepted,
            RefusedRecords refused) {
        return supplier(
                new RecordReader(sites, limits),
                limits,
                context -> (record, timestampMs) -> null,
                listener,
                accepted,
                refused);
    }

    /**
     * @param reader reads the records of this topic
     * @param limits what is past them is refused
     * @param admissions asked about records that read well
     * @param accepted name of the child node that takes {@link Ingested}
     * @param refused takes the records that are refused
     */
    public static ProcessorSupplier<byte[], byte[], Object, Object> supplier(
            RecordReader reader,
            Limits limits,
            Admission.Supplier admissions,
            IngestListener listener,
            String accepted,
            RefusedRecords refused) {
        return TaskProcessor.supplier(
                Set.of(),
                context ->
                        new IngestTask(context, reader, limits, admissions.of(context), listener, accepted, refused));
    }

    @Override
    public void process(Record<byte @Nullable [], byte @Nullable []> stamped) {
        Record<byte @Nullable [], byte @Nullable []> record = EventTimes.own(stamped);
        RecordMetadata metadata = context.recordMetadata().orElseThrow();
        long begin = System.nanoTime();
        try {
            List<Ingested> read = reader.readAll(record.key(), record.value(), record.headers(), record.timestamp());
            DeadLetter wrong = limits.wrongTime(read.get(0).site(), record.timestamp(), context.currentSystemTimeMs());
            if (wrong != null) {
                throw new Refused(wrong);
            }
            for (Ingested ingested : read) {
                DeadLetter excess = admission.refusal(ingested, record.timestamp());
                if (excess != null) {
                    throw new Refused(excess);
                }
            }
            Header trace = record.headers().lastHeader("traceparent");
            listener.onRead(System.nanoTime() - begin, trace == null ? null : trace.value());
            for (Ingested ingested : read) {
                listener.onAccepted(ingested.site(), ingested.rows());
                if (ingested instanceof Ingested.Moment) {
                    listener.onMoment(ingested.site());
                }
                context.forward(new Record<>(ingested.site(), ingested, record.timestamp()), accepted);
            }
        } catch (Refused refusal) {
            listener.onRead(System.nanoTime() - begin, null);
            refused.take(
                    context,
                    record,
                    refusal.deadLetter(),
                    new DeadLetter.Place(metadata.topic(), metadata.partition(), metadata.offset()));
        }
    }
}
