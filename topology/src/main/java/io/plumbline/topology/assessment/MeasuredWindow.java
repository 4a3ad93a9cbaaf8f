package io.plumbline.topology.assessment;

import io.plumbline.topology.windows.ClosedWindow;
import org.jspecify.annotations.Nullable;

/**
 * A window on its way to its verdict.
 *
 * @param measurement null where the site is not configured
 */
public record MeasuredWindow(ClosedWindow window, @Nullable Measurement measurement) {}
