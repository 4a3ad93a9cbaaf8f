package io.plumbline.refit;

import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.Weights;
import io.plumbline.wire.DType;
import org.jspecify.annotations.Nullable;

/**
 * Puts weights down block after block, rounded, in 4 bytes each where the type they are rounded to allows. Threads may
 * put different rows.
 */
final class WeightsBuilder {

    private final int rows;
    private final int columns;
    private final @Nullable Rounding rounding;
    private final float[] floats;
    private final double[] doubles;

    /** @param rounding null to keep values as they are */
    WeightsBuilder(int rows, int columns, @Nullable Rounding rounding) {
        int length = Math.multiplyExact(rows, columns);
        boolean single = rounding != null && rounding.dtype() != DType.F64;
        this.rows = rows;
        this.columns = columns;
        this.rounding = rounding;
        this.floats = new float[single ? length : 0];
        this.doubles = new double[single ? 0 : length];
    }

    /** @throws ArithmeticException if the type cannot hold a value */
    void put(int firstRow, Matrix block) {
        double[] values = block.values();
        int at = firstRow * columns;
        if (rounding != null && (rounding.dtype() != DType.F32 || !Rounding.areFinite(values))) {
            rounding.round(values, "weights");
        }
        if (floats.length == 0) {
            System.arraycopy(values, 0, doubles, at, values.length);
            return;
        }
        for (int i = 0; i < values.length; i++) {
            floats[at + i] = (float) values[i];
        }
    }

    Weights build() {
        return floats.length == 0
                ? Weights.of(new Matrix(rows, columns, doubles))
                : Weights.ofFloats(rows, columns, floats);
    }
}
