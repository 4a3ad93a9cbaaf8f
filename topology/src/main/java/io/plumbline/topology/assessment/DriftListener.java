package io.plumbline.topology.assessment;

import io.plumbline.topology.report.TargetsReport;
import io.plumbline.topology.report.WindowReport;

/** Watches the third stage. Called on stream threads; implementations must be thread-safe and must not block. */
public interface DriftListener {

    /** Hears that a window was judged; it took {@code nanoseconds}. */
    default void onReport(WindowReport report, long nanoseconds) {}

    /** Every block of a site with several targets has a report of a window. */
    default void onTargets(TargetsReport report) {}

    /** The rest of the model was run for a window of {@code site}, or failed; it took {@code nanoseconds}. */
    default void onDownstream(String site, long nanoseconds) {}

    /** This instance no longer judges {@code site}: its values must not be shown here any more. */
    default void onSiteReleased(String site) {}
}
