package io.plumbline.linalg.kernel;

/**
 * A matrix as it lies in an array: entry (i, j) at {@code offset + i rowStep + j columnStep}. So a transpose or a part
 * needs no copy.
 */
public record MatrixView(double[] values, int offset, int rows, int columns, int rowStep, int columnStep)
        implements MatrixRows {

    /** Rows {@code from .. to-1} of this. */
    public MatrixView rowRange(int from, int to) {
        return new MatrixView(values, offset + from * rowStep, to - from, columns, rowStep, columnStep);
    }

    /** The transpose. */
    public MatrixView transposed() {
        return new MatrixView(values, offset, columns, rows, columnStep, rowStep);
    }

    /** Returns where an entry is in {@link #values}. */
    public int index(int row, int column) {
        return offset + row * rowStep + column * columnStep;
    }

    @Override
    public void copyRow(int row, int column, double[] target, int at, int count) {
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
