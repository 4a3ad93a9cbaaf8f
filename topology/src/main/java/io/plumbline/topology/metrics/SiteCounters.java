package io.plumbline.topology.metrics;

import io.micrometer.core.instrument.Counter;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;

/**
 * The counters of each site, for as many sites as may become labels. Every further site shares the counters of {@link
 * Metrics#OVERFLOW_SITE}. Thread-safe.
 */
final class SiteCounters {

    private final Counters counters;
    private final int maximumSites;
    private final Map<String, Counters.OfSite> sites = new ConcurrentHashMap<>();
    private final Counters.OfSite overflowSite;
    private final Counter overflows;

    SiteCounters(Counters counters, int maximumSites) {
        this.counters = counters;
        this.maximumSites = maximumSites;
        overflowSite = counters.ofSite(Metrics.OVERFLOW_SITE);
        overflows = counters.counter("plumbline.site.overflow", "Observations of sites beyond the cap on site labels");
    }

    /** Returns the counters of a site, which becomes a label if there is room for one more. */
    Counters.OfSite of(String site) {
        Counters.OfSite known = sites.get(site);
        if (known != null) {
            return known;
        }
        synchronized (sites) {
            if (!sites.containsKey(site) && sites.size() >= maximumSites) {
                overflows.increment();
                return overflowSite;
            }
            return sites.computeIfAbsent(site, counters::ofSite);
        }
    }

    /** Returns the counters of a site that is a label already, else those of all further sites. */
    Counters.OfSite ofKnown(String site) {
        return sites.getOrDefault(site, overflowSite);
    }
}
