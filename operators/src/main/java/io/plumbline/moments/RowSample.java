package io.plumbline.moments;

import io.plumbline.records.EncodedRows;
import io.plumbline.records.MomentRecord;
import java.nio.ByteBuffer;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.zip.CRC32;
import java.util.zip.CRC32C;
import org.jspecify.annotations.Nullable;

/**
 * A uniform sample of rows without replacement: the {@code capacity} rows whose hashes are smallest (bottom-k
 * sampling).
 *
 * <p>Because a row's hash says what was sent (the record's bytes, its event time, its request, the row's number in it)
 * and not where it was read, the sample depends on the rows alone: merging the samples of any split gives exactly the
 * sample of the whole, in any order, over any number of partitions, and a replay gives it again. A row that arrives
 * twice counts once. Two rows of equal hash are taken for the same one, which of n rows loses about {@code n^2 2^-65}:
 * none.
 *
 * <p>A producer that sends moments sends fewer sampled rows than came, and says that no other row has a hash up to the
 * largest of these: {@link #limitTo}. What is above the smallest such limit is known in part only and leaves the
 * sample, which stays uniform.
 *
 * <p><b>Size.</b> {@code 4 (d_in + d_out)} bytes a row and about 110 more. <b>Cost.</b> Of N offered rows about
 * {@code k (1 + ln(N/k))} enter; ask {@link #threshold()} first and the rest cost one comparison.
 *
 * <p>Not thread-safe; one owner.
 */
public final class RowSample {

    /** The threshold above which no row lies. */
    static final long NO_LIMIT = Long.MAX_VALUE;

    private int capacity;
    private long limit = NO_LIMIT;
    private final TreeMap<Long, SampledRow> byHash = new TreeMap<>();

    private RowSample(int capacity) {
        this.capacity = capacity;
    }

    /** An empty sample of at most {@code rows} rows. */
    public static RowSample ofCapacity(int rows) {
        if (rows < 1) {
            throw new IllegalArgumentException("a sample of %d rows: expected at least 1".formatted(rows));
        }
        return new RowSample(rows);
    }

    /**
     * The identity of a record: what was sent, wherever it was read. Two checksums of coprime polynomials; the JDK
     * computes both with the processor's own instructions: 64 bits at several bytes a cycle, so that a record of a
     * megabyte costs less than one row of its moment.
     *
     * @param value all bytes of the record
     * @param timestampMs its event time: equal requests at two times are two
     * @param request the name it gives its request, or null
     */
    public static long recordHash(byte[] value, long timestampMs, byte @Nullable [] request) {
        CRC32 first = new CRC32();
        CRC32C second = new CRC32C();
        byte[] time = ByteBuffer.allocate(Long.BYTES).putLong(timestampMs).array();
        for (byte[] bytes : request == null ? new byte[][] {value, time} : new byte[][] {value, time, request}) {
            first.update(bytes);
            second.update(bytes);
        }
        return first.getValue() << 32 | second.getValue();
    }

    /** The hash of a row of a record. Stable across JVMs and versions, since samples are stored and merged. */
    public static long hash(long record, int row) {
        return SplitMix.mix(SplitMix.mix(record) ^ row);
    }

    /** The number of a request, from its name. */
    public static long requestHash(String request) {
        return SplitMix.mix(request);
    }

    /**
     * Offers a row; it is kept if its hash is among the smallest. The arrays are taken over, not copied.
     *
     * @throws IllegalArgumentException if its widths differ from those of the rows already kept
     */
    public void offer(long hash, long request, long timestampMs, float[] activation, float @Nullable [] target) {
        offer(new SampledRow(hash, request, timestampMs, activation, target));
    }

    /**
     * Adds the sampled rows of a moment that came as a record: those that it has, and that no other has a hash up
     * to theirs.
     */
    public void merge(MomentRecord record) {
        MomentRecord.Sample sent = record.sample();
        if (sent == null) {
            return;
        }
        long[] hashes = sent.hashes();
        if (!record.isSampledWhole()) {
            limitTo(hashes[hashes.length - 1]);
        }
        EncodedRows targets = sent.targets();
        for (int i = 0; i < hashes.length && hashes[i] <= threshold(); i++) {
            offer(
                    hashes[i],
                    sent.requests()[i],
                    sent.timesMs()[i],
                    sent.activations().row(i),
                    targets == null ? null : targets.row(i));
        }
    }

    private void offer(SampledRow row) {
        if (!byHash.isEmpty()) {
            requireSameWidths(byHash.firstEntry().getValue(), row);
        }
        if (row.hash() > threshold()) {
            return;
        }
        if (byHash.putIfAbsent(row.hash(), row) == null && byHash.size() > capacity) {
            byHash.pollLastEntry();
        }
    }

    /** A row whose hash is above this cannot enter: the caller need not even unpack it. */
    public long threshold() {
        return byHash.size() < capacity ? limit : byHash.lastKey();
    }

