package io.plumbline.explainer;

import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import java.util.List;

/** Encodes sampled rows. A row's codes do not depend on the rows it is encoded with. */
public final class SampledCodes {

    private SampledCodes() {}

    /**
     * Returns the codes of the rows in their order.
     *
     * @throws IllegalArgumentException when a row is not as wide as the encoder reads
     */
    public static SparseCodes of(Encoder encoder, List<SampledRow> rows) {
        Matrix activations = Matrix.zeros(rows.size(), encoder.inputWidth());
        for (int i = 0; i < rows.size(); i++) {
            float[] values = rows.get(i).activation();
            if (values.length != activations.columns()) {
                throw new IllegalArgumentException(
                        "sampled row %d has %d values: expected %d".formatted(i, values.length, activations.columns()));
            }
            for (int j = 0; j < values.length; j++) {
                activations.set(i, j, values[j]);
            }
        }
        return encoder.encode(activations);
    }
}
