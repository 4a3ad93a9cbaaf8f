package io.plumbline.topology.windows;

import io.plumbline.moments.MaskedRows;
import io.plumbline.moments.RequestProjection;
import io.plumbline.moments.RequestTotals;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.moments.WholeRequests;
import io.plumbline.topology.windows.ClosedWindow.ClosedBy;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The panes of a window that closed, in the order of their time, not added together yet.
 *
 * <p>Nothing changes them any more: what comes for them is late, and leaving the store only forgets them. So any thread
 * may {@link #compose} them while the stream thread goes on, and windows that overlap share them.
 *
 * <p><b>Order.</b> Sums are taken in the order of the panes' starts: the same bits after a restart, for any number of
 * partitions and by any thread.
 *
 * @param sampleCapacity rows of the window's sample
 * @param totalling which request totals it has
 */
record WindowPanes(
        String site,
        long startMs,
        long endMs,
        int dimension,
        int sampleCapacity,
        RequestTotalling totalling,
        List<Pane> panes,
        ClosedBy closedBy,
        RowAccount account) {

    WindowPanes {
        panes = List.copyOf(panes);
    }

    /** Returns the rows in the moments. */
    long rows() {
        return panes.stream().mapToLong(Pane::rows).sum();
    }

    /**
     * Adds the panes by {@code 4 d (d + 3)} additions each, one pass through their memory; the panes' sampled rows are
     * shared, not copied.
     */
    ClosedWindow compose() {
        RowSample sample = RowSample.ofCapacity(sampleCapacity);
        MaskedRows masked = MaskedRows.NONE;
        long requests = 0;
        long momentRecords = 0;
        WindowNotes notes = new WindowNotes();
        boolean complete = true;
        for (Pane pane : panes) {
            sample.merge(pane.sample());
            masked = masked.plus(pane.masked());
            requests += pane.requests();
            momentRecords += pane.momentRecords();
            notes.merge(pane.notes().all());
            complete &= pane.isComplete();
        }
        return new ClosedWindow(
                site,
                startMs,
                endMs,
                SecondMomentAccumulator.sum(
                        dimension, panes.stream().map(Pane::moment).toList()),
                sample,
                masked,
                requests,
                momentRecords,
                requestTotals(requests),
                whole(),
                notes,
                closedBy,
                account,
                complete);
    }

    /** Returns the whole requests of all panes, or null where none are kept. */
    private @Nullable WholeRequests whole() {
        Integer most = totalling.whole().get(site);
        if (most == null) {
            return null;
        }
        WholeRequests sum = WholeRequests.ofCapacity(most);
        for (Pane pane : panes) {
            WholeRequests kept = pane.whole().requests();
            if (kept != null) {
                sum.merge(kept);
            }
        }
        return sum;
    }

    /**
     * Returns the request totals, or null unless every record is in them, under the projection that the site has here.
     */
    private @Nullable RequestTotals requestTotals(long requests) {
        RequestProjection projection = totalling.projections().get(site);
        if (projection == null) {
            return null;
        }
        RequestTotals sum = RequestTotals.ofCapacity(projection.id(), totalling.capacity());
        for (Pane pane : panes) {
            RequestTotals totals = pane.requestTotals().totals();
            if (totals != null && totals.projection().equals(projection.id())) {
                sum.merge(totals);
            }
        }
        return sum.records() == requests ? sum : null;
    }
}
