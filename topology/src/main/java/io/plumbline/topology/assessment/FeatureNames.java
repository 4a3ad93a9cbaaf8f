package io.plumbline.topology.assessment;

import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.FeatureLabels;
import io.plumbline.explainer.formats.FeatureLink;
import io.plumbline.features.FeatureMap;
import io.plumbline.topology.report.FeatureName;
import java.io.IOException;
import java.util.Arrays;
import java.util.Locale;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/** Names the features that a report lists: by the labels and the link of the site. Immutable. */
public final class FeatureNames {

    private final @Nullable FeatureLabels labels;
    private final @Nullable FeatureLink link;
    private final @Nullable Carried carried;

    /**
     * The names of the explainer before.
     *
     * @param map of the features of this explainer to those of that one
     */
    private record Carried(FeatureNames names, FeatureMap map) {

        @Nullable
        String of(int feature) {
            FeatureMap.Nearest nearest = map.of(feature);
            String label = nearest.isSame() ? names.label(nearest.feature()) : null;
            return label == null
                    ? null
                    : String.format(
                            Locale.ROOT,
                            "%s (of feature %d of the explainer before, cosine %.2f)",
                            label,
                            nearest.feature(),
                            nearest.cosine());
        }
    }

    private FeatureNames(@Nullable FeatureLabels labels, @Nullable FeatureLink link, @Nullable Carried carried) {
        this.labels = labels;
        this.link = link;
        this.carried = carried;
    }

    /** Returns these, with the labels of another explainer where features of it are found again. */
    FeatureNames carriedOver(FeatureNames before, FeatureMap map) {
        return new FeatureNames(labels, link, before.labels == null ? null : new Carried(before, map));
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
                    given == null ? FeatureLink.ofSaeLens(explainer.directory()) : given,
                    null);
        } catch (IOException | IllegalArgumentException refused) {
            throw new IllegalArgumentException("features.labels: " + refused.getMessage(), refused);
        }
    }

    /** Returns those of the features that have a label or a link, by index. */
    public Map<Integer, FeatureName> of(IntStream features) {
        Map<Integer, FeatureName> names = new TreeMap<>();
        int[] listed = features.toArray();
        if (carried != null) {
            carried.map().find(listed);
        }
        Arrays.stream(listed).forEach(feature -> {
            String label = label(feature);
            if (label != null || link != null) {
                names.put(feature, new FeatureName(label, link == null ? null : link.of(feature)));
            }
        });
        return names;
    }

    private @Nullable String label(int feature) {
        String own = labels == null ? null : labels.of(feature);
        return own == null && carried != null ? carried.of(feature) : own;
    }
}
