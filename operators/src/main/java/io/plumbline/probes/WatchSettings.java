package io.plumbline.probes;

import io.plumbline.explainer.Explainer;
import io.plumbline.features.WatchedFeatures;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.ArrayList;
import java.util.List;

/**
 * Names what the users of a site rely on.
 *
 * @param features indices of features of its explainer
 * @param probes files of probes that read the explainer's rows
 * @param falseDiscoveryRate share of the windows of unchanged traffic in which something is called hurt, at most
 */
public record WatchSettings(List<Integer> features, List<ProbeFile> probes, double falseDiscoveryRate) {

    /** The most features, and the most probes, that a site may watch, which bounds its report and its metrics. */
    public static final int MOST = 100;

    /** The rate where nothing else is asked for: lower than that of a list, since it decides how loud an alert is. */
    public static final double DEFAULT_FALSE_DISCOVERY_RATE = 0.01;

    public WatchSettings {
        features = List.copyOf(features);
        probes = List.copyOf(probes);
    }

    /** Returns how many tests share the rate. */
    public int tests() {
        return WatchedFeatures.TESTS * features.size() + WatchedProbes.TESTS * probes.size();
    }

    /** Returns whether nothing is watched. */
    public boolean isEmpty() {
        return features.isEmpty() && probes.isEmpty();
    }

    /**
     * Reads the probes.
     *
     * @param explainer the one whose features are watched, and whose rows the probes read
     * @throws IllegalArgumentException saying what the explainer does not have, or what is wrong with a file
     */
    public List<Probe> read(Explainer explainer) {
        for (int feature : features) {
            if (feature >= explainer.features()) {
                throw new IllegalArgumentException("watch.features = %d: expected an index from 0 to %d"
                        .formatted(feature, explainer.features() - 1));
            }
        }
        List<Probe> read = new ArrayList<>();
        for (ProbeFile probe : probes) {
            try {
                read.add(probe.read(explainer.inputWidth()));
            } catch (IOException failed) {
                throw new UncheckedIOException("watch.probes: %s: %s".formatted(probe.file(), failed), failed);
            } catch (IllegalArgumentException refused) {
                throw new IllegalArgumentException("watch.probes: " + refused.getMessage(), refused);
            }
        }
        return read;
    }
}