    /**
     * Leaves out rows whose hashes are above {@code hash}, from now on: of some of them it is not known whether
     * they came.
     */
    void limitTo(long hash) {
        limit = Math.min(limit, hash);
        byHash.tailMap(limit, false).clear();
    }

    /** Returns whether rows were left out although there was room, because somebody sent a smaller sample. */
    public boolean isLimited() {
        return limit != NO_LIMIT && byHash.size() < capacity;
    }

    /**
     * Adds someone else's sample; the other one is not changed. Of two capacities the smaller one holds from then on:
     * the bottom k of a union is only known up to the smaller k. So a capacity may be changed while samples are stored.
     * Of two limits the smaller one holds, too.
     */
    public RowSample merge(RowSample other) {
        shrinkTo(other.capacity);
        limitTo(other.limit);
        if (!byHash.isEmpty() && !other.byHash.isEmpty()) {
            requireSameWidths(
                    byHash.firstEntry().getValue(), other.byHash.firstEntry().getValue());
        }
        for (SampledRow row : other.byHash.values()) {
            if (row.hash() > threshold()) {
                break; // and so are all after it: of full samples the second brings half of its rows, the n-th one in n
            }
            offer(row);
        }
        return this;
    }

    /** The rows kept, in ascending order of their hashes: each prefix is itself a uniform sample. */
    public List<SampledRow> rows() {
        return List.copyOf(byHash.values());
    }

    /** The hashes of the rows kept, ascending. */
    public long[] hashes() {
        return byHash.keySet().stream().mapToLong(Long::longValue).toArray();
    }

    public int size() {
        return byHash.size();
    }

    public int capacity() {
        return capacity;
    }

    /** Bytes of what is kept: four a value, of activations and targets. */
    public long bytes() {
        long bytes = 0;
        for (SampledRow row : byHash.values()) {
            bytes += row.bytes();
        }
        return bytes;
    }

    /** Bytes of a part that becomes a Kafka record: with its key and headers it stays under 512 KiB. */
    public static final int RECORD_PART_BYTES = 500 * 1024;

    /** The most values of a row, of activation and target together, that such a part holds as float32. */
    public static final int MOST_VALUES = RowSampleCodec.MOST_VALUES;

    /**
     * Returns the sample as byte strings of at most {@code maxBytesPerPart} bytes, none for an empty sample. Each
     * string can be merged on its own.
     *
     * @throws IllegalArgumentException if one row does not fit in a part
     */
    public List<byte[]> encode(int maxBytesPerPart) {
        return encodeWithout(new long[0], maxBytesPerPart);
    }

    /**
     * Encodes as {@link #encode} does, leaving out rows that are stored already: parts written at different times merge
     * to the whole, since a row that has left the sample cannot enter it again.
     *
     * @param stored hashes of rows to leave out, ascending
     */
    public List<byte[]> encodeWithout(long[] stored, int maxBytesPerPart) {
        List<SampledRow> rows = new ArrayList<>();
        for (SampledRow row : byHash.values()) {
            if (Arrays.binarySearch(stored, row.hash()) < 0) {
                rows.add(row);
            }
        }
        return RowSampleCodec.parts(capacity, limit, rows, maxBytesPerPart);
    }

    /**
     * Merges one part of an encoded sample. The part is checked as a whole first: either all of it is merged or none.
     *
     * @return how many rows the part holds, kept or not
     * @throws IllegalArgumentException if the bytes are not such a part, or of another width
     */
    public int mergeEncoded(byte[] part) {
        RowSampleCodec.Part decoded = RowSampleCodec.decode(part);
        Map.Entry<Long, SampledRow> first = byHash.firstEntry();
        if (first != null && !decoded.rows().isEmpty()) {
            requireSameWidths(first.getValue(), decoded.rows().get(0));
        }
        shrinkTo(decoded.capacity());
        limitTo(decoded.limit());
        decoded.rows().forEach(this::offer);
        return decoded.rows().size();
    }

    /**
     * Returns a part of {@link #encode} without the rows of one request; the same array where it has none of them. Rows
     * that come later may take their places.
     *
     * @throws IllegalArgumentException if the bytes are not such a part
     */
    public static byte[] without(byte[] part, long request) {
        return RowSampleCodec.without(part, request);
    }

    private void shrinkTo(int otherCapacity) {
        capacity = Math.min(capacity, otherCapacity);
        while (byHash.size() > capacity) {
            byHash.pollLastEntry();
        }
    }

    private static void requireSameWidths(SampledRow known, SampledRow added) {
        int knownTarget = width(known.target());
        int addedTarget = width(added.target());
        if (known.activation().length != added.activation().length || knownTarget != addedTarget) {
            throw new IllegalArgumentException(
                    "a row of %d activations and %d targets does not fit a sample of %d and %d; it was not added"
                            .formatted(added.activation().length, addedTarget, known.activation().length, knownTarget));
        }
    }

    private static int width(float @Nullable [] values) {
        return values == null ? 0 : values.length;
    }
}
