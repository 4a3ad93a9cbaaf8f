package io.plumbline.topology.panes;

import io.plumbline.topology.ingest.Ingested;
import java.nio.ByteBuffer;
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
public final class RecordIds implements PanePart<RecordIds> {

    /** The bytes of an id, with the objects around it. */
    static final int BYTES = 64;

    public static final int IDS_PER_PART = 4_096;

    private final Set<Long> known = new HashSet<>();
    private long[] inOrder = new long[0];
    private int count;
    private int stored;

    boolean holds(@Nullable Long id) {
        return id != null && known.contains(id);
    }

    private void remember(@Nullable Long id) {
        if (id != null && known.add(id)) {
            if (count == inOrder.length) {
                inOrder = Arrays.copyOf(inOrder, Math.max(16, 2 * count));
            }
            inOrder[count++] = id;
        }
    }

    @Override
    public void add(Ingested record, long timestampMs) {
        remember(record.id());
    }

    @Override
    public RecordIds value() {
        return this;
    }

    @Override
    public List<byte[]> encode() {
        return List.of();
    }

    @Override
    public void take(byte[] part) {
        throw new IllegalArgumentException("record ids are not sent");
    }

    @Override
    public void store(PartSlots slots) {
        if (stored == count) {
            return;
        }
        for (int part = stored / IDS_PER_PART; part * IDS_PER_PART < count; part++) {
            int from = part * IDS_PER_PART;
            ByteBuffer ids = ByteBuffer.allocate(Long.BYTES * Math.min(IDS_PER_PART, count - from));
            ids.asLongBuffer().put(inOrder, from, ids.capacity() / Long.BYTES);
            slots.put(part, ids.array());
        }
        stored = count;
    }

    @Override
    public void load(byte[] part) {
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

    @Override
    public long bytes() {
        return (long) BYTES * count;
    }
}
