package io.plumbline.topology.windows;

import io.plumbline.moments.MaskedRows;
import io.plumbline.moments.RowSample;
import io.plumbline.moments.SecondMoment;
import io.plumbline.requests.RequestTotals;
import io.plumbline.requests.WholeRequests;
import io.plumbline.topology.panes.PaneCounts;
import io.plumbline.topology.panes.PaneParts;
import io.plumbline.topology.panes.RowAccount;
import io.plumbline.topology.panes.WindowNotes;
import io.plumbline.topology.panes.WindowParts;
import java.util.Objects;
import org.jspecify.annotations.Nullable;

/**
 * A closed window of one site.
 *
 * @param moment second moment of the target rows; at least one row, a window without rows is skipped
 * @param parts what else was collected of its records; the accessors below read the ones that most windows have
 * @param closedBy what let it close
 * @param account what became of every row of the site so far
 * @param complete whether every tile and part of every contribution arrived; false means a defect or a foreign writer
 */
public record ClosedWindow(
        String site,
        long startMs,
        long endMs,
        SecondMoment moment,
        WindowParts parts,
        ClosedBy closedBy,
        RowAccount account,
        boolean complete) {

    /** Returns the deterministic sample of its rows. */
    public RowSample sample() {
        return Objects.requireNonNull(parts.get(PaneParts.SAMPLE), "a window without a row sample");
    }

    /** Returns the rows that were taken out before its moment and its sample. */
    public MaskedRows masked() {
        return counts().masked();
    }

    /** Returns the records that contributed rows. */
    public long requests() {
        return counts().requests();
    }

    /** Returns the records that brought moments instead of rows. */
    public long momentRecords() {
        return counts().momentRecords();
    }

    private PaneCounts counts() {
        return Objects.requireNonNull(parts.get(PaneParts.COUNTS), "a window without counts");
    }

    /**
     * Returns what came of its requests; null where the site has no projection, or where not every record was added
     * under it: a moment without totals, or while instances with two baselines run beside each other.
     */
    public @Nullable RequestTotals requestTotals() {
        RequestTotals totals = parts.get(PaneParts.TOTALS);
        return totals != null && totals.records() == requests() ? totals : null;
    }

    /** Returns its requests that were kept whole; null where the site names no rest of its model. */
    public @Nullable WholeRequests whole() {
        return parts.get(PaneParts.WHOLE);
    }

    /** Returns what producers said of its rows. */
    public WindowNotes notes() {
        return Objects.requireNonNull(parts.get(PaneParts.NOTES), "a window without notes");
    }

    /** Returns this window with a newer account. */
    ClosedWindow with(RowAccount newer) {
        return new ClosedWindow(site, startMs, endMs, moment, parts, closedBy, newer, complete);
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
