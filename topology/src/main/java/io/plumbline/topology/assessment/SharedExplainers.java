package io.plumbline.topology.assessment;

import io.plumbline.explainer.Explainer;
import java.io.IOException;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/** Reads the explainers of sites; the blocks of one are read once and share their encoders. Not thread-safe. */
public final class SharedExplainers {

    private final Map<String, List<Explainer>> blocks = new HashMap<>();

    /**
     * Returns the explainer of a site that has one.
     *
     * @throws IllegalArgumentException saying what is wrong with it
     */
    public Explainer of(SiteSettings settings) throws IOException {
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
