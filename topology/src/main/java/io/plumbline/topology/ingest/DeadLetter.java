package io.plumbline.topology.ingest;

import java.nio.charset.StandardCharsets;
import java.util.Locale;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.jspecify.annotations.Nullable;

/**
 * A record that was refused: its own bytes and headers, with the reason and the place it came from added as headers.
 *
 * <p>Headers added: {@code plumbline.reason} (one of {@link Reason}), {@code plumbline.message} (a sentence),
 * {@code plumbline.topic}, {@code plumbline.partition}, {@code plumbline.offset}.
 */
public record DeadLetter(Reason reason, String message) {

    /** A value longer than this stays where it is: one more copy would exceed the default request size of a producer. */
    static final int LARGEST_COPY = 900 * 1024;

    /** The fixed set of reasons, so that a counter by reason stays small. */
    public enum Reason {
        UNKNOWN_SITE,
        NULL_VALUE,
        MALFORMED,
        WRONG_WIDTH,
        MISSING_TARGETS,
        UNEXPECTED_TARGETS,
        EMPTY_BATCH,
        NON_FINITE;

        /** The reason as it stands in headers and metric labels: lower case, underscores. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /** The headers of the dead letter: those of the refused record, then reason, sentence and place. */
    public Headers headers(Headers original, String topic, int partition, long offset, byte @Nullable [] value) {
        Headers headers = new RecordHeaders(original.toArray());
        headers.add("plumbline.reason", text(reason.label()));
        headers.add("plumbline.message", text(message));
        headers.add("plumbline.topic", text(topic));
        headers.add("plumbline.partition", text(Integer.toString(partition)));
        headers.add("plumbline.offset", text(Long.toString(offset)));
        if (value != null && value.length > LARGEST_COPY) {
            headers.add("plumbline.omitted.bytes", text(Integer.toString(value.length)));
        }
        return headers;
    }

    /** The value to keep: the bytes themselves, or nothing when only the place can be kept (see {@link #LARGEST_COPY}). */
    public static byte @Nullable [] keptValue(byte @Nullable [] value) {
        return value == null || value.length > LARGEST_COPY ? null : value;
    }

    private static byte[] text(String value) {
        return value.getBytes(StandardCharsets.UTF_8);
    }
}
