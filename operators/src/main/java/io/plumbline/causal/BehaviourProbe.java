package io.plumbline.causal;

import io.plumbline.adaptation.BehaviourJudge;
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

    /**
     * Returns what judges a refit of this site by the model. Of each list it runs as many requests from the first on
     * as are run of a window; one that cannot be used is passed over.
     *
     * @param heldOut whole requests that had no part in the refit, each as a record of its own
     * @param choosing whole requests to choose a candidate by, in neither of the other lists; null: the judge is not
     *     asked which
     * @param normal whole requests of normal traffic; empty: what the refit does to it is not asked
     */
    BehaviourJudge judge(List<byte[]> heldOut, @Nullable List<byte[]> choosing, List<byte[]> normal);

    @Override
    void close();
}
