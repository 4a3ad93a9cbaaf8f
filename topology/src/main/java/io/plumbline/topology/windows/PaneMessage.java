package io.plumbline.topology.windows;

import io.plumbline.moments.MaskedRows;
import io.plumbline.wire.MomentTile;
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
 *      1     1  kind: 1 tile, 2 sample part, 3 progress, 4 masked, 5 part of request totals, 6 moments,
 *                7 part of notes, 8 part of whole requests
 *      2     8  application that writes, {@link #application}
 *     10     4  source partition
 *  tile        14  8  pane start, ms     22  8  pane length, ms      30  8  requests in the pane
 *              38  8  records in its request totals                  46  …  {@link MomentTile}
 *  sample part 14  8  pane start, ms     22  8  pane length, ms      30  …  part of a {@code RowSample}
 *  totals part 14  8  pane start, ms     22  8  pane length, ms      30  …  part of {@code RequestTotals}
 *  notes part  14  8  pane start, ms     22  8  pane length, ms      30  …  part of {@code WindowNotes}
 *  whole part  14  8  pane start, ms     22  8  pane length, ms      30  …  part of {@code WholeRequests}
 *  progress    14  4  source partitions  18  8  closed up to, ms     26  1  1: silent, 2: records lie unread
 *              27  8  event time, ms     35  8  passed over up to, ms
 *              43 40  {@link RowsRead}, its components
 *  masked      14  8  pane start, ms     22  8  pane length, ms      30  8  rows by token   38  8  rows by norm
 *  moments     14  8  pane start, ms     22  8  pane length, ms      30  8  moment records
 * </pre>
 *
 * Big endian. No message exceeds 512 KiB. The length travels because panes of two configurations must not be added up,
 * the application because its successor, which reads all activations anew, finds its messages on the same topic.
 */
sealed interface PaneMessage {

    byte VERSION = 1;
    byte TILE = 1;
    byte SAMPLE = 2;
    byte PROGRESS = 3;
    byte MASKED = 4;
    byte TOTALS = 5;
    byte MOMENTS = 6;
    byte NOTES = 7;
    byte WHOLE = 8;

    /** The source partition that speaks. */
    int partition();

    /** @param application the one that writes, of {@link #application} */
    byte[] encode(long application);

    /** Returns 64 bits of an application id. */
    static long application(String id) {
        return UUID.nameUUIDFromBytes(id.getBytes(StandardCharsets.UTF_8)).getMostSignificantBits();
    }

    /**
     * A tile of a closed pane.
     *
     * @param requests counted once, with tile 0, as is {@code totalled}
     * @param totalled records that the parts of its request totals bring: so that a part which does not come is missed
     */
    record Tile(int partition, long paneStartMs, long paneMs, long requests, long totalled, MomentTile tile)
            implements PaneMessage {
        @Override
        public byte[] encode(long application) {
            return tile.encodeTo(header(TILE, application, partition, 32 + tile.encodedBytes())
                            .putLong(paneStartMs)
                            .putLong(paneMs)
                            .putLong(requests)
                            .putLong(totalled))
                    .array();
        }
    }

    /** The masked rows of a closed pane; sent after its tiles, where there are any. */
    record Masked(int partition, long paneStartMs, long paneMs, MaskedRows rows) implements PaneMessage {
        @Override
        public byte[] encode(long application) {
            return header(MASKED, application, partition, 32)
                    .putLong(paneStartMs)
                    .putLong(paneMs)
                    .putLong(rows.byToken())
                    .putLong(rows.byNorm())
                    .array();
        }
    }

    /**
     * The number of records of a closed pane that brought moments instead of rows; sent after its tiles, where there
     * are any.
     */
    record Moments(int partition, long paneStartMs, long paneMs, long records) implements PaneMessage {
        @Override
        public byte[] encode(long application) {
            return header(MOMENTS, application, partition, 24)
                    .putLong(paneStartMs)
                    .putLong(paneMs)
                    .putLong(records)
                    .array();
        }
    }

    /** A part of the row sample of a closed pane. */
    record SamplePart(int partition, long paneStartMs, long paneMs, byte[] part) implements PaneMessage {
        @Override
        public byte[] encode(long application) {
            return encodePart(SAMPLE, application, partition, paneStartMs, paneMs, part);
        }
    }

    /** A part of the request totals of a closed pane. */
    record TotalsPart(int partition, long paneStartMs, long paneMs, byte[] part) implements PaneMessage {
        @Override
        public byte[] encode(long application) {
            return encodePart(TOTALS, application, partition, paneStartMs, paneMs, part);
        }
    }

    /** A part of what producers said of the rows of a closed pane; sent after its tiles, where they said anything. */
    record NotesPart(int partition, long paneStartMs, long paneMs, byte[] part) implements PaneMessage {
        @Override
        public byte[] encode(long application) {
            return encodePart(NOTES, application, partition, paneStartMs, paneMs, part);
        }
    }

    /** A part of the whole requests of a closed pane; sent after its tiles, where the site has a head. */
    record WholePart(int partition, long paneStartMs, long paneMs, byte[] part) implements PaneMessage {
        @Override
        public byte[] encode(long application) {
            return encodePart(WHOLE, application, partition, paneStartMs, paneMs, part);
        }
    }

    private static byte[] encodePart(
            byte kind, long application, int partition, long paneStartMs, long paneMs, byte[] part) {
        return header(kind, application, partition, 16 + part.length)
                .putLong(paneStartMs)
                .putLong(paneMs)
                .put(part)
                .array();
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
        Progress(int partition, int partitions, long closedUpToMs, boolean silent, long eventTimeMs, RowsRead rows) {
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

    /** Checks a number of rows: no pane has a trillion, and sums of fewer stay in a long. */
    private static long rows(long count) {
        if (count > 1L << 40) {
            throw new IllegalArgumentException("pane message of %d masked rows".formatted(count));
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
                case TILE ->
                    new Tile(
                            partition,
                            time(buffer.getLong()),
                            buffer.getLong(),
                            buffer.getLong(),
                            buffer.getLong(),
                            MomentTile.decode(buffer));
                case SAMPLE -> new SamplePart(partition, time(buffer.getLong()), buffer.getLong(), rest(buffer));
                case TOTALS -> new TotalsPart(partition, time(buffer.getLong()), buffer.getLong(), rest(buffer));
                case NOTES -> new NotesPart(partition, time(buffer.getLong()), buffer.getLong(), rest(buffer));
                case WHOLE -> new WholePart(partition, time(buffer.getLong()), buffer.getLong(), rest(buffer));
                case PROGRESS -> Progress.decode(partition, buffer);
                case MASKED ->
                    new Masked(
                            partition,
                            time(buffer.getLong()),
                            buffer.getLong(),
                            new MaskedRows(rows(buffer.getLong()), rows(buffer.getLong())));
                case MOMENTS ->
                    new Moments(partition, time(buffer.getLong()), buffer.getLong(), rows(buffer.getLong()));
                default -> throw new IllegalArgumentException("pane message of unknown kind " + kind);
            };
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException("pane message of %d bytes is cut short".formatted(bytes.length), e);
        }
    }
}
