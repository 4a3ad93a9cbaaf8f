package io.plumbline.client;

import io.plumbline.explainer.Explainer;
import io.plumbline.explainer.formats.Formats;
import io.plumbline.topology.emission.DecoderSubscriber;
import java.util.List;

/**
 * Names what the jar keeps of the service and of libraries: these classes and whatever they reach. The mathematics is
 * kept whole.
 */
final class Contents {

    static final List<Class<?>> ROOTS = List.of(DecoderSubscriber.class, Explainer.class, Formats.class);

    private Contents() {}
}
