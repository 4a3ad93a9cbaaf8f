package io.plumbline.linalg;

/**
 * A matrix as it lies in an array: entry (i, j) at {@code offset + i rowStep + j columnStep}. So a transpose or a part
 * needs no copy.
 */
public record Operand(double[] values, int offset, int rows, int columns, int rowStep, int columnStep) {

    public static Operand of(Matrix matrix) {
        return rowsOf(matrix, 0, matrix.rows());
    }

    /** Rows {@code from .. to-1}. */
    public static Operand rowsOf(Matrix matrix, int from, int to) {
        int columns = matrix.columns();
        return new Operand(matrix.values(), from * columns, to - from, columns, columns, 1);
    }

    public static Operand transposeOf(Matrix matrix) {
        return new Operand(matrix.values(), 0, matrix.columns(), matrix.rows(), 1, matrix.columns());
    }

    /** Columns {@code from .. to-1} of rows {@code firstRow .. lastRow-1}. */
    static Operand partOf(Matrix matrix, int firstRow, int lastRow, int from, int to) {
        int columns = matrix.columns();
        return new Operand(matrix.values(), firstRow * columns + from, lastRow - firstRow, to - from, columns, 1);
    }

    /** Rows {@code from .. to-1} of this. */
    Operand rowRange(int from, int to) {
        return new Operand(values, offset + from * rowStep, to - from, columns, rowStep, columnStep);
    }

    Operand transposed() {
        return new Operand(values, offset, columns, rows, columnStep, rowStep);
    }

    int index(int row, int column) {
        return offset + row * rowStep + column * columnStep;
    }

    /** Copies {@code count} entries of a row. */
    void copyRow(int row, int column, double[] target, int at, int count) {
        int from = index(row, column);
        if (columnStep == 1) {
            System.arraycopy(values, from, target, at, count);
            return;
        }
        for (int j = 0; j < count; j++) {
            target[at + j] = values[from + j * columnStep];
        }
    }
}
