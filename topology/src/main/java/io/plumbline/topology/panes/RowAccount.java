package io.plumbline.topology.panes;

import java.util.Map;

/**
 * Counts what became of every row of a site since the application began, as of one window's report: {@code in =
 * inWindows + open + sum of late + sum of masked + unaccounted}, in rows. Each row counts once, however many hopping
 * windows hold it.
 *
 * <p>Exact under exactly-once: every term is state that was committed with the offsets of its rows. A partition stands
 * in it with what it said last, so rows read since then are in no term yet.
 *
 * @param in rows accepted where they were read
 * @param inWindows rows in all the windows they belong to, which are closed
 * @param open rows whose last window is still open
 * @param late rows in no window, by {@link LateReason#label}
 * @param masked rows of closed windows that were taken out on purpose, by {@link
 *     io.plumbline.moments.MaskedRows#byReason}; of those in open panes and of late ones it does not matter
 * @param unaccounted rows that were sent to the composer and never arrived, less those that arrived and were never
 *     sent; other than 0 means that records of the moments topic were lost or repeated
 */
public record RowAccount(
        long in, long inWindows, long open, Map<String, Long> late, Map<String, Long> masked, long unaccounted) {

    public RowAccount {
        late = Map.copyOf(late);
        masked = Map.copyOf(masked);
    }

    /** Returns the rows in no window, for whatever reason. */
    public long lateRows() {
        return late.values().stream().mapToLong(Long::longValue).sum();
    }
}
