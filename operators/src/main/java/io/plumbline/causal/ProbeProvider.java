package io.plumbline.causal;

import io.plumbline.explainer.Explainer;

/** Opens the rest of a model; found by {@link java.util.ServiceLoader} where a site asks for it. */
public interface ProbeProvider {

    /**
     * Loads a head, or connects to a worker. A worker that is not there yet is no mistake: it is asked again in each
     * window.
     *
     * @throws IllegalArgumentException when a file cannot be loaded, or what answers is none of this explainer's site;
     *     the message names the file or the worker
     */
    BehaviourProbe open(DownstreamSettings settings, Explainer explainer);
}
