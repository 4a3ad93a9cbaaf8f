package io.plumbline.topology.panes;

import java.time.Duration;
import org.jspecify.annotations.Nullable;

/**
 * Says how event time is cut into windows {@code [start, start + size)} with {@code start} a multiple of
 * {@code advance} since 1970 UTC.
 *
 * @param size length of a window
 * @param advance distance between window starts; equal to {@code size} for tumbling windows
 * @param grace how far event time must pass the end of a window before it closes; rows later than that are counted as
 *     late
 * @param idleClose wall-clock time without records after which a site's open panes close anyway; null: never
 * @param maxHold wall-clock time for which a partition that lags and does not catch up holds a site's windows back;
 *     null: for ever
 */
public record WindowSettings(
        Duration size,
        Duration advance,
        Duration grace,
        @Nullable Duration idleClose,
        @Nullable Duration maxHold) {

    public WindowSettings {
        if (size.toMillis() <= 0) {
            throw new IllegalArgumentException("window.size = %s: expected a positive duration".formatted(size));
        }
        if (advance.toMillis() <= 0 || advance.compareTo(size) > 0) {
            throw new IllegalArgumentException(
                    ("window.advance = %s: expected a positive duration up to window.size (%s); "
                                    + "larger would leave rows in no window")
                            .formatted(advance, size));
        }
        if (grace.isNegative()) {
            throw new IllegalArgumentException("window.grace = %s: expected 0s or more".formatted(grace));
        }
        if (idleClose != null && idleClose.toMillis() <= 0) {
            throw new IllegalArgumentException(
                    "window.idle_close = %s: expected a positive duration, or off".formatted(idleClose));
        }
        if (maxHold != null && maxHold.toMillis() <= 0) {
            throw new IllegalArgumentException(
                    "window.max_hold = %s: expected a positive duration, or off".formatted(maxHold));
        }
        if (size.toMillis() / greatestCommonDivisor(size.toMillis(), advance.toMillis()) > LARGEST_PANES_PER_WINDOW) {
            throw new IllegalArgumentException(
                    ("window.size = %s with window.advance = %s cuts a window into %d panes, at most %d are allowed; "
                                    + "make the advance divide the size")
                            .formatted(
                                    size,
                                    advance,
                                    size.toMillis() / greatestCommonDivisor(size.toMillis(), advance.toMillis()),
                                    LARGEST_PANES_PER_WINDOW));
        }
    }

    /**
     * The time after which a partition that never carried a site counts as silent, also when windows close by event
     * time alone.
     */
    public static final Duration FIRST_RECORD_WAIT = Duration.ofSeconds(30);

    private static final long SLOWEST_RHYTHM_MS = 60_000;
    private static final int LARGEST_PANES_PER_WINDOW = 288;
    private static final int PANES_ON_THEIR_WAY = 4;
    private static final int LEAST_PANES_AHEAD = 2;

    public long sizeMs() {
        return size.toMillis();
    }

    public long advanceMs() {
        return advance.toMillis();
    }

    public long graceMs() {
        return grace.toMillis();
    }

    /**
     * Returns how often a source partition whose event time moves says so at least, also when no pane closes, in
     * milliseconds: often enough to be seen catching up.
     */
    public long rhythmMs() {
        return maxHold == null
                ? SLOWEST_RHYTHM_MS
                : Math.max(1_000, Math.min(maxHold.toMillis() / 10, SLOWEST_RHYTHM_MS));
    }

    /**
     * Returns the event time by which a partition goes on without a record of a site before it says that the site has
     * nothing there: a silence, the grace, and what one producer's clock may be ahead of another's.
     */
    public Duration absence(Duration ahead) {
        return (idleClose == null ? FIRST_RECORD_WAIT : idleClose).plus(grace).plus(ahead);
    }

    /** The longest stretch that every window is made of whole copies of, in milliseconds. */
    public long paneMs() {
        return greatestCommonDivisor(size.toMillis(), advance.toMillis());
    }

    /**
     * Returns how many panes of a site are open at one source partition at most: those that end after the newest event
     * time less the grace.
     */
    public long openPanesPerPartition() {
        return (graceMs() + paneMs() - 1) / paneMs() + 1;
    }

    /**
     * Returns how many panes of a site are open where its windows are composed: those of a whole window, and one more
     * where a partition is ahead of another. Each pane that partitions lie farther apart in event time adds one.
     */
    public long openPanesPerWindow() {
        return sizeMs() / paneMs() + 1;
    }

    /**
     * Returns how many panes of a site wait at most where its windows are composed, when no partition is read farther
     * ahead of the slowest than {@link #readAhead} says: those of a window, those by which an absent site is noticed
     * later, and a few on their way.
     */
    public int leastWaitingPanes(Duration ahead) {
        return Math.toIntExact(panesAtRest(ahead) + LEAST_PANES_AHEAD);
    }

    private long panesAtRest(Duration ahead) {
        return openPanesPerWindow() + (absence(ahead).toMillis() + paneMs() - 1) / paneMs() + PANES_ON_THEIR_WAY;
    }

    /** Returns the event time by which a partition may be read ahead of the slowest so that no more panes wait. */
    public Duration readAhead(int waitingPanes, Duration ahead) {
        return Duration.ofMillis(Math.max(LEAST_PANES_AHEAD, waitingPanes - panesAtRest(ahead)) * paneMs());
    }

    /** Returns the start of the pane that {@code timestampMs} falls in. */
    public long paneStart(long timestampMs) {
        return Math.floorDiv(timestampMs, paneMs()) * paneMs();
    }

    /** Returns the start of the first window that holds the pane starting at {@code paneStartMs}. */
    public long firstWindowStart(long paneStartMs) {
        return (Math.floorDiv(paneStartMs - sizeMs(), advanceMs()) + 1) * advanceMs();
    }

    /** Returns the start of the first window that begins at {@code timeMs} or later. */
    public long windowStartFrom(long timeMs) {
        return -Math.floorDiv(-timeMs, advanceMs()) * advanceMs();
    }

    /** The largest window end that is not after {@code timeMs}. */
    public long lastWindowEnd(long timeMs) {
        return Math.floorDiv(timeMs - sizeMs(), advanceMs()) * advanceMs() + sizeMs();
    }

    private static long greatestCommonDivisor(long a, long b) {
        return b == 0 ? a : greatestCommonDivisor(b, a % b);
    }
}
