package io.plumbline.topology.windows;

import io.plumbline.moments.MaskedRows;
import io.plumbline.moments.RequestTotals;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SecondMoment;
import io.plumbline.moments.WholeRequests;
import org.jspecify.annotations.Nullable;

/**
 * A closed window of one site.
 *
 * @param moment second moment of the target rows; at least one row, a window without rows is skipped
 * @param sample deterministic sample of its rows
 * @param masked rows of the window that were taken out before its moment and its sample
 * @param requests records that contributed
 * @param momentRecords records that brought moments instead of rows
 * @param requestTotals what came of its requests; null where the site has no projection, or where not every record was
 *     added under it, as while instances with two baselines run beside each other
 * @param whole its requests that were kept whole; null where the site names no rest of its model
 * @param notes what producers said of its rows
 * @param closedBy what let it close
 * @param account what became of every row of the site so far
 * @param complete whether all tiles and request totals of every contribution arrived; false means a defect or a foreign
 *     writer
 */
public record ClosedWindow(
        String site,
        long startMs,
        long endMs,
        SecondMoment moment,
        RowSample sample,
        MaskedRows masked,
        long requests,
        long momentRecords,
        @Nullable RequestTotals requestTotals,
        @Nullable WholeRequests whole,
        WindowNotes notes,
        ClosedBy closedBy,
        RowAccount account,
        boolean complete) {

    /** Creates a window of a site that names no rest of its model. */
    public ClosedWindow(
            String site,
            long startMs,
            long endMs,
            SecondMoment moment,
            RowSample sample,
            MaskedRows masked,
            long requests,
            long momentRecords,
            @Nullable RequestTotals requestTotals,
            WindowNotes notes,
            ClosedBy closedBy,
            RowAccount account,
            boolean complete) {
        this(
                site,
                startMs,
                endMs,
                moment,
                sample,
                masked,
                requests,
                momentRecords,
                requestTotals,
                null,
                notes,
                closedBy,
                account,
                complete);
    }

    /** Returns this window with a newer account. */
    ClosedWindow with(RowAccount newer) {
        return new ClosedWindow(
                site,
                startMs,
                endMs,
                moment,
                sample,
                masked,
                requests,
                momentRecords,
                requestTotals,
                whole,
                notes,
                closedBy,
                newer,
                complete);
    }

    /** The reasons for which a window closes. */
    public enum ClosedBy {
        /** Event time passed its end by the grace period. */
        EVENT_TIME,
        /** The site was silent for the idle timeout. */
        IDLE,
        /** A partition that held it back was given up. */
        MAX_HOLD
    }
}
