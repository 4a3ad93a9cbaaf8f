package io.plumbline.topology.assessment;

import io.plumbline.explainer.formats.FeatureLink;
import io.plumbline.features.ActivityComparison;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;

/**
 * Settings of the features of a site.
 *
 * @param falseDiscoveryRate share of the features listed as more or less active that may be there by chance, see
 *     {@link ActivityComparison}
 * @param labels file of index to text, see {@link io.plumbline.explainer.FeatureLabels}; null: features have no labels
 * @param link where a page about each feature is; null: where the explainer's folder says
 */
public record FeatureSettings(
        double falseDiscoveryRate,
        @Nullable Path labels,
        @Nullable FeatureLink link) {

    /** The settings of a site that configures nothing. */
    public static final FeatureSettings DEFAULTS =
            new FeatureSettings(ActivityComparison.DEFAULT_FALSE_DISCOVERY_RATE, null, null);
}
