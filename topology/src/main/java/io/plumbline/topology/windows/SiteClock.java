package io.plumbline.topology.windows;

import java.nio.ByteBuffer;

/**
 * Time of one site at one source partition.
 *
 * <p>Persistent: the largest event time seen, how far panes are closed, whether the site was declared silent. A restart
 * therefore neither reopens nor re-emits a closed pane. The wall-clock time of the last record is not kept: after a
 * restart the idle timeout starts anew.
 */
final class SiteClock {

    private static final byte VERSION = 1;
    private static final int BYTES = 18;
    static final long NEVER = Long.MIN_VALUE;

    private long eventTimeMs = NEVER;
    private long closedUpToMs = NEVER;
    private boolean silent;
    private long lastRecordWallMs = NEVER;

    /** Whether a pane that ends at {@code paneEndMs} is closed. */
    boolean isClosed(long paneEndMs) {
        return paneEndMs <= closedUpToMs;
    }

    /** Moves event time forward; returns whether it moved. */
    boolean advanceTo(long timestampMs) {
        if (timestampMs <= eventTimeMs) {
            return false;
        }
        eventTimeMs = timestampMs;
        return true;
    }

    void closeUpTo(long timeMs) {
        closedUpToMs = Math.max(closedUpToMs, timeMs);
    }

    long eventTimeMs() {
        return eventTimeMs;
    }

    long closedUpToMs() {
        return closedUpToMs;
    }

    boolean silent() {
        return silent;
    }

    void silent(boolean value) {
        silent = value;
    }

    void sawRecordAt(long wallMs) {
        lastRecordWallMs = wallMs;
    }

    /** Moves the last record forward by time that does not count. */
    void postpone(long ms) {
        if (lastRecordWallMs != NEVER) {
            lastRecordWallMs += ms;
        }
    }

    /** Wall-clock time without a record; the first call starts the clock. */
    long idleMs(long wallMs) {
        if (lastRecordWallMs == NEVER) {
            lastRecordWallMs = wallMs;
        }
        return wallMs - lastRecordWallMs;
    }

    static final SiteStateCodec<SiteClock> CODEC = new SiteStateCodec<>() {
        @Override
        public SiteClock initial() {
            return new SiteClock();
        }

        @Override
        public byte[] encode(SiteClock clock) {
            return ByteBuffer.allocate(BYTES)
                    .put(VERSION)
                    .putLong(clock.eventTimeMs)
                    .putLong(clock.closedUpToMs)
                    .put((byte) (clock.silent ? 1 : 0))
                    .array();
        }

        @Override
        public SiteClock decode(byte[] bytes) {
            ByteBuffer buffer = StateVersion.open("site clock", VERSION, bytes);
            StateVersion.requireLength("site clock", BYTES, bytes);
            SiteClock clock = new SiteClock();
            clock.eventTimeMs = buffer.getLong();
            clock.closedUpToMs = buffer.getLong();
            clock.silent = buffer.get() != 0;
            return clock;
        }
    };
}
