package io.plumbline.causal.heads;

import io.plumbline.linalg.Matrix;
import org.jspecify.annotations.Nullable;

/** The rest of a model behind a site: from the rows an explainer models to logits. One request a call. */
public interface Head {

    /** Returns whether each call needs the residual stream that the rows are added to, as for a transcoder. */
    boolean readsResidual();

    /**
     * Runs one request.
     *
     * @param rows {@code T x d}: an autoencoder's activations, or a transcoder's targets
     * @param residual {@code T x d}, where {@link #readsResidual()} says so; else null
     * @throws HeadException when there is no answer, or one that is not finite or of another shape
     */
    Logits logits(Matrix rows, @Nullable Matrix residual);
}
