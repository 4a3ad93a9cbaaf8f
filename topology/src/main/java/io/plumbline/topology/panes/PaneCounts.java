package io.plumbline.topology.panes;

import io.plumbline.moments.MaskedRows;

/**
 * Counts what came to a pane or a window.
 *
 * @param requests records of rows, each as one, and as many of a moment as its producer says
 * @param records records of any kind, each once
 * @param momentRecords records that brought a moment instead of rows
 * @param masked rows that were taken out before the moment
 */
public record PaneCounts(long requests, long records, long momentRecords, MaskedRows masked) {

    /** The most rows, and so the most of anything, that a pane of one partition counts: a trillion. */
    public static final long MOST = 1L << 40;

    static final PaneCounts NONE = new PaneCounts(0, 0, 0, MaskedRows.NONE);

    PaneCounts plus(PaneCounts other) {
        return new PaneCounts(
                requests + other.requests,
                records + other.records,
                momentRecords + other.momentRecords,
                masked.plus(other.masked));
    }
}
