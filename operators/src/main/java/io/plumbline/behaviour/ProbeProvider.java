package io.plumbline.behaviour;

import io.plumbline.explainer.Explainer;

/** Opens the rest of a model; found by {@link java.util.ServiceLoader} where a site asks for it. */
public interface ProbeProvider {

    /**
     * Loads a head.
     *
     * @throws IllegalArgumentException when it cannot be loaded, or is none of this explainer's site; the message
     *     names the file
     */
    BehaviourProbe open(DownstreamSettings settings, Explainer explainer);
}
