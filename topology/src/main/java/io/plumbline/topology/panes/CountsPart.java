package io.plumbline.topology.panes;

import io.plumbline.moments.MaskedRows;
import io.plumbline.topology.ingest.Ingested;
import java.nio.ByteBuffer;
import java.util.List;

/**
 * Counts what came to a pane, and the messages it is put together from.
 *
 * <p>Encoded as seven longs, big endian: requests, records, moment records, rows masked by token, rows masked by norm,
 * messages announced, messages arrived; the last two are zero when sent.
 */
public final class CountsPart implements PanePart<PaneCounts> {

    private static final int BYTES = 7 * Long.BYTES;

    /** The most that the pane of every partition counts together; sums of so few stay in a long. */
    private static final long MOST_STORED = PaneCounts.MOST * PaneMessage.LARGEST_PARTITIONS;

    private PaneCounts counts = PaneCounts.NONE;
    private long announced;
    private long arrived;

    @Override
    public void add(Ingested record, long timestampMs) {
        long moments = record instanceof Ingested.Moment ? 1 : 0;
        counts = counts.plus(new PaneCounts(record.requests(), 1, moments, record.masked()));
    }

    /** Counts a message of the pane, and takes the sender's word on how many there are where it has one. */
    void arrived(long announcing) {
        announced += announcing;
        arrived++;
    }

    /** Returns whether every message that was announced has arrived. */
    boolean isComplete() {
        return announced == arrived;
    }

    @Override
    public PaneCounts value() {
        return counts;
    }

    @Override
    public List<byte[]> encode() {
        return List.of(encode(0, 0));
    }

    private byte[] encode(long itsAnnounced, long itsArrived) {
        return ByteBuffer.allocate(BYTES)
                .putLong(counts.requests())
                .putLong(counts.records())
                .putLong(counts.momentRecords())
                .putLong(counts.masked().byToken())
                .putLong(counts.masked().byNorm())
                .putLong(itsAnnounced)
                .putLong(itsArrived)
                .array();
    }

    @Override
    public void take(byte[] part) {
        if (part.length != BYTES) {
            throw new IllegalArgumentException("counts of %d bytes, expected %d".formatted(part.length, BYTES));
        }
        counts = counts.plus(decode(ByteBuffer.wrap(part), PaneCounts.MOST));
    }

    private static PaneCounts decode(ByteBuffer bytes, long most) {
        return new PaneCounts(
                count(bytes, most),
                count(bytes, most),
                count(bytes, most),
                new MaskedRows(count(bytes, most), count(bytes, most)));
    }

    private static long count(ByteBuffer bytes, long most) {
        long count = bytes.getLong();
        if (count < 0 || count > most) {
            throw new IllegalArgumentException("a pane that counts %d".formatted(count));
        }
        return count;
    }

    @Override
    public void store(PartSlots slots) {
        slots.put(0, encode(announced, arrived));
    }

    @Override
    public void load(byte[] part) {
        StateVersion.requireLength("pane's counts", BYTES, part);
        ByteBuffer bytes = ByteBuffer.wrap(part);
        counts = counts.plus(decode(bytes, MOST_STORED));
        announced += bytes.getLong();
        arrived += bytes.getLong();
    }

    @Override
    public long bytes() {
        return 0;
    }
}
