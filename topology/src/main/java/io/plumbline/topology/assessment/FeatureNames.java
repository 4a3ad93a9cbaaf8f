package io.plumbline.topology.assessment;

import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.FeatureLabels;
import io.plumbline.explainer.formats.FeatureLink;
import io.plumbline.topology.report.FeatureName;
import java.io.IOException;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Names the features that a report lists: by the labels and the link of the site. Immutable. */
public final class FeatureNames {

    private final @Nullable FeatureLabels labels;
    private final @Nullable FeatureLink link;

    private FeatureNames(@Nullable FeatureLabels labels, @Nullable FeatureLink link) {
        this.labels = labels;
        this.link = link;
    }

    /**
     * Reads what a site says of its features; the link of a SAELens folder that names its page on Neuronpedia.
     *
     * @throws IllegalArgumentException saying what is wrong with the labels
     */
    public static FeatureNames read(FeatureSettings settings, Explainer explainer) {
        try {
            FeatureLink given = settings.link();
            return new FeatureNames(
                    settings.labels() == null ? null : FeatureLabels.read(settings.labels(), explainer.features()),
                    given == null ? FeatureLink.ofSaeLens(explainer.directory()) : given);
        } catch (IOException | IllegalArgumentException refused) {
            throw new IllegalArgumentException("features.labels: " + refused.getMessage(), refused);
        }
    }

    /** Returns those of the features that have a label or a link, by index. */
    public Map<Integer, FeatureName> of(IntStream features) {
        Map<Integer, FeatureName> names = new TreeMap<>();
        features.forEach(feature -> {
            String label = labels == null ? null : labels.of(feature);
            if (label != null || link != null) {
                names.put(feature, new FeatureName(label, link == null ? null : link.of(feature)));
            }
        });
        return names;
    }
}
