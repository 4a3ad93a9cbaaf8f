package io.plumbline.adaptation;

import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;

/**
 * {@code Z^T dual} feature by feature, added to what is there in float64: {@code ((w + z[n1] dual[n1]) + z[n2] dual[n2]) + ...}, the
 * rows n that have the feature ascending, each product and each sum rounded by itself. {@code 2 nonZeros d} flops in all.
 *
 * <p>Any number of threads.
 */
final class LearntRows {

    private final CodesByFeature codes;
    private final double[][] dual;

    /** The dual is copied, row by row. */
    LearntRows(SparseCodes codes, Matrix dual) {
        this.codes = CodesByFeature.of(codes);
        this.dual = rows(dual);
    }

    /** Whether any row fitted on has the feature. */
    boolean has(int feature) {
        return codes.has(feature);
    }

    /** Adds what was learnt for a feature to its d weights. */
    void addTo(int feature, double[] weights) {
        codes.addTo(feature, dual, weights);
    }

    static double[][] rows(Matrix matrix) {
        double[][] rows = new double[matrix.rows()][];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = new double[matrix.columns()];
            System.arraycopy(matrix.values(), i * matrix.columns(), rows[i], 0, matrix.columns());
        }
        return rows;
    }
}
