package io.plumbline.topology.windows;

import io.plumbline.topology.panes.PaneMessage;
import io.plumbline.topology.panes.RowsRead;
import java.nio.ByteBuffer;

/**
 * Holds what level 2 knows of one site at one source partition.
 *
 * <p>Persistent: what the partition said last, the rows that arrived from it, and whether it is still waited for. Not
 * persistent: for how long it has held windows back; after a restart that time starts anew.
 */
final class PartitionProgress {

    static final int BYTES = 25 + RowsRead.BYTES + Long.BYTES;
    private static final byte HEARD = 1;
    private static final byte SILENT = 2;
    private static final byte GIVEN_UP = 4;
    private static final byte ARRIVING = 8;

    private boolean heard;
    private boolean silent;
    private boolean givenUp;
    private long closedUpToMs = SiteProgress.NEVER;
    private long eventTimeMs = SiteProgress.NEVER;
    private long passedOverUpToMs = SiteProgress.NEVER;
    private RowsRead rows = RowsRead.NONE;

    private long arrivedSince;

    private boolean unread;

    /** Whether a pane is arriving: messages of it were taken, and the progress that ends it has not come. */
    private boolean arriving;

    private long heardWallMs = SiteProgress.NEVER;
    private long heldMs;
    private long smallestLagMs = Long.MAX_VALUE;
    private long readUpToMs = SiteProgress.NEVER;

    void hear(PaneMessage.Progress progress, long wallMs) {
        heard = true;
        silent = progress.silent();
        closedUpToMs = Math.max(closedUpToMs, progress.closedUpToMs());
        eventTimeMs = Math.max(eventTimeMs, progress.eventTimeMs());
        passedOverUpToMs = progress.passedOverUpToMs();
        unread = progress.unread();
        rows = progress.rows();
        arrivedSince = 0;
        arriving = false;
        heardWallMs = wallMs;
    }

    void arrive(long count) {
        arrivedSince += count;
    }

    void beginPane() {
        arriving = true;
    }

    /**
     * Adds time for which windows were held; a lag that shrank by {@code enoughMs} sets it back to none, and so does a
     * time that moved on by as much where records lie unread: others read no farther ahead of it than they may.
     */
    void hold(long elapsedMs, long lagMs, long enoughMs) {
        boolean readsOn = unread && eventTimeMs() > readUpToMs + enoughMs;
        if (lagMs < smallestLagMs - enoughMs || readsOn) {
            smallestLagMs = Math.min(smallestLagMs, lagMs);
            readUpToMs = eventTimeMs();
            heldMs = 0;
        } else {
            heldMs += elapsedMs;
        }
    }

    void holdsNothing() {
        heldMs = 0;
        smallestLagMs = Long.MAX_VALUE;
        readUpToMs = SiteProgress.NEVER;
    }

    long heldMs() {
        return heldMs;
    }

    void giveUp() {
        givenUp = true;
        arriving = false;
        holdsNothing();
    }

    void waitForAgain() {
        givenUp = false;
    }

    boolean givenUp() {
        return givenUp;
    }

    /** Returns whether windows wait for this partition; where it was given up, for the rest of a pane they took. */
    boolean counts() {
        return !silent && (!givenUp || arriving);
    }

    /** Returns whether the partition has had records of the site and may have more. */
    boolean awaits() {
        return !silent && eventTimeMs != SiteProgress.NEVER;
    }

    long closedUpToMs() {
        return closedUpToMs;
    }

    /** Returns the time before which nothing of the site is left here, by its own records and those of other sites. */
    long doneUpToMs() {
        return Math.max(closedUpToMs, passedOverUpToMs);
    }

    /** Returns the newest event time, which other sites may have shown. */
    long eventTimeMs() {
        return Math.max(eventTimeMs, passedOverUpToMs);
    }

    long heardWallMs() {
        return heardWallMs;
    }

    RowsRead rows() {
        return rows;
    }

    /** Returns the rows that arrived since the partition last spoke: its {@link #rows} still call them open. */
    long arrivedSince() {
        return arrivedSince;
    }

    void encode(ByteBuffer buffer) {
        buffer.put((byte) ((heard ? HEARD : 0)
                        | (silent ? SILENT : 0)
                        | (givenUp ? GIVEN_UP : 0)
                        | (arriving ? ARRIVING : 0)))
                .putLong(closedUpToMs)
                .putLong(eventTimeMs)
                .putLong(passedOverUpToMs)
                .putLong(arrivedSince)
                .put(rows.encode());
    }

    static PartitionProgress decode(ByteBuffer buffer) {
        PartitionProgress read = new PartitionProgress();
        byte flags = buffer.get();
        read.heard = (flags & HEARD) != 0;
        read.silent = (flags & SILENT) != 0;
        read.givenUp = (flags & GIVEN_UP) != 0;
        read.arriving = (flags & ARRIVING) != 0;
        read.closedUpToMs = buffer.getLong();
        read.eventTimeMs = buffer.getLong();
        read.passedOverUpToMs = buffer.getLong();
        read.arrivedSince = buffer.getLong();
        read.rows = RowsRead.decode(buffer);
        return read;
    }
}
