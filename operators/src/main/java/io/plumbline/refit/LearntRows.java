package io.plumbline.refit;

import io.plumbline.explainer.CodesByFeature;
import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.kernel.RowUpdates;

/**
 * Computes {@code Z^T dual} feature by feature, added to what is there in float64: {@code ((w + z[n1] dual[n1]) + z[n2]
 * dual[n2]) + ...}, the rows n that have the feature ascending, each product and each sum rounded by itself.
 * {@code 2 nonZeros d} flops in all.
 *
 * <p>Several terms of a sum are taken in one pass, one after the other: that saves loads and stores and changes no bit
 * ({@link RowUpdates#addFour}). Any number of threads.
 */
final class LearntRows {

    private final CodesByFeature codes;
    private final double[][] dual;

    /** Copies the dual, row by row. */
    LearntRows(SparseCodes codes, Matrix dual) {
        this.codes = CodesByFeature.of(codes);
        this.dual = rows(dual);
    }

    /** Returns whether any row fitted on has the feature. */
    boolean has(int feature) {
        return codes.start()[feature] < codes.start()[feature + 1];
    }

    /** Adds what was learnt for a feature to its d weights. */
    void addTo(int feature, double[] weights) {
        int entry = codes.start()[feature];
        int end = codes.start()[feature + 1];
        double[] value = codes.value();
        int[] row = codes.row();
        for (; entry + 4 <= end; entry += 4) {
            RowUpdates.addFour(
                    weights,
                    value[entry],
                    dual[row[entry]],
                    value[entry + 1],
                    dual[row[entry + 1]],
                    value[entry + 2],
                    dual[row[entry + 2]],
                    value[entry + 3],
                    dual[row[entry + 3]]);
        }
        for (; entry < end; entry++) {
            RowUpdates.add(weights, value[entry], dual[row[entry]]);
        }
    }

    private static double[][] rows(Matrix matrix) {
        double[][] rows = new double[matrix.rows()][];
        for (int i = 0; i < rows.length; i++) {
            rows[i] = new double[matrix.columns()];
            System.arraycopy(matrix.values(), i * matrix.columns(), rows[i], 0, matrix.columns());
        }
        return rows;
    }
}
