package io.plumbline.topology.windows;

import io.plumbline.wire.MomentTile;
import java.nio.BufferUnderflowException;
import java.nio.ByteBuffer;

/**
 * What level 1 sends to level 2 about a site, keyed by the site.
 *
 * <pre>
 * offset  size  field
 *      0     1  version, 1
 *      1     1  kind: 1 tile, 2 sample part, 3 progress
 *      2     4  source partition
 *  tile         6  8  pane start, ms     14  8  pane length, ms      22  8  requests in the pane   30  …  {@link MomentTile}
 *  sample part  6  8  pane start, ms     14  8  pane length, ms      22  …  a part of a {@link io.plumbline.moments.RowSample}
 *  progress     6  4  source partitions  10  8  closed up to, ms     18  1  silent: 0 or 1
 * </pre>
 *
 * Big endian. No message exceeds 512 KiB. The length travels because panes of two configurations must not be added up.
 */
sealed interface PaneMessage {

    byte VERSION = 1;
    byte TILE = 1;
    byte SAMPLE = 2;
    byte PROGRESS = 3;

    /** The source partition that speaks. */
    int partition();

    byte[] encode();

    /** A tile of a closed pane; {@code requests} is counted once, with tile 0. */
    record Tile(int partition, long paneStartMs, long paneMs, long requests, MomentTile tile) implements PaneMessage {
        @Override
        public byte[] encode() {
            byte[] body = tile.encode();
            return header(TILE, partition, 24 + body.length)
                    .putLong(paneStartMs)
                    .putLong(paneMs)
                    .putLong(requests)
                    .put(body)
                    .array();
        }
    }

    /** A part of the row sample of a closed pane. */
    record SamplePart(int partition, long paneStartMs, long paneMs, byte[] part) implements PaneMessage {
        @Override
        public byte[] encode() {
            return header(SAMPLE, partition, 16 + part.length)
                    .putLong(paneStartMs)
                    .putLong(paneMs)
                    .put(part)
                    .array();
        }
    }

    /**
     * Everything of this partition before {@code closedUpToMs} has been sent. {@code silent}: the site has no records
     * here; do not wait for it.
     */
    record Progress(int partition, int partitions, long closedUpToMs, boolean silent) implements PaneMessage {
        @Override
        public byte[] encode() {
            return header(PROGRESS, partition, 13)
                    .putInt(partitions)
                    .putLong(closedUpToMs)
                    .put((byte) (silent ? 1 : 0))
                    .array();
        }
    }

    private static ByteBuffer header(byte kind, int partition, int bodyBytes) {
        return ByteBuffer.allocate(6 + bodyBytes).put(VERSION).put(kind).putInt(partition);
    }

    /** Times beyond this would overflow when a window is added to them; some 140,000 years either way. */
    long LARGEST_TIME_MS = 1L << 52;

    /** The progress of more would not fit in one record of the change-log. */
    int LARGEST_PARTITIONS = 50_000;

    private static long time(long ms) {
        if (Math.abs(ms) > LARGEST_TIME_MS) {
            throw new IllegalArgumentException("pane message of time %d ms".formatted(ms));
        }
        return ms;
    }

    /** Reads one message; throws {@link IllegalArgumentException} when the bytes are not one of this version. */
    static PaneMessage decode(byte[] bytes) {
        ByteBuffer buffer = ByteBuffer.wrap(bytes);
        try {
            byte version = buffer.get();
            if (version != VERSION) {
                throw new IllegalArgumentException(
                        "pane message of version %d, expected %d".formatted(version, VERSION));
            }
            byte kind = buffer.get();
            int partition = buffer.getInt();
            return switch (kind) {
                case TILE ->
                    new Tile(
                            partition,
                            time(buffer.getLong()),
                            buffer.getLong(),
                            buffer.getLong(),
                            MomentTile.decode(buffer));
                case SAMPLE -> {
                    long paneStartMs = time(buffer.getLong());
                    long paneMs = buffer.getLong();
                    byte[] part = new byte[buffer.remaining()];
                    buffer.get(part);
                    yield new SamplePart(partition, paneStartMs, paneMs, part);
                }
                case PROGRESS -> {
                    int partitions = buffer.getInt();
                    if (partition < 0 || partition >= partitions || partitions > LARGEST_PARTITIONS) {
                        throw new IllegalArgumentException(
                                "progress of partition %d of %d".formatted(partition, partitions));
                    }
                    long closedUpToMs = buffer.getLong();
                    yield new Progress(
                            partition,
                            partitions,
                            closedUpToMs == SiteClock.NEVER ? closedUpToMs : time(closedUpToMs),
                            buffer.get() != 0);
                }
                default -> throw new IllegalArgumentException("pane message of unknown kind " + kind);
            };
        } catch (BufferUnderflowException e) {
            throw new IllegalArgumentException("pane message of %d bytes is cut short".formatted(bytes.length), e);
        }
    }
}
