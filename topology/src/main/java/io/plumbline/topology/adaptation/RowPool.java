package io.plumbline.topology.adaptation;

import io.plumbline.topology.report.Json;
import java.time.Duration;
import java.util.Comparator;
import java.util.List;
import java.util.stream.Stream;

/**
 * Remembers the drifted windows whose rows are pooled for a site; the rows themselves lie beside it ({@link RowPools}).
 * Stored as JSON with snake-case keys, at most {@value #MOST_WINDOWS} windows, some 100 kB.
 *
 * @param windows the windows, ascending by their ends
 * @param rows distinct rows of theirs that are pooled
 * @param judgedMs end of the window that was last answered with a refit, {@link #NEVER} before the first
 * @param doubledRows distinct rows when a refit was last made because they had doubled, 0 where none was since the pool
 *     was last emptied
 */
record RowPool(List<Window> windows, int rows, long judgedMs, int doubledRows) {

    static final long NEVER = Long.MIN_VALUE;

    /** The most windows whose rows are pooled, however few rows they have. */
    static final int MOST_WINDOWS = 1_000;

    static final RowPool EMPTY = new RowPool(List.of(), 0, NEVER, 0);

    /**
     * A window with rows in the pool.
     *
     * @param rows rows in the window, sampled or not
     * @param parts records its sample came in
     * @param capacity capacity of that sample
     */
    record Window(long endMs, long rows, int parts, int capacity) {

        /** The share of the window's rows that was sampled. */
        double rate() {
            return Math.min(1.0, Math.max(1, capacity) / (double) Math.max(1L, rows));
        }
    }

    RowPool {
        windows = List.copyOf(windows);
    }

    /**
     * Returns the windows of this pool with one more, without those that end longer than {@code age} before or after
     * it; a known end is replaced.
     */
    List<Window> with(Window added, Duration age) {
        List<Window> all = Stream.concat(
                        windows.stream()
                                .filter(window -> window.endMs() != added.endMs()
                                        && Math.abs(window.endMs() - added.endMs()) <= age.toMillis()),
                        Stream.of(added))
                .sorted(Comparator.comparingLong(Window::endMs))
                .toList();
        return all.subList(Math.max(0, all.size() - MOST_WINDOWS), all.size());
    }

    /** Returns this pool with other windows, which hold {@code distinct} different rows. */
    RowPool holding(List<Window> kept, int distinct) {
        return new RowPool(kept, distinct, judgedMs, doubledRows);
    }

    /**
     * Returns this pool after a refit.
     *
     * @param doubled distinct rows if it was made because they had doubled, else 0
     */
    RowPool judged(long windowEndMs, int doubled) {
        return new RowPool(windows, rows, windowEndMs, Math.max(doubled, doubledRows));
    }

    /** Returns this pool without its windows: the next drift begins anew, the cooldown goes on. */
    RowPool emptied() {
        return new RowPool(List.of(), 0, judgedMs, 0);
    }

    /**
     * Returns whether the last refit is less event time away than {@code cooldown}; time that goes backwards is a
     * replay.
     */
    boolean rests(long windowEndMs, Duration cooldown) {
        return judgedMs != NEVER && Math.abs(windowEndMs - judgedMs) < cooldown.toMillis();
    }

    /** Returns the end of the newest window, {@link #NEVER} where there is none. */
    long newestMs() {
        return windows.isEmpty() ? NEVER : windows.get(windows.size() - 1).endMs();
    }

    boolean holds(long windowEndMs) {
        return windows.stream().anyMatch(window -> window.endMs() == windowEndMs);
    }

    boolean holds(long windowEndMs, int part) {
        return windows.stream().anyMatch(window -> window.endMs() == windowEndMs && part < window.parts());
    }

    byte[] encode() {
        return Json.bytes(this);
    }

    /** Throws {@link IllegalArgumentException} when the bytes are not a pool of this layout. */
    static RowPool decode(byte[] bytes) {
        return Json.read(bytes, RowPool.class);
    }
}
