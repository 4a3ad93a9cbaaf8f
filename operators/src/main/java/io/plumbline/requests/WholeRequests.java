package io.plumbline.requests;

import io.plumbline.moments.RowSample;
import io.plumbline.moments.SampledRow;
import io.plumbline.moments.SplitMix;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * A uniform sample of whole requests: the {@code capacity} requests whose mixed hashes are smallest (bottom-k
 * sampling), each as the bytes of one record. Merging the samples of any split gives that of the whole, in any order.
 *
 * <p>A request is kept only where it came whole, in one record. One whose rows came in several records is known to be
 * split and has no bytes: nothing says in which order its rows belong. The same record again counts once.
 *
 * <p>Its parts, little-endian:
 *
 * <pre>
 * offset  size  what
 *      0     1  version, 1
 *      1     4  capacity
 *      5        pieces: mixed hash (8), group (8), record (8), bytes of the request (4; 0: split),
 *               offset (4), length l (4), l bytes
 * </pre>
 *
 * <p>A request of more bytes than a part holds is cut; its pieces must come in order, which they do where the messages
 * of each sender stay in order. <b>Size.</b> The requests' bytes. Not thread-safe; one owner.
 */
public final class WholeRequests {

    private static final byte VERSION = 1;
    private static final int HEADER_BYTES = 5;
    private static final int PIECE_BYTES = 36;

    /** The largest request; a piece of a larger one is refused. */
    private static final int LARGEST_REQUEST = 1 << 28;

    private int capacity;
    private final TreeMap<Long, Entry> byHash = new TreeMap<>();

    /**
     * A request that came whole.
     *
     * @param hash mixed hash of its name
     * @param group hash of the name under which its rows are sampled, {@link SampledRow#request}
     * @param bytes the request as a record of its own
     */
    public record Kept(long hash, long group, byte[] bytes) {}

    private static final class Entry {
        final long group;
        final long record;
        /** Bytes of the whole request; 0: split. */
        int size;
        /** Holds what came: a claimed size alone allocates nothing. */
        byte[] bytes = new byte[0];

        int filled;
        /** How much of it is stored; -1: not even that it exists. */
        int stored = -1;

        Entry(long group, long record, int size) {
            this.group = group;
            this.record = record;
            this.size = size;
        }

        void append(ByteBuffer piece, int length) {
            if (filled + length > bytes.length) {
                long twice = Math.max(2L * bytes.length, filled + length);
                bytes = Arrays.copyOf(bytes, (int) Math.min(size, twice));
            }
            piece.get(bytes, filled, length);
            filled += length;
        }

        boolean isSplit() {
            return size == 0;
        }

        boolean isWhole() {
            return !isSplit() && filled == size;
        }

        void split() {
            if (isSplit()) {
                return;
            }
            size = 0;
            bytes = new byte[0];
            filled = 0;
            stored = -1;
        }
    }

    private WholeRequests(int capacity) {
        this.capacity = capacity;
    }

    /** An empty sample of at most {@code requests} requests. */
    public static WholeRequests ofCapacity(int requests) {
        if (requests < 1) {
            throw new IllegalArgumentException("a sample of %d requests: expected at least 1".formatted(requests));
        }
        return new WholeRequests(requests);
    }

    /**
     * Offers a request; it is kept if its hash is among the smallest.
     *
     * @param request hash of its name
     * @param group hash of the name under which its rows are sampled: that of the record where it holds several
     *     requests
     * @param record identity of the record it came in, {@link RowSample#recordHash}
     * @param bytes makes its record; asked only where it is kept
     */
    public void offer(long request, long group, long record, Supplier<byte[]> bytes) {
        long hash = SplitMix.mix(request);
        if (!keeps(hash)) {
            return;
        }
        Entry known = byHash.get(hash);
        if (known == null) {
            byte[] given = bytes.get();
            Entry entry = new Entry(group, record, given.length);
            entry.bytes = given;
            entry.filled = given.length;
            put(hash, entry);
        } else if (known.record != record) {
            known.split();
        }
    }

