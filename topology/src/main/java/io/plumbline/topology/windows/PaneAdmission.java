package io.plumbline.topology.windows;

import io.plumbline.judgement.Amounts;
import io.plumbline.records.MomentRecord;
import io.plumbline.topology.ingest.Admission;
import io.plumbline.topology.ingest.DeadLetter;
import io.plumbline.topology.ingest.Ingested;
import io.plumbline.topology.panes.Pane;
import io.plumbline.topology.panes.PaneCounts;
import io.plumbline.topology.panes.PaneStore;
import io.plumbline.topology.panes.SiteClock;
import io.plumbline.topology.panes.WindowSettings;
import org.jspecify.annotations.Nullable;

/**
 * Refuses records of a site whose open pane holds as many as allowed. What can be known where records are read is one
 * pane on one source partition, so that is what is counted; late records are not, since they enter no pane. A moment of
 * rows from more than one pane is refused, too, and one of more rows than {@link PaneCounts#MOST} leaves room for.
 *
 * <p>The count is the pane's own: it comes back with the pane after a crash, and counts what was counted.
 */
record PaneAdmission(WindowSettings settings, PaneStore<SiteClock> panes, int requestsPerWindow) implements Admission {

    @Override
    public @Nullable DeadLetter refusal(Ingested record, long timestampMs) {
        String site = record.site();
        long startMs = settings.paneStart(timestampMs);
        if (record instanceof Ingested.Moment summed
                && (settings.paneStart(summed.moment().pane().startMs()) != startMs
                        || settings.paneStart(summed.moment().pane().lastMs()) != startMs)) {
            return straddles(site, summed.moment().pane());
        }
        Pane open = panes.panes(site).get(startMs);
        if (open == null || open.remembers(record.id())) {
            return null;
        }
        if (record.rows() > PaneCounts.MOST - open.rowsRead()) {
            return overfills(site, startMs, record.rows(), open.rowsRead());
        }
        if (open.counted().records() < requestsPerWindow) {
            return null;
        }
        return new DeadLetter(
                DeadLetter.Reason.TOO_MANY_REQUESTS,
                ("site %s: the pane of %d ms from %d ms on holds %s of this partition, as many as"
                                + " limits.requests_per_window allows; no row of this one was added")
                        .formatted(
                                site,
                                settings.paneMs(),
                                startMs,
                                Amounts.count(open.counted().records(), "record")));
    }

    private DeadLetter overfills(String site, long startMs, int rows, long rowsBefore) {
        return new DeadLetter(
                DeadLetter.Reason.IMPOSSIBLE_MOMENT,
                ("site %s: the record is of %s, and with the %,d before it the pane of %d ms from %d ms on would have"
                                + " more than %d of this partition; no row of this one was added")
                        .formatted(
                                site,
                                Amounts.count(rows, "row"),
                                rowsBefore,
                                settings.paneMs(),
                                startMs,
                                PaneCounts.MOST));
    }

    private DeadLetter straddles(String site, MomentRecord.Pane pane) {
        return new DeadLetter(
                DeadLetter.Reason.STRADDLES_PANES,
                ("site %s: the moment is of the %d ms from %d ms on, and the monitor cuts time into panes of %d ms"
                                + " from 1970 on; its rows"
                                + " cannot be parted, send a moment for each pane, of a size that divides it")
                        .formatted(site, pane.sizeMs(), pane.startMs(), settings.paneMs()));
    }
}
