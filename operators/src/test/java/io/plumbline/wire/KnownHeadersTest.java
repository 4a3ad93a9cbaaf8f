package io.plumbline.wire;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotSame;
import static org.junit.jupiter.api.Assertions.assertSame;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.plumbline.wire.SafetensorsException.Fault;
import java.nio.charset.StandardCharsets;
import org.junit.jupiter.api.Test;

class KnownHeadersTest {

    private static final String HEADER = Blobs.object(Blobs.entry("activations", "F32", "[2,3]", 0, 24));

    private final KnownHeaders known = new KnownHeaders();

    @Test
    void aHeaderThatWasSeenIsNotParsedAgain() {
        SafetensorsHeader first = header(HEADER, 24);
        assertSame(first, header(HEADER, 24));
        String other = Blobs.object(Blobs.entry("activations", "F32", "[3,2]", 0, 24));
        assertNotSame(first, header(other, 24));
        assertEquals(3L, header(other, 24).entries().get("activations").shape().get(0));
        assertSame(first, header(HEADER, 24));
    }

    @Test
    void aKnownHeaderBeforeOtherDataIsCheckedAgain() {
        header(HEADER, 24);
        assertEquals(Fault.TRUNCATED, fault(HEADER, 23));
        assertEquals(Fault.TRAILING_BYTES, fault(HEADER, 25));
        header(HEADER, 24);
    }

    @Test
    void whatIsWrongIsWrongEachTime() {
        String hole = Blobs.object(Blobs.entry("activations", "F32", "[2,3]", 4, 28));
        assertEquals(Fault.HOLE, fault(hole, 28));
        assertEquals(Fault.HOLE, fault(hole, 28));
    }

    /** Hostile headers must not fill the memory. */
    @Test
    void longHeadersAreNotKept() {
        String padded = HEADER + " ".repeat(1_000);
        assertNotSame(header(padded, 24), header(padded, 24));
    }

    /** Tests two headers of one slot: 31 a + b is the same for "Aa" and "BB". */
    @Test
    void ofTwoHeadersOfOneHashEachGivesItsOwn() {
        String one = Blobs.object(Blobs.entry("Aa", "F32", "[1,1]", 0, 4));
        String two = Blobs.object(Blobs.entry("BB", "F32", "[1,1]", 0, 4));
        for (int turn = 0; turn < 2; turn++) {
            assertEquals("[Aa]", header(one, 4).entries().keySet().toString());
            assertEquals("[BB]", header(two, 4).entries().keySet().toString());
        }
    }

    private SafetensorsHeader header(String json, int dataBytes) {
        return known.header(Blobs.of(json, dataBytes), json.getBytes(StandardCharsets.UTF_8).length);
    }

    private Fault fault(String json, int dataBytes) {
        return assertThrows(SafetensorsException.class, () -> header(json, dataBytes))
                .fault();
    }
}
