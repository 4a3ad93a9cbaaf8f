package io.plumbline.wire;

import java.util.Arrays;
import java.util.concurrent.atomic.AtomicReferenceArray;
import org.jspecify.annotations.Nullable;

/**
 * Safetensors headers that were read and found sound. Records of one producer differ in little but the number of their
 * rows, so most have a header that was seen before, and need no parsing: a comparison of some hundred bytes instead of
 * a JSON parser.
 *
 * <p><b>Size.</b> At most {@value #SLOTS} headers of at most {@value #LONGEST} bytes, some 2 MB with what they were
 * parsed to. A header takes the place of another one of the same hash. Thread-safe.
 */
public final class KnownHeaders {

    private static final int SLOTS = 1 << 10;

    /** The longest header that is kept: a record of three tensors has some 250 bytes. */
    private static final int LONGEST = 512;

    private record Known(byte[] json, long dataBytes, SafetensorsHeader header) {}

    private final AtomicReferenceArray<@Nullable Known> slots = new AtomicReferenceArray<>(SLOTS);

    /** The header in {@code blob}, whose JSON has {@code length} bytes; parsed if need be. */
    SafetensorsHeader header(byte[] blob, int length) {
        int from = SafetensorsHeader.LENGTH_BYTES;
        int to = from + length;
        long dataBytes = (long) blob.length - to;
        if (length > LONGEST) {
            return SafetensorsHeader.parse(Arrays.copyOfRange(blob, from, to), dataBytes);
        }
        int slot = hash(blob, from, to) & (SLOTS - 1);
        Known known = slots.get(slot);
        if (known == null
                || known.dataBytes() != dataBytes
                || !Arrays.equals(known.json(), 0, known.json().length, blob, from, to)) {
            byte[] json = Arrays.copyOfRange(blob, from, to);
            known = new Known(json, dataBytes, SafetensorsHeader.parse(json, dataBytes));
            slots.set(slot, known);
        }
        return known.header();
    }

    private static int hash(byte[] bytes, int from, int to) {
        int hash = 0;
        for (int i = from; i < to; i++) {
            hash = 31 * hash + bytes[i];
        }
        return hash ^ hash >>> 16;
    }
}
