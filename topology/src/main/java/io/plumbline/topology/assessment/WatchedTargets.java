package io.plumbline.topology.assessment;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.JointDecoder;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * The watched blocks of a configured site, whose decoders are published and swapped as one. A site with one target is
 * its only block.
 *
 * @param site the configured site
 * @param blocks its blocks, in the order of the configuration
 * @param joint how their decoders lie in the one
 */
public record WatchedTargets(String site, List<WatchedSite> blocks, JointDecoder joint) {

    /**
     * Returns those of all sites by the configured names. Without those of several targets that do not adapt, whose one
     * decoder takes memory and is published by nobody.
     */
    public static Map<String, WatchedTargets> of(Map<String, WatchedSite> sites) {
        Map<String, List<WatchedSite>> groups = new LinkedHashMap<>();
        sites.values().forEach(block -> {
            if (!block.id().isBlock() || block.settings().refits().adapts()) {
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

    /** Returns the trained decoders as one; those of several blocks made anew, at most twice their size. */
    public Decoder trained() {
        return joint.join(decoders(blocks));
    }
}
