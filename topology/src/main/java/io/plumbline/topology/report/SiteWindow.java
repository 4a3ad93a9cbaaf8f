package io.plumbline.topology.report;

/**
 * The message of a site of a model: how it stands in one of its windows. JSON.
 *
 * @param version of this layout
 * @param windowStartMs event time at which the window begins
 * @param windowEndMs event time at which it ends
 */
public record SiteWindow(int version, long windowStartMs, long windowEndMs, SiteStanding standing) {

    private static final int VERSION = 1;

    public SiteWindow {
        // JSON may lack any of them.
        if (standing == null || standing.site() == null || standing.verdict() == null || standing.trigger() == null) {
            throw new IllegalArgumentException("a site's window without its standing");
        }
        if (version != VERSION) {
            throw new IllegalArgumentException(
                    "version %d of a site's window: expected %d".formatted(version, VERSION));
        }
    }

    /** Returns what the report of a window of a site says of it. */
    public static SiteWindow of(WindowReport report) {
        return new SiteWindow(
                VERSION, report.header().windowStartMs(), report.header().windowEndMs(), SiteStanding.of(report));
    }
}
