package io.plumbline.topology.assessment;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.JointDecoder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The watched blocks of a site with several targets that adapts, whose decoders are published and swapped as one.
 *
 * @param site the configured site
 * @param blocks its blocks, in the order of the configuration
 * @param joint how their decoders lie in the one
 */
public record WatchedTargets(String site, List<WatchedSite> blocks, JointDecoder joint) {

    /** Returns those that adapt, by the names of the configured sites. */
    public static Map<String, WatchedTargets> of(Map<String, WatchedSite> sites) {
        Map<String, List<WatchedSite>> groups = new LinkedHashMap<>();
        sites.values().forEach(block -> {
            if (block.id().isBlock() && block.settings().adapts()) {
                groups.computeIfAbsent(block.id().group(), name -> new ArrayList<>())
                        .add(block);
            }
        });
        Map<String, WatchedTargets> targets = new LinkedHashMap<>();
        groups.forEach((group, blocks) -> {
            JointDecoder joint = JointDecoder.of(decoders(blocks));
            targets.put(group, new WatchedTargets(group, List.copyOf(blocks), joint));
        });
        return targets;
    }

    private static List<Decoder> decoders(List<WatchedSite> blocks) {
        return blocks.stream().map(block -> block.explainer().decoder()).toList();
    }

    /** Returns the trained decoders as one, made anew: at most twice their size. */
    public Decoder trained() {
        return joint.join(decoders(blocks));
    }

    /** Returns the sites whose decoders are swapped by themselves. */
    public static Map<String, WatchedSite> others(Map<String, WatchedSite> sites) {
        Map<String, WatchedSite> others = new LinkedHashMap<>(sites);
        others.values().removeIf(site -> site.id().isBlock());
        return others;
    }
}
