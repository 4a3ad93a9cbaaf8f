package io.plumbline.linalg;

import io.plumbline.linalg.kernel.MatrixView;
import io.plumbline.parallel.Cores;
import java.util.Arrays;

/**
 * A dense row-major matrix of {@code double}: {@code values[i * columns + j]} is row i, column j.
 *
 * <p>Rows are samples everywhere in this project. A basis of a subspace is stored with one <em>column</em> per vector
 * ({@code dimension x rank}), as in the paper.
 *
 * <p><b>Size.</b> {@code 8 * rows * columns} bytes. The array is shared, not copied: whoever makes a {@code Matrix}
 * hands the array over.
 */
public record Matrix(int rows, int columns, double[] values) {

    /** Sums of squares in between lose nothing: what vanished below {@code 2^-1022} is no {@code 2^-100} of them. */
    private static final double SAFE_LEAST = 0x1p-880;

    private static final double SAFE_MOST = 0x1p1000;
    private static final int TILE = 32;

    /** Rows that one thread takes at a time. */
    private static final int ROWS = 64;

    public Matrix {
        if (rows < 0 || columns < 0 || (long) rows * columns != values.length) {
            throw new IllegalArgumentException("a %d x %d matrix needs %d values, got %d"
                    .formatted(rows, columns, (long) rows * columns, values.length));
        }
    }

    /** Returns all of it as it lies, for a kernel. */
    public MatrixView view() {
        return rowsView(0, rows);
    }

    /** Rows {@code from .. to-1} as they lie. */
    public MatrixView rowsView(int from, int to) {
        return partView(from, to, 0, columns);
    }

    /** The transpose, not copied. */
    public MatrixView transposedView() {
        return view().transposed();
    }

    /** Columns {@code from .. to-1} of rows {@code firstRow .. lastRow-1} as they lie. */
    MatrixView partView(int firstRow, int lastRow, int from, int to) {
        return new MatrixView(values, firstRow * columns + from, lastRow - firstRow, to - from, columns, 1);
    }

    public static Matrix zeros(int rows, int columns) {
        return new Matrix(rows, columns, new double[Math.multiplyExact(rows, columns)]);
    }

    public static Matrix identity(int size) {
        Matrix identity = zeros(size, size);
        for (int i = 0; i < size; i++) {
            identity.values[i * size + i] = 1.0;
        }
        return identity;
    }

    public double get(int row, int column) {
        return values[row * columns + column];
    }

    public void set(int row, int column, double value) {
        values[row * columns + column] = value;
    }

    /** Returns a row, rounded to float32. */
    public float[] floats(int row) {
        float[] floats = new float[columns];
        for (int j = 0; j < columns; j++) {
            floats[j] = (float) get(row, j);
        }
        return floats;
    }

    public Matrix copy() {
        return new Matrix(rows, columns, values.clone());
    }

    /** Rows {@code from .. to-1}, copied. */
    public Matrix rowRange(int from, int to) {
        return new Matrix(to - from, columns, Arrays.copyOfRange(values, from * columns, to * columns));
    }

    /** Columns {@code 0 .. count-1}, copied. */
    public Matrix leadingColumns(int count) {
        Matrix leading = zeros(rows, count);
        for (int i = 0; i < rows; i++) {
            System.arraycopy(values, i * columns, leading.values, i * count, count);
        }
        return leading;
    }

