package io.plumbline.topology.panes;

import io.plumbline.requests.RequestProjection;
import io.plumbline.requests.RequestTotals;
import java.util.Map;

/**
 * Names the sites whose requests are totalled, with the number of requests, the sites whose requests are kept whole,
 * and those whose engines are compared. A site that is named in none pays nothing.
 *
 * @param projections of those sites, to rows of the target space, by the baseline in service
 * @param capacity requests totalled of each pane and window
 * @param whole how many requests of each pane and window are kept whole, of those sites
 * @param engines the headers that tell engines apart, of those sites
 */
public record RequestTotalling(
        InForce<Map<String, RequestProjection>> projections,
        int capacity,
        Map<String, Integer> whole,
        Map<String, String> engines) {

    /** Totals the requests of no site. */
    public static final RequestTotalling NONE = of(InForce.of(Map.of()));

    public RequestTotalling {
        whole = Map.copyOf(whole);
        engines = Map.copyOf(engines);
    }

    /** Creates one that only totals. */
    public RequestTotalling(Map<String, RequestProjection> projections, int capacity) {
        this(InForce.of(projections), capacity, Map.of(), Map.of());
    }

    /** Returns the totalling with as many requests as are kept by default. */
    public static RequestTotalling of(InForce<Map<String, RequestProjection>> projections) {
        return new RequestTotalling(projections, RequestTotals.DEFAULT_CAPACITY, Map.of(), Map.of());
    }

    /** Returns this with requests kept whole. */
    public RequestTotalling keeping(Map<String, Integer> requests) {
        return new RequestTotalling(projections, capacity, requests, engines);
    }

    /** Returns this with engines compared, which these headers tell apart. */
    public RequestTotalling comparing(Map<String, String> headers) {
        return new RequestTotalling(projections, capacity, whole, headers);
    }
}
