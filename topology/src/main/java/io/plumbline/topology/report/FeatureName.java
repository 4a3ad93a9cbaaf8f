package io.plumbline.topology.report;

import org.jspecify.annotations.Nullable;

/**
 * The label of a feature, and the address of a page about it.
 *
 * @param label null where it has none
 * @param link null where nobody says
 */
public record FeatureName(@Nullable String label, @Nullable String link) {}
