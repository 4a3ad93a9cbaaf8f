package io.plumbline.refit;

import io.plumbline.linalg.Kernels;
import io.plumbline.linalg.Matrix;

/** Rows of an n x d matrix that need not be held: a sum over rows adds them block by block. Any number of threads. */
interface RowBlocks {

    /** Adds {@code factor} times the rows from {@code from} on to a block, as many as it has. */
    void addTo(Matrix block, int from, double factor);

    static RowBlocks of(Matrix matrix) {
        return (block, from, factor) -> Kernels.addScaled(
                factor, matrix.values(), from * matrix.columns(), block.values(), 0, block.values().length);
    }

    /** Returns the rows of this matrix plus {@code scale} times another one. */
    default RowBlocks plus(double scale, Matrix other) {
        RowBlocks others = of(other);
        return (block, from, factor) -> {
            addTo(block, from, factor);
            others.addTo(block, from, factor * scale);
        };
    }
}
