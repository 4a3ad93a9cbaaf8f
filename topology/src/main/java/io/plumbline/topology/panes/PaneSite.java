package io.plumbline.topology.panes;

import io.plumbline.requests.RequestProjection;
import org.jspecify.annotations.Nullable;

/**
 * Says of one site what a pane or window of it collects.
 *
 * @param startMs event time at which it begins
 * @param dimension width of its target rows
 * @param sampleRows rows sampled of each pane and window
 * @param totalling the sites whose requests are totalled, kept whole or compared by engine
 */
public record PaneSite(String site, long startMs, int dimension, int sampleRows, RequestTotalling totalling) {

    /** Returns what rows are projected to for the totals of requests; null where none are kept. */
    @Nullable
    RequestProjection projection() {
        return totalling.projections().at(startMs).get(site);
    }

    /** Returns how many requests are kept whole. */
    int wholeRequests() {
        return totalling.whole().getOrDefault(site, 0);
    }

    /** Returns the header that tells the engines of this site apart; null where they are not compared. */
    @Nullable
    String enginesBy() {
        return totalling.engines().get(site);
    }
}
