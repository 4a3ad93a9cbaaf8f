package io.plumbline.topology;

import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.config.MonitorConfig;
import java.util.Map;

/**
 * A configuration with the sites that were read for it.
 *
 * @param sites by name, as {@code config} has them
 */
public record Watched(MonitorConfig config, Map<String, WatchedSite> sites) {}
