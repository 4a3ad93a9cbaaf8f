package io.plumbline.topology.panes;

import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.util.UUID;

/**
 * Tells level 2 what level 1 knows about a site, keyed by the site.
 *
 * <pre>
 * offset  size  field
 *      0     1  version, 1
 *      1     1  kind: 1 of a pane, 2 progress
 *      2     8  application that writes, {@link #application}
 *     10     4  source partition
 *  of a pane   14  8  pane start, ms     22  8  pane length, ms      30  1  moment or part, as in {@link PaneKeys}
 *              31  8  rows read          39  8  messages of the pane 47  …  what the part encodes, or a tile
 *  progress    14  4  source partitions  18  8  closed up to, ms     26  1  1: silent, 2: records lie unread
 *              27  8  event time, ms     35  8  passed over up to, ms
 *              43 40  {@link RowsRead}, its components
 * </pre>
 *
 * Big endian. No message exceeds 512 KiB. The length travels because panes of two configurations must not be added up,
 * the application because its successor, which reads all activations anew, finds its messages on the same topic.
 */
public sealed interface PaneMessage {

    byte VERSION = 1;
    byte OF_PANE = 1;
    byte PROGRESS = 2;

    /** The source partition that speaks. */
    int partition();

    /** @param application the one that writes, of {@link #application} */
    public byte[] encode(long application);

    /** Returns 64 bits of an application id. */
    static long application(String id) {
        return UUID.nameUUIDFromBytes(id.getBytes(StandardCharsets.UTF_8)).getMostSignificantBits();
    }

    /**
     * A tile or a part of a closed pane; the tiles come first.
     *
     * @param what {@link Pane#MOMENT}, or the number of a {@link PartKind}
     * @param rows read for the pane, masked ones too; with its first message, otherwise 0
     * @param messages that make up the pane; with its first one, otherwise 0: so that one which does not come is missed
     */
    record OfPane(int partition, long paneStartMs, long paneMs, byte what, long rows, long messages, byte[] bytes)
            implements PaneMessage {

        private static OfPane decode(int partition, ByteBuffer buffer) {
            return new OfPane(
                    partition,
                    time(buffer.getLong()),
                    buffer.getLong(),
                    buffer.get(),
                    count(buffer.getLong()),
                    count(buffer.getLong()),
                    rest(buffer));
        }

        @Override
        public byte[] encode(long application) {
            return header(OF_PANE, application, partition, 33 + bytes.length)
                    .putLong(paneStartMs)
                    .putLong(paneMs)
                    .put(what)
                    .putLong(rows)
                    .putLong(messages)
                    .put(bytes)
                    .array();
        }
    }

    /**
     * Says that everything of this partition before {@code closedUpToMs} has been sent. {@code silent}: the site has no
     * records here; do not wait for it. {@code rows} speaks of all rows up to this message, so that the ones sent have
     * arrived.
     *
     * @param passedOverUpToMs the time before which the site has nothing here by the records of other sites;
     *     {@link SiteClock#NEVER} where they do not say more than its own
     * @param unread whether records lie unread in this partition
     */
    record Progress(
            int partition,
            int partitions,
            long closedUpToMs,
            boolean silent,
            long eventTimeMs,
            long passedOverUpToMs,
            boolean unread,
            RowsRead rows)
            implements PaneMessage {

        private static final int SILENT = 1;
        private static final int UNREAD = 2;

        /** Creates the progress of a partition that is read to its end, by the site's own records. */
        public Progress(
                int partition, int partitions, long closedUpToMs, boolean silent, long eventTimeMs, RowsRead rows) {
            this(partition, partitions, closedUpToMs, silent, eventTimeMs, SiteClock.NEVER, false, rows);
        }

        private static Progress decode(int partition, ByteBuffer buffer) {
            int partitions = buffer.getInt();
            if (partition >= partitions || partitions > LARGEST_PARTITIONS) {
                throw new IllegalArgumentException("progress of partition %d of %d".formatted(partition, partitions));
            }
            long closedUpToMs = timeOrNever(buffer.getLong());
            int flags = buffer.get();
            return new Progress(
                    partition,
                    partitions,
                    closedUpToMs,
                    (flags & SILENT) != 0,
                    timeOrNever(buffer.getLong()),
                    timeOrNever(buffer.getLong()),
                    (flags & UNREAD) != 0,
                    RowsRead.decode(buffer));
        }

        @Override
        public byte[] encode(long application) {
            return header(PROGRESS, application, partition, 29 + RowsRead.BYTES)
                    .putInt(partitions)
                    .putLong(closedUpToMs)
                    .put((byte) ((silent ? SILENT : 0) | (unread ? UNREAD : 0)))
                    .putLong(eventTimeMs)
                    .putLong(passedOverUpToMs)
                    .put(rows.encode())
                    .array();
        }
    }

    private static ByteBuffer header(byte kind, long application, int partition, int bodyBytes) {
        return ByteBuffer.allocate(14 + bodyBytes)
                .put(VERSION)
                .put(kind)
                .putLong(application)
                .putInt(partition);
    }

    /** The latest time: later ones would overflow when a window is added to them; some 140,000 years either way. */
    long LARGEST_TIME_MS = 1L << 52;

    /** The most partitions: the progress of more would not fit in one record of the change-log. */
    int LARGEST_PARTITIONS = 8_000;

    private static long time(long ms) {
        if (Math.abs(ms) > LARGEST_TIME_MS) {
            throw new IllegalArgumentException("pane message of time %d ms".formatted(ms));
        }
        return ms;
    }

    /** Checks a number of rows or messages; sums of so few stay in a long. */
    private static long count(long count) {
        if (count < 0 || count > PaneCounts.MOST) {
            throw new IllegalArgumentException("pane message that counts %d".formatted(count));
        }
        return count;
    }

    private static byte[] rest(ByteBuffer buffer) {
        byte[] rest = new byte[buffer.remaining()];
        buffer.get(rest);
        return rest;
    }

    private static long timeOrNever(long ms) {
        return ms == SiteClock.NEVER ? ms : time(ms);
    }

    /**
     * Reads one message; throws {@link IllegalArgumentException} when the bytes are not one of this version, written by
     * {@code application}.
     */
    static PaneMessage decode(byte[] bytes, long application) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        try {
            byte version = buffer.get();
            if (version != VERSION) {
                throw new IllegalArgumentException(
                        "pane message of version %d, expected %d".formatted(version, VERSION));
            }
            byte kind = buffer.get();
            if (buffer.getLong() != application) {
                throw new IllegalArgumentException(
                        "pane message of another application; give every application_id a moments topic of its own");
            }
            int partition = buffer.getInt();
            if (partition < 0 || partition >= LARGEST_PARTITIONS) {
                throw new IllegalArgumentException("pane message of partition %d".formatted(partition));
            }
            return switch (kind) {
                case OF_PANE -> OfPane.decode(partition, buffer);
                case PROGRESS -> Progress.decode(partition, buffer);
                default -> throw new IllegalArgumentException("pane message of unknown kind " + kind);
            };
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException("pane message of %d bytes is cut short".formatted(bytes.length), e);
        }
    }
}
