package io.plumbline.topology.windows;

import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The ids of the records of one pane whose producers want them to count once.
 *
 * <p>There are at most as many as records in the pane, which {@code limits.requests_per_window} bounds. They are stored
 * in parts of {@value #IDS_PER_PART}: only the last part grows, so a commit writes it and those after it.
 */
final class RecordIds {

    /** The bytes of an id, with the objects around it. */
    static final int BYTES = 64;

    static final int IDS_PER_PART = 4_096;

    private final Set<Long> known = new HashSet<>();
    private long[] inOrder = new long[0];
    private int count;
    private int stored;

    boolean holds(@Nullable Long id) {
        return id != null && known.contains(id);
    }

    void remember(@Nullable Long id) {
        if (id != null && known.add(id)) {
            if (count == inOrder.length) {
                inOrder = Arrays.copyOf(inOrder, Math.max(16, 2 * count));
            }
            inOrder[count++] = id;
        }
    }

    long bytes() {
        return (long) BYTES * count;
    }

    /** The number of the first part that is not stored as it is. */
    int firstChangedPart() {
        return stored / IDS_PER_PART;
    }

    /** The parts from {@link #firstChangedPart} on, which count as stored from now on; none where nothing came. */
    List<byte[]> store() {
        List<byte[]> parts = new ArrayList<>();
        if (stored < count) {
            for (int from = firstChangedPart() * IDS_PER_PART; from < count; from += IDS_PER_PART) {
                int ids = Math.min(IDS_PER_PART, count - from);
                ByteBuffer part = ByteBuffer.allocate(Long.BYTES * ids);
                part.asLongBuffer().put(inOrder, from, ids);
                parts.add(part.array());
            }
        }
        stored = count;
        return parts;
    }

    /** Takes in a part that was stored; they come in their order. */
    void load(byte[] part) {
        if (part.length % Long.BYTES != 0 || part.length > IDS_PER_PART * Long.BYTES) {
            throw new IllegalStateException(
                    "the state store holds %d bytes of record ids; reset the application's state"
                            .formatted(part.length));
        }
        for (ByteBuffer left = ByteBuffer.wrap(part); left.hasRemaining(); ) {
            remember(left.getLong());
        }
        stored = count;
    }
}
