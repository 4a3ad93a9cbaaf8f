package io.plumbline.topology.windows;

import io.plumbline.moments.RequestProjection;
import io.plumbline.moments.RequestTotals;
import java.util.Map;

/**
 * Says of which sites totals of requests are kept, and of how many requests. A site without a projection has none and
 * pays
 * nothing.
 *
 * @param projections of those sites, to rows of the target space
 * @param capacity requests kept of each pane and window
 */
public record RequestTotalling(Map<String, RequestProjection> projections, int capacity) {

    /** Totals the requests of no site. */
    public static final RequestTotalling NONE = of(Map.of());

    public RequestTotalling {
        projections = Map.copyOf(projections);
    }

    /** Returns the totalling with as many requests as are kept by default. */
    public static RequestTotalling of(Map<String, RequestProjection> projections) {
        return new RequestTotalling(projections, RequestTotals.DEFAULT_CAPACITY);
    }
}