    public Matrix transpose() {
        Matrix transposed = zeros(columns, rows);
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < columns; j++) {
                transposed.values[j * rows + i] = values[i * columns + j];
            }
        }
        return transposed;
    }

    /** Returns {@code this + scale * other}, a new matrix. */
    public Matrix plus(double scale, Matrix other) {
        requireSameShape(other);
        double[] sum = values.clone();
        for (int i = 0; i < sum.length; i++) {
            sum[i] += scale * other.values[i];
        }
        return new Matrix(rows, columns, sum);
    }

    public Matrix minus(Matrix other) {
        return plus(-1.0, other);
    }

    /**
     * Adds a square matrix and its transpose to this one, of the same size, tile by tile: a column at a time would miss
     * the cache.
     */
    public void addWithTranspose(Matrix half) {
        requireSameShape(half);
        if (rows != columns) {
            throw new IllegalArgumentException("not square: %d x %d".formatted(rows, columns));
        }
        for (int top = 0; top < rows; top += TILE) {
            for (int left = 0; left < columns; left += TILE) {
                for (int i = top; i < Math.min(top + TILE, rows); i++) {
                    for (int j = left; j < Math.min(left + TILE, columns); j++) {
                        values[i * columns + j] += half.values[i * columns + j] + half.values[j * columns + i];
                    }
                }
            }
        }
    }

    public double frobeniusNorm() {
        double sum = sumOfSquares(1.0);
        if (sum >= SAFE_LEAST && sum <= SAFE_MOST) {
            return Math.sqrt(sum);
        }
        // Scaled as in BLAS dnrm2, so that tiny residuals (gaps of 1e-170) do not underflow to 0.
        double largest = 0.0;
        for (double value : values) {
            largest = Math.max(largest, Math.abs(value));
        }
        if (largest == 0.0 || Double.isInfinite(largest) || Double.isNaN(largest)) {
            return largest;
        }
        // A power of two: scaling by it rounds nothing.
        double scale = Math.scalb(1.0, -Math.max(Math.min(Math.getExponent(largest), 1000), -1000));
        return Math.sqrt(sumOfSquares(scale)) / scale;
    }

    /** Returns {@code ||this - other||_F}. The difference is not made. */
    public double distance(Matrix other) {
        requireSameShape(other);
        return distance(other.values, columns, false);
    }

    /** Returns {@link #distance} of what is below the diagonals. */
    public double distanceBelowDiagonal(Matrix other) {
        requireSameShape(other);
        return distance(other.values, columns, true);
    }

    /** Returns the Frobenius norm of what is left when {@code row}, as long as one of these, is taken from each. */
    public double distanceToRow(double[] row) {
        return distance(row, 0, false);
    }

    /**
     * Returns the norm of what is left when the row at {@code i * pitch} of {@code others} is taken from row i, or from
     * its first i entries alone.
     */
    private double distance(double[] others, int pitch, boolean belowDiagonal) {
        double[] sums = new double[(rows + ROWS - 1) / ROWS];
        Cores.each(sums.length, 3.0 * values.length, part -> {
            for (int i = part * ROWS; i < Math.min((part + 1) * ROWS, rows); i++) {
                int count = belowDiagonal ? Math.min(i, columns) : columns;
                sums[part] += Kernels.squaredDistance(values, i * columns, others, i * pitch, count);
            }
        });
        double sum = Arrays.stream(sums).sum();
        if (sum >= SAFE_LEAST && sum <= SAFE_MOST) {
            return Math.sqrt(sum);
        }
        Matrix left = Matrix.zeros(rows, columns);
        for (int i = 0; i < rows; i++) {
            int count = belowDiagonal ? Math.min(i, columns) : columns;
            System.arraycopy(values, i * columns, left.values, i * columns, count);
            Kernels.addScaled(-1.0, others, i * pitch, left.values, i * columns, count);
        }
        return left.frobeniusNorm();
    }

    /** Sums the squares in four sums, so that an addition need not wait for the one before. */
    private double sumOfSquares(double scale) {
        double a = 0.0;
        double b = 0.0;
        double c = 0.0;
        double e = 0.0;
        int i = 0;
        for (; i + 4 <= values.length; i += 4) {
            double first = values[i] * scale;
            double second = values[i + 1] * scale;
            double third = values[i + 2] * scale;
            double fourth = values[i + 3] * scale;
            a += first * first;
            b += second * second;
            c += third * third;
            e += fourth * fourth;
        }
        for (; i < values.length; i++) {
            a += values[i] * scale * (values[i] * scale);
        }
        return (a + b) + (c + e);
    }

    public double trace() {
        double trace = 0.0;
        for (int i = 0; i < Math.min(rows, columns); i++) {
            trace += values[i * columns + i];
        }
        return trace;
    }

    private void requireSameShape(Matrix other) {
        if (rows != other.rows || columns != other.columns) {
            throw new IllegalArgumentException(
                    "shapes differ: %d x %d and %d x %d".formatted(rows, columns, other.rows, other.columns));
        }
    }

    /** Compares shape and bits, so that arrays compare by content. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Matrix matrix
                && rows == matrix.rows
                && columns == matrix.columns
                && Arrays.equals(values, matrix.values);
    }

    @Override
    public int hashCode() {
        return 31 * (31 * rows + columns) + Arrays.hashCode(values);
    }

    @Override
    public String toString() {
        return "Matrix[%d x %d]".formatted(rows, columns);
    }
}
