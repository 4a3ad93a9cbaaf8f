package io.plumbline.topology.operate;

import java.io.ByteArrayOutputStream;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.util.Base64;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.clients.consumer.OffsetAndMetadata;

/**
 * Remembers which letters of one partition have been dealt with: all below an offset, and stretches above it where a
 * run took only some. Kept as the committed offset of the replay's group, the stretches in its metadata.
 *
 * <p>Metadata: base64 of pairs of varints, the distance to the stretch and its length. A broker takes 4,096 bytes
 * ({@code offset.metadata.max.bytes}), which is some 1,500 short stretches.
 */
final class SentOffsets {

    static final int LARGEST_METADATA = 4_096;

    private static final int VARINT_BITS = 7;

    private long below;

    /** The stretches, exclusive ends by inclusive starts; disjoint, not adjacent, all above {@link #below}. */
    private final TreeMap<Long, Long> stretches = new TreeMap<>();

    private SentOffsets(long below) {
        this.below = below;
    }

    static SentOffsets none(long beginning) {
        return new SentOffsets(beginning);
    }

    /** Throws {@link IllegalArgumentException} when the metadata is not what {@link #committed} makes. */
    static SentOffsets of(OffsetAndMetadata committed) {
        SentOffsets sent = new SentOffsets(committed.offset());
        try {
            ByteBuffer bytes = ByteBuffer.wrap(Base64.getDecoder().decode(committed.metadata()));
            long at = committed.offset();
            while (bytes.hasRemaining()) {
                long from = Math.addExact(at, varint(bytes));
                at = Math.addExact(from, varint(bytes));
                sent.add(from, at);
            }
        } catch (IllegalArgumentException | ArithmeticException | BufferUnderflowException e) {
            throw new IllegalArgumentException(
                    "the group's committed offset %d has metadata that no replay wrote; name another --group"
                            .formatted(committed.offset()),
                    e);
        }
        return sent;
    }

    /** The first offset that was not dealt with. */
    long below() {
        return below;
    }

    boolean contains(long offset) {
        Map.Entry<Long, Long> stretch = stretches.floorEntry(offset);
        return offset < below || (stretch != null && offset < stretch.getValue());
    }

    /** Marks {@code from .. to-1}. */
    void add(long from, long to) {
        long start = from;
        long end = to;
        Map.Entry<Long, Long> before = stretches.floorEntry(start);
        if (before != null && before.getValue() >= start) {
            start = before.getKey();
        }
        for (Map.Entry<Long, Long> other = stretches.ceilingEntry(start);
                other != null && other.getKey() <= end;
                other = stretches.ceilingEntry(start)) {
            end = Math.max(end, other.getValue());
            stretches.remove(other.getKey());
        }
        if (start <= below) {
            below = Math.max(below, end);
        } else if (end > start) {
            stretches.put(start, end);
        }
    }

    /** Returns what to commit. */
    OffsetAndMetadata committed() {
        ByteArrayOutputStream bytes = new ByteArrayOutputStream();
        long at = below;
        for (Map.Entry<Long, Long> stretch : stretches.entrySet()) {
            write(bytes, stretch.getKey() - at);
            write(bytes, stretch.getValue() - stretch.getKey());
            at = stretch.getValue();
        }
        String metadata = Base64.getEncoder().encodeToString(bytes.toByteArray());
        if (metadata.length() > LARGEST_METADATA) {
            throw new IllegalStateException(
                    ("the letters chosen lie in %d stretches between others, more than the group can remember;"
                                    + " what was committed before is sent. Choose a --partition and --offsets, or leave"
                                    + " --reason and --site out")
                            .formatted(stretches.size()));
        }
        return new OffsetAndMetadata(below, metadata);
    }

    private static void write(ByteArrayOutputStream bytes, long number) {
        long left = number;
        while (left >= 1 << VARINT_BITS) {
            bytes.write((int) (left & 0x7f) | 0x80);
            left >>>= VARINT_BITS;
        }
        bytes.write((int) left);
    }

    private static long varint(ByteBuffer bytes) {
        long number = 0;
        for (int shift = 0; shift < Long.SIZE - 1; shift += VARINT_BITS) {
            byte one = bytes.get();
            number |= (long) (one & 0x7f) << shift;
            if (one >= 0) {
                if (number <= 0) {
                    break;
                }
                return number;
            }
        }
        throw new IllegalArgumentException("a distance that is none");
    }
}
