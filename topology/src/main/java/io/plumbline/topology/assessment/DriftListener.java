package io.plumbline.topology.assessment;

import io.plumbline.topology.report.ModelReport;
import io.plumbline.topology.report.TargetsReport;
import io.plumbline.topology.report.WindowReport;

/**
 * Watches the stages that judge windows of sites and of models. Called on stream threads; implementations must be
 * thread-safe and must not block.
 */
public interface DriftListener {

    /** Hears that a window was judged; it took {@code nanoseconds}. */
    default void onReport(WindowReport report, long nanoseconds) {}

    /** Every block of a site with several targets has a report of a window. */
    default void onTargets(TargetsReport report) {}

    /** Hears that a window of a model was judged. */
    default void onModelReport(ModelReport report) {}

    /** A window of a site came after that of its {@code model} was judged without it. */
    default void onLateSite(String model) {}

    /** A record that says how a site of a model stands was not written by this program, and was left out. */
    default void onForeignWindow() {}

    /** This instance no longer judges {@code model}: its values must not be shown here any more. */
    default void onModelReleased(String model) {}

    /** The rest of the model was run for a window of {@code site}, or failed; it took {@code nanoseconds}. */
    default void onDownstream(String site, long nanoseconds) {}

    /** This instance no longer judges {@code site}: its values must not be shown here any more. */
    default void onSiteReleased(String site) {}
}
