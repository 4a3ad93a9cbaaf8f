package io.plumbline.topology.ingest;

import io.plumbline.topology.ingest.RecordReader.Refused;
import java.util.Map;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.jspecify.annotations.Nullable;

/** Reads raw records; good ones go to {@code accepted}, bad ones with their reason to {@code deadLetters}. */
public final class IngestProcessor implements Processor<byte @Nullable [], byte @Nullable [], Object, Object> {

    private final RecordReader reader;
    private final IngestListener listener;
    private final String accepted;
    private final String deadLetters;
    private final int largestDeadLetter;
    private @Nullable ProcessorContext<Object, Object> context;

    private IngestProcessor(
            RecordReader reader, IngestListener listener, String accepted, String deadLetters, int largestDeadLetter) {
        this.reader = reader;
        this.listener = listener;
        this.accepted = accepted;
        this.deadLetters = deadLetters;
        this.largestDeadLetter = largestDeadLetter;
    }

    /**
     * @param accepted name of the child node that takes {@link Ingested}
     * @param deadLetters name of the sink that takes refused bytes
     * @param largestDeadLetter bytes its topic and producer take in one record
     */
    public static ProcessorSupplier<byte[], byte[], Object, Object> supplier(
            Map<String, SiteShape> sites,
            IngestListener listener,
            String accepted,
            String deadLetters,
            int largestDeadLetter) {
        RecordReader reader = new RecordReader(sites);
        return () -> new IngestProcessor(reader, listener, accepted, deadLetters, largestDeadLetter);
    }

    @Override
    public void init(ProcessorContext<Object, Object> processorContext) {
        context = processorContext;
    }

    @Override
    public void process(Record<byte @Nullable [], byte @Nullable []> record) {
        ProcessorContext<Object, Object> out = java.util.Objects.requireNonNull(context, "init was called");
        RecordMetadata metadata = out.recordMetadata().orElseThrow();
        try {
            Ingested ingested = reader.read(record.key(), record.value(), record.headers(), record.timestamp());
            listener.onAccepted(ingested.site(), ingested.batch().rows());
            out.forward(new Record<>(ingested.site(), ingested, record.timestamp()), accepted);
        } catch (Refused refused) {
            DeadLetter letter = refused.deadLetter();
            listener.onDeadLetter(letter.reason());
            out.forward(
                    letter.record(record, metadata.topic(), metadata.partition(), metadata.offset(), largestDeadLetter),
                    deadLetters);
        }
    }
}
