package io.plumbline.topology.windows;

import io.plumbline.moments.SecondMomentAccumulator;
import io.plumbline.topology.panes.Pane;
import io.plumbline.topology.panes.PaneParts;
import io.plumbline.topology.panes.PaneSite;
import io.plumbline.topology.panes.PartKind;
import io.plumbline.topology.panes.RowAccount;
import io.plumbline.topology.panes.WindowParts;
import io.plumbline.topology.windows.ClosedWindow.ClosedBy;
import java.util.List;

/**
 * The panes of a window that closed, in the order of their time, not added together yet.
 *
 * <p>Nothing changes them any more: what comes for them is late, and leaving the store only forgets them. So any thread
 * may {@link #compose} them while the stream thread goes on, and windows that overlap share them.
 *
 * <p><b>Order.</b> Sums are taken in the order of the panes' starts: the same bits after a restart, for any number of
 * partitions and by any thread.
 */
record WindowPanes(PaneSite site, long startMs, long endMs, List<Pane> panes, ClosedBy closedBy, RowAccount account) {

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
        WindowParts parts = WindowParts.NONE;
        for (PartKind<?> kind : PaneParts.ALL) {
            parts = parts.withSum(kind, site, panes);
        }
        return new ClosedWindow(
                site.site(),
                startMs,
                endMs,
                SecondMomentAccumulator.sum(
                        site.dimension(), panes.stream().map(Pane::moment).toList()),
                parts,
                closedBy,
                account,
                panes.stream().allMatch(Pane::isComplete));
    }
}
