package io.plumbline.topology.assessment;

import io.plumbline.explainer.DecoderSpace;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import java.util.List;

/**
 * Encoded rows of a window, on which errors are measured: targets as they came, where a decoder may write normalised
 * rows or leave a skip connection out.
 *
 * @param activations what the encoder read, n x d_in; empty where the decoder writes targets as they come
 * @param targets as they came, n x d
 */
record ToldRows(DecoderSpace space, Matrix activations, Matrix targets) {

    /**
     * Returns the targets of rows as they came.
     *
     * @param written the rows that the decoder should write
     */
    static ToldRows of(DecoderSpace space, List<SampledRow> rows, Matrix written) {
        if (space.isPlain() || rows.isEmpty()) {
            return new ToldRows(space, Matrix.zeros(0, 0), written);
        }
        Matrix activations = GivenRows.activations(rows, rows.get(0).activation().length);
        return new ToldRows(space, activations, space.targets(activations, written));
    }

    /** Returns decoded rows as targets come. */
    Matrix of(Matrix decoded) {
        return activations.rows() == 0 ? decoded : space.toTargets(activations, decoded);
    }
}
