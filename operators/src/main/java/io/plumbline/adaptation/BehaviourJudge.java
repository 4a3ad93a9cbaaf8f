package io.plumbline.adaptation;

import io.plumbline.explainer.Decoder;
import org.jspecify.annotations.Nullable;

/**
 * Judges decoders by what the model does with their reconstructions in the place of its activations. Made where the
 * rest of the model can be run, for one attempt: it knows the requests that are held out.
 */
public interface BehaviourJudge {

    /**
     * Compares on the held-out requests with the decoder in service, and on requests of normal traffic, where there are
     * some, with the trained one. A model without an answer is an outcome and no exception.
     */
    Behaviour judge(Decoder trained, Decoder current, Decoder proposed);

    /** Compares on requests of normal traffic alone; passes where there are none. */
    GateTest inDistribution(Decoder trained, Decoder proposed);

    /** Returns what candidates are chosen by; null, the default: by FVU. */
    default @Nullable BehaviourChoice choice() {
        return null;
    }
}
