package io.plumbline.linalg.kernel;

/** B as floats, row by row; sums in float64, so that this is the oracle of the vector twin. */
final class PlainPackedFloatMatrix extends PackedFloatMatrix {

    /** Columns that are widened together: of 2,048 rows they take 4 MiB. */
    private static final int STRETCH = 256;

    private final float[][] b;

    PlainPackedFloatMatrix(MatrixRows right) {
        super(right.rows(), right.columns());
        b = new float[right.rows()][right.columns()];
        double[] row = new double[right.columns()];
        for (int h = 0; h < b.length; h++) {
            right.copyRow(h, 0, row, 0, row.length);
            for (int j = 0; j < row.length; j++) {
                b[h][j] = (float) row[j];
            }
        }
    }

    @Override
    void tiles(MatrixView a, float[] bias, Sink sink) {
        double[][] wide = new double[rows()][Math.min(STRETCH, columns())];
        double[] negated = new double[rows()];
        double[] target = new double[Math.min(STRETCH, columns())];
        float[] rounded = new float[target.length];
        for (int column = 0; column < columns(); column += STRETCH) {
            int count = Math.min(STRETCH, columns() - column);
            for (int h = 0; h < wide.length; h++) {
                for (int j = 0; j < count; j++) {
                    wide[h][j] = b[h][column + j];
                }
            }
            for (int row = 0; row < a.rows(); row++) {
                a.copyRow(row, 0, negated, 0, negated.length);
                for (int h = 0; h < negated.length; h++) {
                    negated[h] = -(float) negated[h];
                }
                for (int j = 0; j < count; j++) {
                    target[j] = bias[column + j];
                }
                RowUpdates.subtract(target, negated, wide, 0, wide.length, 0, count);
                for (int j = 0; j < count; j++) {
                    rounded[j] = (float) target[j];
                }
                sink.take(row, column, rounded, 0, count);
            }
        }
    }
}
