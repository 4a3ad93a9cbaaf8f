package io.plumbline.topology.assessment;

import io.plumbline.topology.windows.ClosedWindow;
import org.jspecify.annotations.Nullable;

/**
 * A window on its way to its verdict.
 *
 * @param judge measured it and decides about it; null where the site is not configured
 * @param measurement null there too
 */
public record MeasuredWindow(
        ClosedWindow window,
        @Nullable SiteJudge judge,
        @Nullable Measurement measurement) {}
