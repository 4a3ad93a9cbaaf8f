package io.plumbline.causal.heads;

import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import org.jspecify.annotations.Nullable;

/**
 * One whole request at a site, its first row included.
 *
 * @param batch what the explainer reads and models, and the token ids where they are known
 * @param residual the residual stream that a transcoder's targets are added to, or null
 */
public record RequestRows(ActivationBatch batch, @Nullable Matrix residual) {

    /**
     * Creates a request; written in full because the compiler leaves the annotations of a compact constructor's
     * parameters out.
     */
    public RequestRows(ActivationBatch batch, @Nullable Matrix residual) {
        if (residual != null && residual.rows() != batch.rows()) {
            throw new IllegalArgumentException(
                    "%d rows and a residual stream of %d".formatted(batch.rows(), residual.rows()));
        }
        this.batch = batch;
        this.residual = residual;
    }

    public int rows() {
        return batch.rows();
    }

    /** Returns the rows that the explainer models, which are what the head reads. */
    Matrix targets() {
        return batch.targetRows();
    }
}
