package io.plumbline.topology.report;

import org.jspecify.annotations.Nullable;

/** Takes the values of one window for the metrics; null, NaN and infinities are left out. */
public interface Samples {

    /** Adds a value without a label of its own. */
    Samples set(WindowMetric metric, @Nullable Number value);

    /** Adds a value under a label. */
    Samples set(WindowMetric metric, String labelValue, @Nullable Number value);
}
