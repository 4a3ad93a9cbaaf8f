package io.plumbline.topology.panes;

import java.nio.ByteBuffer;

/**
 * Counts what became of all rows of one site that one source partition ever handed to level 1, so far. State of the
 * task, not a metric: written in the transaction that commits the offsets of those rows, so that no row counts twice
 * after a crash.
 *
 * @param in rows read
 * @param afterGrace of these, late by {@link LateReason#AFTER_GRACE}
 * @param afterIdle of these, late by {@link LateReason#AFTER_IDLE}
 * @param notConfigured of these, left out by {@link LateReason#NOT_CONFIGURED}
 * @param open of these, in panes that are still open here; the rest was sent to level 2
 */
public record RowsRead(long in, long afterGrace, long afterIdle, long notConfigured, long open) {

    public static final RowsRead NONE = new RowsRead(0, 0, 0, 0, 0);

    public static final int BYTES = 5 * Long.BYTES;

    public RowsRead {
        long left = in;
        for (long part : new long[] {afterGrace, afterIdle, notConfigured, open}) {
            if (part < 0 || part > left) {
                throw new IllegalArgumentException("%d rows read, against %d, %d and %d late and %d open"
                        .formatted(in, afterGrace, afterIdle, notConfigured, open));
            }
            left -= part;
        }
    }

    /** Returns the rows that were sent in closed panes. */
    public long sent() {
        return in - afterGrace - afterIdle - notConfigured - open;
    }

    /** Returns the rows late for a reason that level 1 gives; 0 for the others. */
    public long late(LateReason reason) {
        return switch (reason) {
            case AFTER_GRACE -> afterGrace;
            case AFTER_IDLE -> afterIdle;
            case NOT_CONFIGURED -> notConfigured;
            case WINDOW_CLOSED, HELD_TOO_LONG -> 0;
        };
    }

    /** Returns the counts in the order of the components. */
    public byte[] encode() {
        return ByteBuffer.allocate(BYTES)
                .putLong(in)
                .putLong(afterGrace)
                .putLong(afterIdle)
                .putLong(notConfigured)
                .putLong(open)
                .array();
    }

    public static RowsRead decode(ByteBuffer buffer) {
        return new RowsRead(buffer.getLong(), buffer.getLong(), buffer.getLong(), buffer.getLong(), buffer.getLong());
    }
}
