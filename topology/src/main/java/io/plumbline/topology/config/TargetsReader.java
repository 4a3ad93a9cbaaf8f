package io.plumbline.topology.config;

import io.plumbline.explainer.GivenReconstructions;
import io.plumbline.topology.ingest.SiteId;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.regex.Pattern;

/** Reads which target layers of a site's explainer are watched, each as a site of its own. */
final class TargetsReader {

    private static final List<String> OF_ONE_TARGET = List.of("downstream", "hidden_states");
    private static final Pattern LAYER = Pattern.compile("0|[1-9][0-9]{0,3}");

    private TargetsReader() {}

    /**
     * Returns the blocks of a configured site in the order of the file; the site itself where it lists no targets.
     *
     * @param node the site's
     */
    static List<SiteId> read(String site, ConfigNode node) {
        if (!node.has("targets")) {
            return List.of(new SiteId(site, null));
        }
        List<Integer> targets = new ArrayList<>();
        for (String text : node.texts("targets")) {
            if (LAYER.matcher(text).matches()) {
                targets.add(Integer.valueOf(text));
            } else {
                node.problem("targets", text, "expected numbers of target layers, such as [0, 1, 2]");
            }
        }
        if (node.texts("targets").isEmpty()) {
            node.problem("targets", targets, "expected at least one layer, or no targets: a site with one target");
        }
        if (GivenReconstructions.NAME.equals(node.textOrNull("explainer"))) {
            node.problem("targets", targets, "expected beside a cross-layer transcoder, not beside explainer: none");
        }
        if (node.has("explainer_options") && node.child("explainer_options").has("target")) {
            node.problem(
                    "targets", targets, "expected no explainer_options: {target: L} beside it, which is one of them");
        }
        if (new HashSet<>(targets).size() < targets.size()) {
            node.problem("targets", targets, "expected every layer once");
        }
        for (String key : OF_ONE_TARGET) {
            if (node.has(key)) {
                node.problem(key, "expected only at a site with one target, without targets");
            }
        }
        return targets.stream().map(target -> new SiteId(site, target)).toList();
    }
}
