package io.plumbline.topology.ingest;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.plumbline.topology.ingest.DeadLetter.Place;
import java.nio.charset.StandardCharsets;
import org.apache.kafka.common.header.Headers;
import org.apache.kafka.common.header.internals.RecordHeaders;
import org.apache.kafka.streams.processor.api.Record;
import org.junit.jupiter.api.Test;

class KeptLetterTest {

    private static final DeadLetter LETTER = new DeadLetter(DeadLetter.Reason.UNKNOWN_SITE, "not configured");

    @Test
    void aLetterSaysWhatItWasMadeOf() {
        RecordHeaders original = new RecordHeaders();
        original.add("site", text("layer.b")).add("trace", null);
        KeptLetter kept = KeptLetter.of(letter(original, 1_000_000));
        assertEquals("unknown_site", kept.reason());
        assertEquals("not configured", kept.message());
        assertEquals(new Place("rows", 3, 99), kept.place());
        assertEquals(1_700_000_000_123L, kept.timestampMs());
        assertEquals(0, kept.omittedBytes());
        assertEquals("layer.b", kept.site(text("key")));
        assertArrayEquals(original.toArray(), kept.original().toArray());
    }

    @Test
    void headersAProducerMadeUpAreItsOwnAndNotBelieved() {
        RecordHeaders forged = new RecordHeaders();
        forged.add("plumbline.reason", text("forged")).add("plumbline.topic", text("payroll"));
        forged.add("plumbline.omitted.bytes", text("7")).add("plumbline.timestamp", text("1"));
        KeptLetter kept = KeptLetter.of(letter(forged, 1_000_000));
        assertEquals("unknown_site", kept.reason());
        assertEquals("rows", kept.place().topic());
        assertEquals(0, kept.omittedBytes());
        assertEquals(1_700_000_000_123L, kept.timestampMs());
        assertArrayEquals(forged.toArray(), kept.original().toArray());
    }

    @Test
    void whatWasTooLargeToKeepIsSaid() {
        assertEquals(3, KeptLetter.of(letter(new RecordHeaders(), 0)).omittedBytes());
    }

    @Test
    void aLetterOfAVersionThatDidNotKeepTheTimeSaysSo() {
        Headers headers = letter(new RecordHeaders(), 1_000_000);
        headers.remove("plumbline.timestamp");
        assertEquals(KeptLetter.UNKNOWN, KeptLetter.of(headers).timestampMs());
    }

    @Test
    void aRecordThatIsNoLetterIsRefused() {
        assertRefused(new RecordHeaders(), "no header plumbline.reason");
        Headers headers = letter(new RecordHeaders(), 1_000_000);
        headers.remove("plumbline.offset").add("plumbline.offset", text("-1"));
        assertRefused(headers, "header plumbline.offset = \"-1\"");
        headers.remove("plumbline.partition");
        assertRefused(headers, "header plumbline.partition = \"\"");
    }

    private static void assertRefused(Headers headers, String words) {
        IllegalArgumentException refused = assertThrows(IllegalArgumentException.class, () -> KeptLetter.of(headers));
        assertTrue(refused.getMessage().contains(words), refused.getMessage());
    }

    private static Headers letter(Headers original, int largest) {
        Record<byte[], byte[]> refused = new Record<>(new byte[0], new byte[] {1, 2, 3}, 1_700_000_000_123L, original);
        return LETTER.record(refused, "rows", 3, 99, largest).headers();
    }

    private static byte[] text(String text) {
        return text.getBytes(StandardCharsets.UTF_8);
    }
}
