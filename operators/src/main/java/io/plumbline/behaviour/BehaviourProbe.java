package io.plumbline.behaviour;

import io.plumbline.explainer.Decoder;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Runs the rest of one site's model. Thread-safe: calls wait for one another. */
public interface BehaviourProbe extends AutoCloseable {

    /**
     * Measures what the model does with decoders' reconstructions in place.
     *
     * @param requests whole requests, each as a record of its own; as many from the first on as the budget allows
     * @param active the decoder in service; null while that is the trained one
     * @return never fails: says why where there is no answer
     */
    WindowBehaviour measure(List<byte[]> requests, @Nullable Decoder active);

    @Override
    void close();
}
