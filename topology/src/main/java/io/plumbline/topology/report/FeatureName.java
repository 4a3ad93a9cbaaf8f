package io.plumbline.topology.report;

import org.jspecify.annotations.Nullable;

/**
 * The label of a feature, and the address of a page about it.
 *
 * @param label null where it has none
 * @param link null where nobody says
 */
public record FeatureName(@Nullable String label, @Nullable String link) {

    /** Returns the index with the label behind it, where there is one. */
    public static String text(int feature, @Nullable FeatureName name) {
        return name == null || name.label() == null ? Integer.toString(feature) : feature + " " + name.label();
    }
}
