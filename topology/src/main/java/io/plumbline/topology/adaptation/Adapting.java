package io.plumbline.topology.adaptation;

import io.plumbline.topology.assessment.WatchedSite;
import java.util.Map;

/**
 * Says which of the watched sites adapt, and how.
 *
 * @param settings by site; sites without are only watched
 * @param rules by site, of the same sites
 */
public record Adapting(
        Map<String, WatchedSite> sites, Map<String, AdaptationSettings> settings, Map<String, SwapRules> rules) {}
