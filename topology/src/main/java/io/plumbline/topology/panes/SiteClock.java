package io.plumbline.topology.panes;

import java.nio.ByteBuffer;

/**
 * Keeps time and rows of one site at one source partition.
 *
 * <p>Persistent: the largest event time seen, how far it lay behind that of the partition when the site was last read,
 * how far panes are closed, whether the site was declared silent, and how many rows were read and were late. A restart
 * therefore neither reopens nor re-emits a closed pane, and no row is counted twice. The wall-clock time of the last
 * record is not kept: after a restart the idle timeout starts anew.
 */
public final class SiteClock {

    private static final byte VERSION = 1;
    private static final int BYTES = 58;
    public static final long NEVER = Long.MIN_VALUE;

    private long eventTimeMs = NEVER;
    private long behindMs;
    private long closedUpToMs = NEVER;
    private boolean silent;
    private long rowsIn;
    private long rowsAfterGrace;
    private long rowsAfterIdle;
    private long rowsNotConfigured;

    private long lastRecordWallMs = NEVER;
    private boolean untoldLateRows;
    private long toldEventTimeMs = NEVER;
    private long toldWallMs = NEVER;
    private long toldPassedOverMs = NEVER;

    /** Returns whether a pane that ends at {@code paneEndMs} is closed. */
    public boolean isClosed(long paneEndMs) {
        return paneEndMs <= closedUpToMs;
    }

    /** Moves event time forward; returns whether it moved. */
    public boolean advanceTo(long timestampMs) {
        if (timestampMs <= eventTimeMs) {
            return false;
        }
        eventTimeMs = timestampMs;
        return true;
    }

    /** Notes, when a record of the site was read, how far the partition's newest event time is ahead of the site's. */
    public void follow(long partitionTimeMs) {
        behindMs = Math.max(0, partitionTimeMs - eventTimeMs);
    }

    /**
     * Returns where the site's event time would be if its records went on to come as far behind the partition's newest
     * as the last one; a site without a record here is with the newest.
     */
    public long assumedTimeMs(long partitionTimeMs) {
        return partitionTimeMs - behindMs;
    }

    public void closeUpTo(long timeMs) {
        closedUpToMs = Math.max(closedUpToMs, timeMs);
    }

    public void countRead(long rows) {
        rowsIn += rows;
    }

    public void countLate(long rows, LateReason reason) {
        switch (reason) {
            case AFTER_GRACE -> rowsAfterGrace += rows;
            case AFTER_IDLE -> rowsAfterIdle += rows;
            case NOT_CONFIGURED -> rowsNotConfigured += rows;
            case WINDOW_CLOSED, HELD_TOO_LONG -> throw new IllegalArgumentException(reason + " is found at level 2");
        }
        untoldLateRows = true;
    }

    /** @param open rows in the open panes of the site */
    public RowsRead rows(long open) {
        return new RowsRead(rowsIn, rowsAfterGrace, rowsAfterIdle, rowsNotConfigured, open);
    }

    /**
     * Returns whether level 2 should hear of this site again although no pane closed: of late rows, and now and then of
     * the time, from which it sees whether this partition catches up.
     */
    public boolean hasNews(long wallMs, long everyMs) {
        if (untoldLateRows) {
            return true;
        }
        if (toldWallMs == NEVER) {
            toldWallMs = wallMs;
        }
        return eventTimeMs != toldEventTimeMs && wallMs - toldWallMs >= everyMs;
    }

    /**
     * @param passedOverUpToMs the time up to which level 2 was told that the site has nothing here, or {@link #NEVER}
     */
    public void told(long wallMs, long passedOverUpToMs) {
        untoldLateRows = false;
        toldEventTimeMs = eventTimeMs;
        toldPassedOverMs = passedOverUpToMs;
        toldWallMs = wallMs;
    }

    /** Returns the time that {@link #told} got last. */
    public long toldPassedOverMs() {
        return toldPassedOverMs;
    }

    public long eventTimeMs() {
        return eventTimeMs;
    }

    public long closedUpToMs() {
        return closedUpToMs;
    }

    public boolean silent() {
        return silent;
    }

    public void silent(boolean value) {
        silent = value;
    }

    public void sawRecordAt(long wallMs) {
        lastRecordWallMs = wallMs;
    }

    /** Moves the last record forward by time that does not count. */
    public void postpone(long ms) {
        if (lastRecordWallMs != NEVER) {
            lastRecordWallMs += ms;
        }
    }

    /**
     * Returns the wall-clock time for which it is known that there was no record; the first call starts the clock.
     *
     * @param reachableSinceMs since when the source has answered without a gap
     * @param provenMs up to when nothing lay unread there
     */
    public long idleMs(long wallMs, long reachableSinceMs, long provenMs) {
        if (lastRecordWallMs == NEVER) {
            lastRecordWallMs = wallMs;
        }
        return provenMs - Math.max(lastRecordWallMs, reachableSinceMs);
    }

    public static final SiteStateCodec<SiteClock> CODEC = new SiteStateCodec<>() {
        @Override
        public SiteClock initial() {
            return new SiteClock();
        }

        @Override
        public boolean isSilent(SiteClock clock) {
            return clock.silent || clock.eventTimeMs == NEVER;
        }

        @Override
        public byte[] encode(SiteClock clock) {
            return ByteBuffer.allocate(BYTES)
                    .put(VERSION)
                    .putLong(clock.eventTimeMs)
                    .putLong(clock.behindMs)
                    .putLong(clock.closedUpToMs)
                    .put((byte) (clock.silent ? 1 : 0))
                    .putLong(clock.rowsIn)
                    .putLong(clock.rowsAfterGrace)
                    .putLong(clock.rowsAfterIdle)
                    .putLong(clock.rowsNotConfigured)
                    .array();
        }

        @Override
        public SiteClock decode(byte[] bytes) {
            ByteBuffer buffer = StateVersion.open("site clock", VERSION, bytes);
            StateVersion.requireLength("site clock", BYTES, bytes);
            SiteClock clock = new SiteClock();
            clock.eventTimeMs = buffer.getLong();
            clock.behindMs = buffer.getLong();
            clock.closedUpToMs = buffer.getLong();
            clock.silent = buffer.get() != 0;
            clock.rowsIn = buffer.getLong();
            clock.rowsAfterGrace = buffer.getLong();
            clock.rowsAfterIdle = buffer.getLong();
            clock.rowsNotConfigured = buffer.getLong();
            // Whoever ran before may have ended before saying so.
            clock.untoldLateRows = clock.rowsAfterGrace + clock.rowsAfterIdle + clock.rowsNotConfigured > 0;
            return clock;
        }
    };
}
