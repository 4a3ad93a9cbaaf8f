package io.plumbline.topology.ingest;

import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.Locale;
import org.apache.kafka.common.header.Header;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.utils.Utils;
import org.apache.kafka.streams.processor.api.Record;
import org.jspecify.annotations.Nullable;

/**
 * A record that was refused: its own bytes and headers, with the reason and the place it came from added as headers.
 *
 * <p>Headers added: {@code plumbline.reason} (one of {@link Reason}), {@code plumbline.message} (a sentence),
 * {@code plumbline.topic}, {@code plumbline.partition}, {@code plumbline.offset}, {@code plumbline.timestamp} (event
 * time in ms: the letter's own may be the time it was written), and sentence and place by the names that Kafka Streams
 * has for them (KIP-1034). They stand after all others, the reason first, so that headers of the same names that a
 * producer sent can be told from them.
 */
public record DeadLetter(Reason reason, String message) {

    /** The room for reason, sentence and place beside what is copied. */
    static final int HEADROOM = 100 * 1024;

    private static final int LARGEST_MESSAGE = 2_000;

    /**
     * The bytes that the lengths of a header's key and value take on the wire, at most: each is a varint. Without them,
     * millions of empty headers would count as a third of what they are.
     */
    private static final int HEADER_LENGTHS = 10;

    static final String REASON = "plumbline.reason";
    static final String MESSAGE = "plumbline.message";
    static final String TOPIC = "plumbline.topic";
    static final String PARTITION = "plumbline.partition";
    static final String OFFSET = "plumbline.offset";
    static final String TIMESTAMP = "plumbline.timestamp";
    static final String OMITTED = "plumbline.omitted.bytes";

    /** How Kafka Streams' own dead letters begin the names of their headers, which tools for such topics read. */
    private static final String STREAMS = "__streams.errors.";

    /** The place where a record was read. */
    public record Place(String topic, int partition, long offset) {
        @Override
        public String toString() {
            return "%s-%d@%d".formatted(topic, partition, offset);
        }
    }

    /** The fixed set of reasons, so that a counter by reason stays small; each with whether a replay helps. */
    public enum Reason {
        UNKNOWN_SITE("yes, once the site is configured"),
        OTHER_TENANT("no, but on the topic of its tenant"),
        NULL_VALUE(Reason.NO),
        MALFORMED(Reason.NO),
        WRONG_WIDTH("yes, if the explainer was the wrong one"),
        MISSING_TARGETS(Reason.NO),
        UNEXPECTED_TARGETS("yes, once the transcoder is configured"),
        MISSING_RECONSTRUCTIONS(Reason.NO),
        MISSING_CODES("yes, once the site asks for none"),
        MISSING_TOKEN_IDS("yes, once no token is masked"),
        EMPTY_BATCH(Reason.NO),
        NON_FINITE(Reason.NO),
        AHEAD_OF_TIME("yes, once this clock has come so far: a replay keeps the time"),
        BEHIND_TIME("yes, where limits.behind was too short: a replay keeps the time"),
        TOO_MANY_ROWS("yes, once the limit is raised"),
        TOO_MANY_REQUESTS("yes, once the limit is raised"),
        WRONG_MASK(Reason.NO),
        IMPOSSIBLE_MOMENT(Reason.NO),
        UNEXPECTED_MOMENT(Reason.NO),
        STRADDLES_PANES(Reason.NO);

        private static final String NO = "no";

        private final String replay;

        Reason(String replay) {
            this.replay = replay;
        }

        /** Returns whether records refused for it are taken when they are sent again, and after what. */
        public String replay() {
            return replay;
        }

        /** The reason as it stands in headers and metric labels: lower case, underscores. */
        public String label() {
            return name().toLowerCase(Locale.ROOT);
        }
    }

    /**
     * The record to write. What is too large together is left out, the value first, then key and headers; a header
     * {@code plumbline.omitted.bytes} then says how much. The place always stands.
     *
     * @param largest bytes the dead-letter topic and the producer take in one record
     */
    public Record<byte @Nullable [], byte @Nullable []> record(
            Record<byte @Nullable [], byte @Nullable []> refused,
            String topic,
            int partition,
            long offset,
            int largest) {
        int largestCopy = Math.max(0, largest - HEADROOM);
        byte[] key = refused.key();
        byte[] value = refused.value();
        Header[] headers = refused.headers().toArray();
        long valueBytes = value == null ? 0 : value.length;
        long otherBytes = wireBytes(key, headers);
        boolean keepsOthers = otherBytes <= largestCopy;
        boolean keepsValue = valueBytes + (keepsOthers ? otherBytes : 0) <= largestCopy;
        long omitted = (keepsOthers ? 0 : contentBytes(key, headers)) + (keepsValue ? 0 : valueBytes);
        return new Record<>(
                keepsOthers ? key : null,
                keepsValue ? value : null,
                refused.timestamp(),
                headers(
                        keepsOthers ? refused.headers() : new RecordHeaders(),
                        new Place(topic, partition, offset),
                        refused.timestamp(),
                        omitted));
    }

    /** The headers of a letter that is written again without the key, value and headers of its record. */
    public static Headers withoutContent(Headers letter, byte @Nullable [] key, byte @Nullable [] value) {
        Header[] all = letter.toArray();
        int first = all.length - 1;
        while (first > 0 && !all[first].key().equals(REASON)) {
            first--;
        }
        Headers added = new RecordHeaders(Arrays.copyOfRange(all, first, all.length));
        Header before = added.lastHeader(OMITTED);
        long omitted = (value == null ? 0 : value.length)
                + contentBytes(key, Arrays.copyOf(all, first))
                + (before == null ? 0 : Long.parseLong(new String(before.value(), StandardCharsets.UTF_8)));
        added.remove(OMITTED);
        return added.add(OMITTED, text(Long.toString(omitted)));
    }

    /** Returns the bytes of a record's key and headers on the wire, at most. */
    private static long wireBytes(byte @Nullable [] key, Header[] headers) {
        return contentBytes(key, headers) + (long) HEADER_LENGTHS * headers.length;
    }

    private static long contentBytes(byte @Nullable [] key, Header[] headers) {
        long bytes = key == null ? 0 : key.length;
        for (Header header : headers) {
            bytes += Utils.utf8Length(header.key());
            bytes += header.value() == null ? 0 : header.value().length;
        }
        return bytes;
    }

    private Headers headers(Headers original, Place place, long timestampMs, long omittedBytes) {
        Headers headers = new RecordHeaders(original.toArray());
        headers.add(REASON, text(reason.label()));
        byte[] sentence =
                text(message.length() <= LARGEST_MESSAGE ? message : message.substring(0, LARGEST_MESSAGE) + "…");
        byte[] partition = text(Integer.toString(place.partition()));
        byte[] offset = text(Long.toString(place.offset()));
        headers.add(MESSAGE, sentence);
        headers.add(TOPIC, text(place.topic()));
        headers.add(PARTITION, partition);
        headers.add(OFFSET, offset);
        headers.add(STREAMS + "message", sentence);
        headers.add(STREAMS + "topic", text(place.topic()));
        headers.add(STREAMS + "partition", partition);
        headers.add(STREAMS + "offset", offset);
        headers.add(TIMESTAMP, text(Long.toString(timestampMs)));
        if (omittedBytes > 0) {
            headers.add(OMITTED, text(Long.toString(omittedBytes)));
        }
        return headers;
    }

    private static byte[] text(String value) {
        return value.getBytes(StandardCharsets.UTF_8);
    }
}
