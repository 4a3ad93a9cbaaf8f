package io.plumbline.topology.assessment;

import io.plumbline.explainer.SparseCodes;
import io.plumbline.linalg.Matrix;
import io.plumbline.moments.SampledRow;
import io.plumbline.refit.SampleRows;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/** Takes sampled rows of a site without an explainer apart: a target, and the error of its reconstruction behind it. */
final class GivenRows {

    private GivenRows() {}

    /**
     * Returns the rows with their reconstructions as activations, and codes behind them where there are any.
     *
     * @param width values of a target
     */
    static List<SampledRow> of(List<SampledRow> joined, int width) {
        List<SampledRow> rows = new ArrayList<>(joined.size());
        for (SampledRow row : joined) {
            float[] both = row.activation();
            float[] reconstruction = Arrays.copyOfRange(both, width, both.length);
            for (int j = 0; j < width; j++) {
                reconstruction[j] = both[j] - both[width + j];
            }
            rows.add(new SampledRow(
                    row.hash(), row.request(), row.timestampMs(), reconstruction, Arrays.copyOf(both, width)));
        }
        return rows;
    }

    /** Returns the targets and requests of rows without known codes. */
    static SampleRows withoutCodes(List<SampledRow> rows, int width) {
        Matrix targets = Matrix.zeros(rows.size(), width);
        for (int i = 0; i < rows.size(); i++) {
            for (int j = 0; j < width; j++) {
                targets.set(i, j, rows.get(i).targetRow()[j]);
            }
        }
        return new SampleRows(
                new SparseCodes(rows.size(), width, new int[rows.size() + 1], new int[0], new double[0]),
                targets,
                rows.stream().mapToLong(SampledRow::request).toArray());
    }

    /** Returns the activations of rows, n x d. */
    static Matrix activations(List<SampledRow> rows, int width) {
        Matrix activations = Matrix.zeros(rows.size(), width);
        for (int i = 0; i < rows.size(); i++) {
            for (int j = 0; j < width; j++) {
                activations.set(i, j, rows.get(i).activation()[j]);
            }
        }
        return activations;
    }
}
