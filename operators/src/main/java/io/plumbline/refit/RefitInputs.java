package io.plumbline.refit;

import io.plumbline.explainer.Decoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.geometry.ExplainerSubspace;
import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;
import org.jspecify.annotations.Nullable;

/**
 * Holds what refits of one window start from. Nothing is computed yet.
 *
 * @param trained the decoder as trained; every refit starts from it
 * @param trainedSubspace of the trained decoder, at any rank: all its singular vectors are used
 * @param window rows whose leading directions Step 1 rotates onto, n x d
 * @param fit rows of the window to fit on
 * @param anchor rows to fit on before them, with the trained decoder's own answers as targets; null where there are
 *     none
 */
public record RefitInputs(
        Decoder trained,
        ExplainerSubspace trainedSubspace,
        Matrix window,
        SampleRows fit,
        @Nullable SampleRows anchor) {

    /** Returns how many rows are fitted on, anchors included. */
    int rows() {
        return answered() + fit.rows();
    }

    /** Returns how many of them, the first ones, are anchors. */
    int answered() {
        return anchor == null ? 0 : anchor.rows();
    }

    /** Returns the codes of the rows to fit on, the anchors first. */
    SparseCodes codes() {
        return anchor == null ? fit.codes() : anchor.codes().and(fit.codes());
    }

    /**
     * Returns the targets of the rows to fit on, N x d, a matrix that nobody else holds.
     *
     * @param product {@code Z D} of these rows
     */
    Matrix targets(Matrix product) {
        if (anchor == null) {
            return fit.targets().copy();
        }
        int d = trained.dimension();
        Matrix targets = Matrix.zeros(product.rows(), d);
        double[] answers = targets.values();
        int answered = anchor.rows() * d;
        System.arraycopy(product.values(), 0, answers, 0, answered);
        for (int i = 0; i < answered; i += d) {
            Kernels.addScaled(1.0, trained.bias(), 0, answers, i, d);
        }
        System.arraycopy(fit.targets().values(), 0, answers, answered, answers.length - answered);
        return targets;
    }

    /** Returns how well a decoder reconstructs the fitted rows that these inputs were made from. */
    public Reconstruction score(Decoder decoder, FittedRows rows) {
        if (decoder.equals(trained)) {
            return rows.scoreTrained().get(0);
        }
        SparseCodes codes = rows.codes();
        return Reconstruction.of(
                decoder,
                codes,
                anchor == null ? fit.targets() : targets(SparseProducts.multiply(codes, trained.weights())));
    }
}
