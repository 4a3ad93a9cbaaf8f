package io.plumbline.topology.ingest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.common.record.internal.AbstractRecords;
import org.apache.kafka.common.record.internal.CompressionType;
import org.apache.kafka.common.record.internal.RecordBatch;
import org.apache.kafka.streams.errors.internals.ExceptionHandlerUtils;
import org.apache.kafka.streams.processor.api.Record;
import org.junit.jupiter.api.Test;

class DeadLetterTest {

    private static final int DEFAULT_REQUEST_BYTES = 1_048_576;
    private static final byte[] KEY = {7};

    private final DeadLetter letter = new DeadLetter(DeadLetter.Reason.WRONG_WIDTH, "4 columns, expected 3");

    @Test
    void bytesAndHeadersAreKeptAndReasonAndPlaceAdded() {
        RecordHeaders original = new RecordHeaders();
        original.add("site", text("layer.2"));
        Record<byte[], byte[]> written = write(KEY, new byte[] {1, 2}, original);
        assertArrayEquals(KEY, written.key());
        assertArrayEquals(new byte[] {1, 2}, written.value());
        assertEquals(5, written.timestamp());
        assertEquals("layer.2", header(written, "site"));
        assertEquals("wrong_width", header(written, "plumbline.reason"));
        assertEquals("4 columns, expected 3", header(written, "plumbline.message"));
        assertEquals("activations", header(written, "plumbline.topic"));
        assertEquals("3", header(written, "plumbline.partition"));
        assertEquals("99", header(written, "plumbline.offset"));
        assertEquals("5", header(written, "plumbline.timestamp"));
        assertEquals(
                "4 columns, expected 3", header(written, ExceptionHandlerUtils.HEADER_ERRORS_EXCEPTION_MESSAGE_NAME));
        assertEquals("activations", header(written, ExceptionHandlerUtils.HEADER_ERRORS_TOPIC_NAME));
        assertEquals("3", header(written, ExceptionHandlerUtils.HEADER_ERRORS_PARTITION_NAME));
        assertEquals("99", header(written, ExceptionHandlerUtils.HEADER_ERRORS_OFFSET_NAME));
        assertNull(written.headers().lastHeader("plumbline.omitted.bytes"));
        assertEquals(1, original.toArray().length, "the refused record is not changed");
    }

    @Test
    void aValueTooLargeToCopyIsOmittedAndItsPlaceStands() {
        Record<byte[], byte[]> written = write(KEY, new byte[DEFAULT_REQUEST_BYTES], new RecordHeaders());
        assertNull(written.value());
        assertArrayEquals(KEY, written.key());
        assertEquals(Integer.toString(DEFAULT_REQUEST_BYTES), header(written, "plumbline.omitted.bytes"));
        assertEquals("99", header(written, "plumbline.offset"));
    }

    @Test
    void whatIsTooLargeOnlyTogetherIsStillWrittenInOneDefaultRequest() {
        RecordHeaders large = new RecordHeaders();
        large.add("trace", new byte[300_000]);
        large.add("nothing", null);
        Record<byte[], byte[]> withoutValue = write(KEY, new byte[800_000], large);
        assertNull(withoutValue.value());
        assertEquals("800000", header(withoutValue, "plumbline.omitted.bytes"));
        assertEquals(300_000, withoutValue.headers().lastHeader("trace").value().length);

        large.add("more", new byte[900_000]);
        Record<byte[], byte[]> withoutHeaders = write(KEY, new byte[800_000], large);
        assertNull(withoutHeaders.headers().lastHeader("trace"));
        assertNull(withoutHeaders.key());
        assertEquals(800_000, withoutHeaders.value().length);
        assertEquals("99", header(withoutHeaders, "plumbline.offset"));

        Record<byte[], byte[]> onlyThePlace = write(new byte[2_000_000], new byte[2_000_000], large);
        assertNull(onlyThePlace.key());
        assertNull(onlyThePlace.value());
        assertEquals("wrong_width", header(onlyThePlace, "plumbline.reason"));
    }

    /**
     * Tests many small headers: one costs the lengths of its key and value on the wire, which for empty ones is most of
     * it.
     */
    @Test
    void manySmallHeadersAreCountedAsTheyAreSent() {
        RecordHeaders many = new RecordHeaders();
        for (int i = 0; i < 350_000; i++) {
            many.add("h", null);
        }
        Record<byte[], byte[]> written = write(KEY, new byte[] {1, 2}, many);
        assertNull(written.headers().lastHeader("h"));
        assertNull(written.key());
        assertArrayEquals(new byte[] {1, 2}, written.value());
        assertEquals(Integer.toString(350_000 + KEY.length), header(written, "plumbline.omitted.bytes"));
        assertEquals("99", header(written, "plumbline.offset"));
    }

    @Test
    void aTopicThatTakesMoreKeepsMore() {
        byte[] value = new byte[3_000_000];
        Record<byte[], byte[]> written =
                letter.record(new Record<>(KEY, value, 5, new RecordHeaders()), "activations", 3, 99, 4_000_000);
        assertArrayEquals(value, written.value());
    }

    @Test
    void aLongMessageIsCut() {
        DeadLetter talkative = new DeadLetter(DeadLetter.Reason.MALFORMED, "x".repeat(2_000_000));
        Record<byte[], byte[]> written = talkative.record(new Record<>(KEY, KEY, 0), "t", 0, 0, DEFAULT_REQUEST_BYTES);
        assertTrue(size(written) < 10_000, "a letter of " + size(written));
    }

    private Record<byte[], byte[]> write(byte[] key, byte[] value, Headers headers) {
        Record<byte[], byte[]> written =
                letter.record(new Record<>(key, value, 5, headers), "activations", 3, 99, DEFAULT_REQUEST_BYTES);
        assertTrue(size(written) < DEFAULT_REQUEST_BYTES - 10_000, "a letter of " + size(written));
        return written;
    }

    /** Returns what the producer compares with {@code max.request.size}. */
    private static long size(Record<byte[], byte[]> record) {
        return AbstractRecords.estimateSizeInBytesUpperBound(
                RecordBatch.CURRENT_MAGIC_VALUE,
                CompressionType.NONE,
                record.key(),
                record.value(),
                record.headers().toArray());
    }

    private static String header(Record<byte[], byte[]> record, String name) {
        return new String(record.headers().lastHeader(name).value(), StandardCharsets.UTF_8);
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
