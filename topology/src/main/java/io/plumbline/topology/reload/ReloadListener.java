package io.plumbline.topology.reload;

import io.plumbline.topology.assessment.WatchedSite;
import io.plumbline.topology.config.MonitorConfig;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** Watches which configuration a process judges by. Implementations must be thread-safe and must not block. */
public interface ReloadListener {

    /**
     * This process judges by a configuration, from the start of the version's windows on.
     *
     * @param sha256 see {@link ConfigVersion#sha256}
     * @param version by which it was agreed on; null: it was the one at the start
     */
    default void onConfiguration(MonitorConfig config, String sha256, @Nullable ConfigVersion version) {}

    /**
     * This process judges by these sites, from the start of the version's windows on, or from its own start on.
     *
     * @param baselines SHA-256 of the file of each site's baseline
     */
    default void onSites(
            Map<String, WatchedSite> sites,
            Map<String, String> baselines,
            MonitorConfig config,
            ConfigVersion version) {}

    /** The file changed; {@code taken} says whether it can be taken over, or changes nothing. */
    default void onRead(boolean taken) {}

    /** Says whether the instances agreed on a configuration that this process does not have. */
    default void onOther(boolean other) {}
}
