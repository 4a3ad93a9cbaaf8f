package io.plumbline.topology.joining;

import java.io.ByteArrayOutputStream;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.apache.kafka.common.utils.Bytes;
import org.apache.kafka.streams.KeyValue;
import org.apache.kafka.streams.state.KeyValueIterator;
import org.apache.kafka.streams.state.KeyValueStore;

/**
 * The parts that wait, as they are stored: written once a commit, and only those that still wait then.
 *
 * <p>A part is stored in pieces of at most {@value #PIECE} bytes, which no topic refuses. Key, big-endian: 8 bytes
 * offset of the part on its partition, 4 bytes number of the piece. Value: a piece of {@link PartRecord#encode}.
 */
final class PartStore {

    private static final int PIECE = 512 << 10;

    private final KeyValueStore<Bytes, byte[]> inner;
    private final Map<Long, PartRecord> unwritten = new TreeMap<>();
    private final Map<Long, Integer> pieces = new HashMap<>();
    private final List<Long> gone = new ArrayList<>();

    PartStore(KeyValueStore<Bytes, byte[]> inner) {
        this.inner = inner;
    }

    void add(PartRecord part) {
        unwritten.put(part.place().offset(), part);
    }

    void remove(PartRecord part) {
        long offset = part.place().offset();
        if (unwritten.remove(offset) == null) {
            gone.add(offset);
        }
    }

    /** Writes what changed since the last call. */
    void write() {
        for (long offset : gone) {
            int count = pieces.getOrDefault(offset, 0);
            for (int piece = 0; piece < count; piece++) {
                inner.delete(key(offset, piece));
            }
            pieces.remove(offset);
        }
        gone.clear();
        unwritten.forEach((offset, part) -> {
            byte[] encoded = part.encode();
            int count = 0;
            for (int from = 0; from < encoded.length; from += PIECE) {
                inner.put(
                        key(offset, count++),
                        Arrays.copyOfRange(encoded, from, Math.min(encoded.length, from + PIECE)));
            }
            pieces.put(offset, count);
        });
        unwritten.clear();
    }

    /** Returns the stored parts in the order in which they were read. */
    List<PartRecord> load() {
        Map<Long, ByteArrayOutputStream> encoded = new TreeMap<>();
        try (KeyValueIterator<Bytes, byte[]> all = inner.all()) {
            while (all.hasNext()) {
                KeyValue<Bytes, byte[]> entry = all.next(); // in the order of the keys
                long offset = ByteBuffer.wrap(entry.key.get()).getLong();
                encoded.computeIfAbsent(offset, first -> new ByteArrayOutputStream())
                        .writeBytes(entry.value);
                pieces.merge(offset, 1, Integer::sum);
            }
        }
        return encoded.values().stream()
                .map(bytes -> PartRecord.decode(bytes.toByteArray()))
                .toList();
    }

    private static Bytes key(long offset, int piece) {
        return Bytes.wrap(ByteBuffer.allocate(Long.BYTES + Integer.BYTES)
                .putLong(offset)
                .putInt(piece)
                .array());
    }
}
