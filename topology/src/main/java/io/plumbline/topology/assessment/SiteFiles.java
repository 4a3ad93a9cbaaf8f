package io.plumbline.topology.assessment;

import io.plumbline.baseline.Baseline;
import io.plumbline.explainer.Explainer;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * Reads explainers and baselines of sites, but what is held already; the blocks of one explainer are read once and
 * share their encoders. Not thread-safe.
 */
public final class SiteFiles {

    private final Map<String, WatchedSite> held;
    private final Set<String> sameBaselines;
    private final Map<String, List<Explainer>> blocks = new HashMap<>();

    /** Creates one that holds nothing yet. */
    public SiteFiles() {
        this(Map.of(), Set.of());
    }

    /**
     * @param held sites whose explainers are taken from here
     * @param sameBaselines those of them whose baselines are too
     */
    public SiteFiles(Map<String, WatchedSite> held, Set<String> sameBaselines) {
        this.held = held;
        this.sameBaselines = sameBaselines;
    }

    /** Returns the baseline of a site by itself. */
    public Baseline baseline(SiteSettings settings) throws IOException {
        WatchedSite site = held.get(settings.site());
        return site != null && sameBaselines.contains(settings.site())
                ? site.baseline().byItself()
                : Baseline.read(settings.explained().baseline());
    }

    /**
     * Returns the explainer of a site that has one.
     *
     * @throws IllegalArgumentException saying what is wrong with it
     */
    public Explainer explainer(SiteSettings settings) throws IOException {
        WatchedSite site = held.get(settings.site());
        if (site != null) {
            return site.explainer();
        }
        if (!settings.id().isBlock()) {
            return Explainers.read(
                    settings.explained().explainer(), settings.explained().options());
        }
        String group = settings.id().group();
        List<Explainer> read = blocks.get(group);
        if (read == null) {
            read = Explainers.readBlocks(
                    settings.explained().explainer(),
                    settings.explained().options().withoutTarget());
            blocks.put(group, read);
        }
        for (Explainer block : read) {
            if (block.origin().options().equals(settings.explained().options())) {
                return block;
            }
        }
        // Reading one that is not among them says why.
        return Explainers.read(
                settings.explained().explainer(), settings.explained().options());
    }
}
