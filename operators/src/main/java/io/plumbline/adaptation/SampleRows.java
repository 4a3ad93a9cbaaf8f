package io.plumbline.adaptation;

import io.plumbline.explainer.Encoder;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import java.util.List;

/**
 * Rows to fit or to check a decoder on: the codes of n rows, and the targets (n x d) it should give for them.
 */
public record SampleRows(SparseCodes codes, Matrix targets) {

    public SampleRows {
        if (codes.rows() != targets.rows()) {
            throw new IllegalArgumentException(
                    "codes of %d rows, targets of %d".formatted(codes.rows(), targets.rows()));
        }
    }

    /** Encodes activations (n x d_in) whose targets are n x d. */
    public static SampleRows of(Encoder encoder, Matrix activations, Matrix targets) {
        return new SampleRows(encoder.encode(activations), targets);
    }

    /**
     * Encodes sampled rows.
     *
     * @param targetWidth d, needed when there are no rows to see it from
     */
    public static SampleRows of(Encoder encoder, List<SampledRow> rows, int targetWidth) {
        Matrix activations = Matrix.zeros(rows.size(), encoder.inputWidth());
        Matrix targets = Matrix.zeros(rows.size(), targetWidth);
        for (int i = 0; i < rows.size(); i++) {
            copyInto(activations, i, rows.get(i).activation());
            copyInto(targets, i, rows.get(i).targetRow());
        }
        return of(encoder, activations, targets);
    }

    public int rows() {
        return codes.rows();
    }

    private static void copyInto(Matrix matrix, int row, float[] values) {
        if (values.length != matrix.columns()) {
            throw new IllegalArgumentException(
                    "sampled row %d has %d values: expected %d".formatted(row, values.length, matrix.columns()));
        }
        for (int j = 0; j < values.length; j++) {
            matrix.set(row, j, values[j]);
        }
    }
}