    private boolean keeps(long hash) {
        return byHash.size() < capacity || hash <= byHash.lastKey();
    }

    private void put(long hash, Entry entry) {
        byHash.put(hash, entry);
        shrinkTo(capacity);
    }

    private void shrinkTo(int other) {
        capacity = Math.min(capacity, other);
        while (byHash.size() > capacity) {
            byHash.pollLastEntry();
        }
    }

    /** Adds someone else's sample, whose bytes are shared; of two capacities the smaller one holds from then on. */
    public WholeRequests merge(WholeRequests other) {
        shrinkTo(other.capacity);
        other.byHash.forEach((hash, theirs) -> {
            if (keeps(hash)) {
                take(hash, theirs);
            }
        });
        return this;
    }

    private void take(long hash, Entry theirs) {
        Entry known = byHash.get(hash);
        if (known == null) {
            Entry entry = new Entry(theirs.group, theirs.record, theirs.size);
            entry.bytes = theirs.bytes;
            entry.filled = theirs.filled;
            put(hash, entry);
        } else if (known.record != theirs.record || theirs.isSplit()) {
            known.split();
        }
    }

    /** Returns the requests that came whole, as records, in ascending order of hashes: each prefix is a sample. */
    public List<byte[]> requests() {
        return byHash.values().stream()
                .filter(Entry::isWhole)
                .map(entry -> entry.bytes)
                .toList();
    }

    /** Returns the requests that came whole, in the order of {@link #requests()}. */
    public List<Kept> kept() {
        return byHash.entrySet().stream()
                .filter(one -> one.getValue().isWhole())
                .map(one -> new Kept(one.getKey(), one.getValue().group, one.getValue().bytes))
                .toList();
    }

    /**
     * Returns the sample of the first requests that came whole and have at most so many bytes together. The bytes are
     * shared.
     */
    public WholeRequests within(long mostBytes) {
        WholeRequests within = new WholeRequests(capacity);
        long bytes = 0;
        for (Map.Entry<Long, Entry> one : byHash.entrySet()) {
            Entry entry = one.getValue();
            if (entry.isWhole()) {
                bytes += entry.size;
                if (bytes > mostBytes) {
                    break;
                }
                within.take(one.getKey(), entry);
            }
        }
        return within;
    }

    /** Returns how many of the requests in the sample came in several records. */
    public int split() {
        return (int) byHash.values().stream().filter(Entry::isSplit).count();
    }

    int capacity() {
        return capacity;
    }

    /** Bytes of what is kept. */
    public long bytes() {
        long bytes = 0;
        for (Entry entry : byHash.values()) {
            bytes += entry.bytes.length + (long) PIECE_BYTES;
        }
        return bytes;
    }

    /** Returns all of it, in parts of at most {@code maxBytes} bytes. */
    public List<byte[]> encode(int maxBytes) {
        Parts parts = new Parts(maxBytes);
        byHash.forEach((hash, entry) -> parts.add(hash, entry, 0));
        return parts.list();
    }

    /** Returns what was not stored yet, in such parts; it counts as stored from now on. */
    public List<byte[]> encodeNew(int maxBytes) {
        Parts parts = new Parts(maxBytes);
        for (Map.Entry<Long, Entry> one : byHash.entrySet()) {
            Entry entry = one.getValue();
            if (entry.stored < entry.filled) {
                parts.add(one.getKey(), entry, Math.max(0, entry.stored));
                entry.stored = entry.filled;
            }
        }
        return parts.list();
    }

    /** Counts everything as stored, or nothing. */
    public void stored(boolean all) {
        byHash.values().forEach(entry -> entry.stored = all ? entry.filled : -1);
    }

