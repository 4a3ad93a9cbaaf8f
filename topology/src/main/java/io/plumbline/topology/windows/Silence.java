package io.plumbline.topology.windows;

import io.plumbline.topology.windows.SourceWatch.Sight;
import org.jspecify.annotations.Nullable;

/**
 * Knows up to when a source partition certainly held nothing unread: only then is the absence of a site's records its
 * silence. One per task; not persistent.
 *
 * <p>An answer counts once everything that lay in the partition when it was given has been read. Offsets that no record
 * has, such as markers of transactions, count as read when they are committed; a partition that does not move for
 * {@link SourceWatch#PATIENCE} is taken as read.
 */
final class Silence {

    private @Nullable Sight pending;
    private long read;
    private long movedMs;
    private long provenMs;

    Silence(long wallMs) {
        movedMs = wallMs;
        provenMs = wallMs;
    }

    /** Notes that the record at {@code offset} was read. */
    void sawOffset(long offset, long wallMs) {
        moveTo(offset + 1, wallMs);
    }

    private void moveTo(long offset, long wallMs) {
        if (offset > read) {
            read = offset;
            movedMs = wallMs;
        }
    }

    /** The wall-clock time up to which nothing lay unread, given the newest answer. */
    long provenMs(Sight newest, long wallMs) {
        moveTo(newest.readUpTo(), wallMs);
        settle(wallMs);
        if (pending == null) {
            pending = newest;
            settle(wallMs);
        }
        return provenMs;
    }

    private void settle(long wallMs) {
        Sight sight = pending;
        if (sight != null && (sight.endOffset() <= read || wallMs - movedMs >= SourceWatch.PATIENCE.toMillis())) {
            provenMs = Math.max(provenMs, Math.min(sight.answeredMs(), wallMs));
            pending = null;
        }
    }
}
