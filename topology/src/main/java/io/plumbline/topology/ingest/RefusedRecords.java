package io.plumbline.topology.ingest;

import io.plumbline.topology.kafka.OncePerMinute;
import io.plumbline.wire.Printable;
import java.nio.charset.StandardCharsets;
import java.util.OptionalLong;
import java.util.function.LongSupplier;
import org.apache.kafka.streams.processor.api.ProcessorContext;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Counts refused records, names them in the log and hands them to the dead-letter topic.
 *
 * <p>The log gets one line per minute for each {@link DeadLetter.Reason}, with the number of records that it left out
 * since the line before. A producer that is wrong is wrong in every record, thousands of times a second. All tasks of a
 * topology share one object, so that this holds for the process. Thread-safe.
 */
public final class RefusedRecords {

    private static final Logger LOG = LoggerFactory.getLogger(RefusedRecords.class);

    private static final int LONGEST_SITE = 100;
    private static final int LONGEST_MESSAGE = 500;

    private final String deadLetters;
    private final int largestDeadLetter;
    private final IngestListener listener;
    private final OncePerMinute lines;

    /**
     * @param deadLetters name of the sink that takes refused bytes
     * @param largestDeadLetter bytes that its topic and producer take in one record
     */
    public RefusedRecords(String deadLetters, int largestDeadLetter, IngestListener listener) {
        this(deadLetters, largestDeadLetter, listener, System::nanoTime);
    }

    RefusedRecords(String deadLetters, int largestDeadLetter, IngestListener listener, LongSupplier nanoTime) {
        this.deadLetters = deadLetters;
        this.largestDeadLetter = largestDeadLetter;
        this.listener = listener;
        lines = new OncePerMinute(nanoTime);
    }

    /** Takes a record that is refused, which was read at {@code place}. */
    void take(
            ProcessorContext<Object, Object> context,
            Record<byte @Nullable [], byte @Nullable []> record,
            DeadLetter letter,
            DeadLetter.Place place) {
        listener.onDeadLetter(letter.reason());
        log(RecordReader.siteOf(record.key(), record.headers()), letter, place);
        context.forward(
                letter.record(record, place.topic(), place.partition(), place.offset(), largestDeadLetter),
                deadLetters);
    }

    private void log(byte @Nullable [] site, DeadLetter letter, DeadLetter.Place place) {
        String reason = letter.reason().label();
        OptionalLong heldBack = lines.take(reason);
        if (heldBack.isPresent()) {
            LOG.warn(
                    "a record was refused and is a dead letter: {} site={} topic={} partition={} offset={} reason={} "
                            + "others_since_last_line={}\n"
                            + "to see them: plumbline replay --dead-letters --reason {} --config "
                            + "plumbline.yaml --dry-run",
                    Printable.of(letter.message(), LONGEST_MESSAGE),
                    Printable.value(site == null ? null : name(site)),
                    place.topic(),
                    place.partition(),
                    place.offset(),
                    reason,
                    heldBack.getAsLong(),
                    reason);
        }
    }

    private static String name(byte[] site) {
        return Printable.of(
                new String(site, 0, Math.min(site.length, LONGEST_SITE + 1), StandardCharsets.UTF_8), LONGEST_SITE);
    }
}
