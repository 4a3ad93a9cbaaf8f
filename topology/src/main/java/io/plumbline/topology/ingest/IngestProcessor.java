package io.plumbline.topology.ingest;

import io.plumbline.topology.ingest.RecordReader.Refused;
import java.time.Instant;
import java.util.Map;
import java.util.Objects;
import org.apache.kafka.streams.processor.api.Processor;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.ProcessorSupplier;
import org.apache.kafka.streams.processor.api.Record;
import org.apache.kafka.streams.processor.api.RecordMetadata;
import org.jspecify.annotations.Nullable;

/** Reads raw records; good ones go to {@code accepted}, bad ones with their reason to {@code deadLetters}. */
public final class IngestProcessor implements Processor<byte @Nullable [], byte @Nullable [], Object, Object> {

    private final RecordReader reader;
    private final Limits limits;
    private final Admission.Supplier admissions;
    private final IngestListener listener;
    private final String accepted;
    private final String deadLetters;
    private final int largestDeadLetter;
    private @Nullable ProcessorContext<Object, Object> context;
    private @Nullable Admission admission;

    private IngestProcessor(
            RecordReader reader,
            Limits limits,
            Admission.Supplier admissions,
            IngestListener listener,
            String accepted,
            String deadLetters,
            int largestDeadLetter) {
        this.reader = reader;
        this.limits = limits;
        this.admissions = admissions;
        this.listener = listener;
        this.accepted = accepted;
        this.deadLetters = deadLetters;
        this.largestDeadLetter = largestDeadLetter;
    }

    /** With as many records in a pane as come. */
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
        return () ->
                new IngestProcessor(reader, limits, admissions, listener, accepted, deadLetters, largestDeadLetter);
    }

    @Override
    public void init(ProcessorContext<Object, Object> processorContext) {
        context = processorContext;
        admission = admissions.of(processorContext);
    }

    @Override
    public void process(Record<byte @Nullable [], byte @Nullable []> record) {
        ProcessorContext<Object, Object> out = Objects.requireNonNull(context, "init was called");
        RecordMetadata metadata = out.recordMetadata().orElseThrow();
        long begin = System.nanoTime();
        try {
            Ingested ingested = reader.read(record.key(), record.value(), record.headers(), record.timestamp());
            requireNotAhead(ingested.site(), record.timestamp(), out.currentSystemTimeMs());
            DeadLetter refusal =
                    Objects.requireNonNull(admission, "init was called").refusal(ingested, record.timestamp());
            if (refusal != null) {
                throw new Refused(refusal);
            }
            listener.onRead(System.nanoTime() - begin);
            listener.onAccepted(ingested.site(), ingested.rows());
            if (ingested.moment() != null) {
                listener.onMoment(ingested.site());
            }
            out.forward(new Record<>(ingested.site(), ingested, record.timestamp()), accepted);
        } catch (Refused refused) {
            DeadLetter letter = refused.deadLetter();
            listener.onRead(System.nanoTime() - begin);
            listener.onDeadLetter(letter.reason());
            out.forward(
                    letter.record(record, metadata.topic(), metadata.partition(), metadata.offset(), largestDeadLetter),
                    deadLetters);
        }
    }

    /**
     * One clock that runs ahead would close its site's windows: right rows would be late until the others caught up.
     */
    private void requireNotAhead(String site, long timestampMs, long wallMs) throws Refused {
        long aheadMs = timestampMs - wallMs;
        if (aheadMs > limits.ahead().toMillis()) {
            throw new Refused(
                    DeadLetter.Reason.AHEAD_OF_TIME,
                    "site %s: the event time %s is %d s ahead of this machine's clock, limits.ahead takes %d s; look at the producer's clock and at this one"
                            .formatted(
                                    site,
                                    Instant.ofEpochMilli(timestampMs),
                                    aheadMs / 1_000,
                                    limits.ahead().toSeconds()));
        }
    }
}
