package io.plumbline.topology.cli;

import io.plumbline.linalg.Matrix;
import io.plumbline.records.ActivationBatch;
import java.util.List;
import java.util.function.Function;

/** Stacks the rows of several batches in one matrix. */
final class Stacked {

    private Stacked() {}

    /** @param columns of each part */
    static Matrix of(List<ActivationBatch> batches, Function<ActivationBatch, Matrix> part, int columns) {
        Matrix all =
                Matrix.zeros(batches.stream().mapToInt(ActivationBatch::rows).sum(), columns);
        int at = 0;
        for (ActivationBatch batch : batches) {
            double[] rows = part.apply(batch).values();
            System.arraycopy(rows, 0, all.values(), at, rows.length);
            at += rows.length;
        }
        return all;
    }
}
