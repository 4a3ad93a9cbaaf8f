package io.plumbline.topology.joining;

import io.plumbline.topology.ingest.SiteShape;
import io.plumbline.topology.ingest.TargetSites;
import io.plumbline.wire.ActivationPart;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.apache.kafka.common.utils.Bytes;

/**
 * A configured site with several targets.
 *
 * @param name the configured site
 * @param blocks the sites of its targets
 * @param tensors what a record needs to be whole
 */
record JoinedSite(String name, List<String> blocks, Set<String> tensors) {

    JoinedSite {
        blocks = List.copyOf(blocks);
        tensors = Set.copyOf(tensors);
    }

    /** Returns whether these tensors make a whole record. */
    boolean isWhole(ActivationPart part) {
        return part.names().containsAll(tensors);
    }

    /** Returns the sites with several targets by the bytes of their names. */
    static Map<Bytes, JoinedSite> byName(Map<String, SiteShape> shapes) {
        Map<String, List<String>> blocks = new TreeMap<>();
        Map<String, Set<String>> tensors = new TreeMap<>();
        new TreeMap<>(shapes).forEach((site, shape) -> {
            String group = TargetSites.groupOf(site);
            if (group != null && shape.block() != null) {
                blocks.computeIfAbsent(group, name -> new ArrayList<>()).add(site);
                Set<String> needed = tensors.computeIfAbsent(group, name -> new LinkedHashSet<>());
                needed.addAll(shape.block().tensors());
                if (shape.mask().needsTokenIds()) {
                    needed.add("token_ids");
                }
            }
        });
        Map<Bytes, JoinedSite> sites = new TreeMap<>();
        blocks.forEach((name, its) -> sites.put(
                Bytes.wrap(name.getBytes(StandardCharsets.UTF_8)),
                new JoinedSite(name, its, tensors.getOrDefault(name, Set.of()))));
        return sites;
    }
}