    /**
     * Merges one part.
     *
     * @throws IllegalArgumentException if the bytes are no such part
     */
    public void mergeEncoded(byte[] part) {
        ByteBuffer buffer = ByteBuffer.wrap(part).order(ByteOrder.LITTLE_ENDIAN);
        try {
            byte version = buffer.get();
            int theirs = buffer.getInt();
            if (version != VERSION || theirs < 1) {
                throw new IllegalArgumentException(
                        "a part of whole requests of version %d, capacity %d: expected version %d"
                                .formatted(version, theirs, VERSION));
            }
            shrinkTo(theirs);
            while (buffer.hasRemaining()) {
                mergePiece(buffer);
            }
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException(
                    "a part of whole requests of %d bytes is cut short".formatted(part.length), e);
        }
    }

    /**
     * Returns a part of {@link #encode} without the requests of one name; the same array where it has none of them.
     *
     * @param group hash of the name under which their rows are sampled
     * @throws IllegalArgumentException if the bytes are no such part
     */
    public static byte[] without(byte[] part, long group) {
        ofCapacity(1).mergeEncoded(part);
        ByteBuffer buffer = ByteBuffer.wrap(part).order(ByteOrder.LITTLE_ENDIAN);
        ByteBuffer kept = ByteBuffer.allocate(part.length).put(part, 0, HEADER_BYTES);
        for (int from = HEADER_BYTES; from < part.length; ) {
            int bytes = PIECE_BYTES + buffer.getInt(from + PIECE_BYTES - Integer.BYTES);
            if (buffer.getLong(from + Long.BYTES) != group) {
                kept.put(part, from, bytes);
            }
            from += bytes;
        }
        return kept.position() == part.length ? part : Arrays.copyOf(kept.array(), kept.position());
    }

    private void mergePiece(ByteBuffer buffer) {
        long hash = buffer.getLong();
        long group = buffer.getLong();
        long record = buffer.getLong();
        int size = buffer.getInt();
        int from = buffer.getInt();
        int length = buffer.getInt();
        if (size < 0 || size > LARGEST_REQUEST || from < 0 || length < 0 || length > size - from) {
            throw new IllegalArgumentException(
                    "a piece of %d bytes at %d of a request of %d bytes".formatted(length, from, size));
        }
        if (length > buffer.remaining()) {
            throw new BufferUnderflowException();
        }
        int end = buffer.position() + length;
        if (keeps(hash)) {
            Entry known = byHash.get(hash);
            if (known == null) {
                known = new Entry(group, record, size);
                put(hash, known);
            } else if (known.record != record || size == 0) {
                known.split();
            }
            // From another partition the same record comes again, and its pieces lie between the others.
            if (!known.isSplit() && known.size == size && from == known.filled) {
                known.append(buffer, length);
            }
        }
        buffer.position(end);
    }

    /** Cuts requests into parts. */
    private final class Parts {
        private final int maxBytes;
        private final List<byte[]> done = new ArrayList<>();
        private ByteBuffer open;

        Parts(int maxBytes) {
            this.maxBytes = maxBytes;
            open = begin();
        }

        private ByteBuffer begin() {
            return ByteBuffer.allocate(maxBytes)
                    .order(ByteOrder.LITTLE_ENDIAN)
                    .put(VERSION)
                    .putInt(capacity);
        }

        void add(long hash, Entry entry, int from) {
            int at = from;
            do {
                if (open.remaining() <= PIECE_BYTES) {
                    finish();
                }
                int length = Math.min(entry.filled - at, open.remaining() - PIECE_BYTES);
                open.putLong(hash)
                        .putLong(entry.group)
                        .putLong(entry.record)
                        .putInt(entry.size)
                        .putInt(at)
                        .putInt(length)
                        .put(entry.bytes, at, length);
                at += length;
            } while (at < entry.filled);
        }

        private void finish() {
            byte[] part = new byte[open.position()];
            open.flip().get(part);
            done.add(part);
            open = begin();
        }

        List<byte[]> list() {
            if (open.position() > HEADER_BYTES) {
                finish();
            }
            return done;
        }
    }
}
