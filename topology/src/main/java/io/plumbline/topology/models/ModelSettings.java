package io.plumbline.topology.models;

import io.plumbline.judgement.DriftPolicy;
import java.time.Duration;
import java.util.List;

/**
 * Says which sites are judged as one.
 *
 * @param model its name in reports and metrics
 * @param sites the watched sites in the order of their layers, target layers by their own names; at least one
 * @param debounce how many of the last windows must be above at any site before the model is declared drifted
 * @param longestWait how long a window waits, by the wall clock, for the sites that have none yet
 */
public record ModelSettings(String model, List<String> sites, DriftPolicy debounce, Duration longestWait) {
    public ModelSettings {
        sites = List.copyOf(sites);
    }
}
