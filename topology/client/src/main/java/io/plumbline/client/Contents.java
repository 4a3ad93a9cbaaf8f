package io.plumbline.client;

import io.plumbline.explainer.Explainer;
import io.plumbline.topology.emission.DecoderSubscriber;
import java.util.List;

/** Names what the jar is made of: these classes and whatever they reach is kept, and nothing else. */
final class Contents {

    static final List<Class<?>> ROOTS = List.of(DecoderSubscriber.class, Explainer.class);

    private Contents() {}
}
