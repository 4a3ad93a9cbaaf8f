package io.plumbline.topology.windows;

import io.plumbline.topology.ingest.Admission;
import io.plumbline.topology.ingest.DeadLetter;
import org.jspecify.annotations.Nullable;

/**
 * Refuses records of a site whose open pane holds as many as allowed. What can be known where records are read is one pane
 * on one source partition, so that is what is counted; late records are not, since they enter no pane.
 *
 * <p>The count is the pane's own: it comes back with the pane after a crash, and counts what was counted.
 */
record PaneAdmission(WindowSettings settings, PaneStore<SiteClock> panes, int requestsPerWindow) implements Admission {

    @Override
    public @Nullable DeadLetter refusal(String site, long timestampMs) {
        long startMs = settings.paneStart(timestampMs);
        Pane open = panes.panes(site).get(startMs);
        if (open == null || open.requests() < requestsPerWindow) {
            return null;
        }
        return new DeadLetter(
                DeadLetter.Reason.TOO_MANY_REQUESTS,
                ("site %s: the pane of %d ms from %d ms on holds %d records of this partition, as many as"
                                + " limits.requests_per_window allows; no row of this one was added")
                        .formatted(site, settings.paneMs(), startMs, open.requests()));
    }
}
