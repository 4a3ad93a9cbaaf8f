package io.plumbline.linalg;

import io.plumbline.linalg.kernel.FloatRowOps;
import io.plumbline.linalg.kernel.MatrixRows;
import io.plumbline.linalg.kernel.PackedFloatMatrix;
import io.plumbline.linalg.kernel.PackedMatrix;
import io.plumbline.linalg.kernel.UpdateKernels;
import io.plumbline.parallel.Cores;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/**
 * A large row-major matrix that is read and not changed: held as float32 where every value is one, which is how nearly
 * every file has the weights of a dictionary, else as float64. Whichever it is, the values are the same and so are
 * results made of them.
 *
 * <p>Two of the same values are equal, since how they are held follows from them. <b>Size.</b> 4 or 8 bytes a value.
 * Immutable as long as nobody writes to an array handed over; any number of threads.
 */
public final class Weights {

    /** Rows that are widened and multiplied together. */
    private static final int BLOCK = 256;

    private static final int LEAST_FOR_KERNEL = 1 << 20;
    private static final FloatRowOps PLAIN = UpdateKernels.plain().floatRowOps();

    private final int rows;
    private final int columns;
    private final float @Nullable [] floats;
    private final double @Nullable [] doubles;

    private Weights(int rows, int columns, float @Nullable [] floats, double @Nullable [] doubles) {
        int length = floats != null ? floats.length : doubles != null ? doubles.length : 0;
        if (rows < 0 || columns < 0 || (long) rows * columns != length) {
            throw new IllegalArgumentException(
                    "%d x %d weights need %d values, got %d".formatted(rows, columns, (long) rows * columns, length));
        }
        this.rows = rows;
        this.columns = columns;
        this.floats = floats;
        this.doubles = doubles;
    }

    /** The weights with these values; the array is taken over where they are no floats. */
    public static Weights of(Matrix matrix) {
        double[] values = matrix.values();
        for (double value : values) {
            if (Double.compare((float) value, value) != 0) {
                return new Weights(matrix.rows(), matrix.columns(), null, values);
            }
        }
        float[] floats = new float[values.length];
        for (int i = 0; i < floats.length; i++) {
            floats[i] = (float) values[i];
        }
        return ofFloats(matrix.rows(), matrix.columns(), floats);
    }

    /** Returns row-major weights; the array is taken over. */
    public static Weights ofFloats(int rows, int columns, float[] values) {
        return new Weights(rows, columns, values, null);
    }

    public int rows() {
        return rows;
    }

    public int columns() {
        return columns;
    }

    /** Returns whether every value is a float. */
    public boolean areFloats() {
        return floats != null;
    }

    /** Returns where the first value is that is not finite, counted row by row; -1 where all are. */
    public int firstNotFinite() {
        int[] first = new int[(rows + BLOCK - 1) / BLOCK];
        Cores.each(first.length, (double) rows * columns, part -> {
            int end = Math.min((part + 1) * BLOCK, rows) * columns;
            first[part] = firstNotFinite(part * BLOCK * columns, end);
        });
        return Arrays.stream(first).filter(at -> at >= 0).findFirst().orElse(-1);
    }

    private int firstNotFinite(int from, int end) {
        float[] single = floats;
        if (single == null) {
            double[] values = all();
            for (int at = from; at < end; at++) {
                if (!(Math.abs(values[at]) <= Double.MAX_VALUE)) {
                    return at;
                }
            }
            return -1;
        }
        for (int at = from; at < end; at++) {
            if (!(Math.abs(single[at]) <= Float.MAX_VALUE)) {
                return at;
            }
        }
        return -1;
    }

    public double get(int row, int column) {
        return value(row * columns + column);
    }

    private double value(int at) {
        return floats != null ? floats[at] : all()[at];
    }

    private double[] all() {
        if (doubles == null) {
            throw new IllegalStateException("held as floats");
        }
        return doubles;
    }

    /** Copies {@code count} values, {@code from} counted row by row. */
    public void copyTo(int from, double[] target, int at, int count) {
        float[] single = floats;
        if (single == null) {
            System.arraycopy(all(), from, target, at, count);
            return;
        }
        loops().widen(single, from, target, at, count);
    }

    /**
     * Puts {@code count} values at the buffer's position as float32 in its byte order, rounded to nearest where they
     * are none.
     */
    public void putFloats(int from, int count, ByteBuffer target) {
        if (floats != null) {
            target.asFloatBuffer().put(floats, from, count);
            target.position(target.position() + count * Float.BYTES);
            return;
        }
        double[] values = all();
        for (int i = from; i < from + count; i++) {
            target.putFloat((float) values[i]);
        }
    }

    /** Rows {@code from .. to-1}, copied. */
    public Matrix rowRange(int from, int to) {
        Matrix part = Matrix.zeros(to - from, columns);
        copyTo(from * columns, part.values(), 0, part.values().length);
        return part;
    }

    /** Returns all of it in float64, copied: {@code 8 rows columns} bytes. */
    public Matrix toMatrix() {
        return rowRange(0, rows);
    }

    public Weights transpose() {
        if (floats == null) {
            return new Weights(columns, rows, null, toMatrix().transpose().values());
        }
        float[] transposed = new float[floats.length];
        for (int i = 0; i < rows; i++) {
            for (int j = 0; j < columns; j++) {
                transposed[j * rows + i] = floats[i * columns + j];
            }
        }
        return ofFloats(columns, rows, transposed);
    }

    /**
     * Returns this, or its transpose, laid out for products in float32; null where a value is no float, or too large
     * for their sums.
     */
    public @Nullable PackedFloatMatrix packedFloats(boolean transposed) {
        float[] single = floats;
        return single == null || !PackedFloatMatrix.holds(single)
                ? null
                : UpdateKernels.kernel().packFloats(new Floats(single, rows, columns, transposed));
    }

    /** Returns this, or its transpose, laid out for products in float64. */
    public PackedMatrix packed(boolean transposed) {
        Matrix wide = floats == null ? new Matrix(rows, columns, all()) : toMatrix();
        return UpdateKernels.kernel().pack(transposed ? wide.transposedView() : wide.view());
    }

    /** Floats row by row, or the transpose of these. */
    private record Floats(float[] values, int storedRows, int storedColumns, boolean transposed) implements MatrixRows {
        @Override
        public int rows() {
            return transposed ? storedColumns : storedRows;
        }

        @Override
        public int columns() {
            return transposed ? storedRows : storedColumns;
        }

        @Override
        public void copyRow(int row, int column, double[] target, int at, int count) {
            int from = transposed ? column * storedColumns + row : row * storedColumns + column;
            int step = transposed ? storedColumns : 1;
            for (int j = 0; j < count; j++) {
                target[at + j] = values[from + j * step];
            }
        }
    }

    /** Computes {@code y[at ..] += factor * row}. */
    public void addRow(double factor, int row, double[] y, int at) {
        addRow(factor, row, 0, columns, y, at);
    }

    /** Computes {@code y[at ..] += factor * row} for {@code count} columns from {@code column} on. */
    public void addRow(double factor, int row, int column, int count, double[] y, int at) {
        float[] single = floats;
        int from = row * columns + column;
        if (single == null) {
            Kernels.addScaled(factor, all(), from, y, at, count);
            return;
        }
        loops().add(factor, single, from, y, at, count);
    }

    /** The inner product of a row and one of {@code other}, of as many columns, in interleaved partial sums. */
    public double dot(int row, Weights other, int otherRow) {
        float[] x = floats;
        float[] y = other.floats;
        int xAt = row * columns;
        int yAt = otherRow * columns;
        if (x == null || y == null) {
            double[] one = rowRange(row, row + 1).values();
            double[] two = other.rowRange(otherRow, otherRow + 1).values();
            return Kernels.dot(one, 0, two, 0, columns);
        }
        return loops().dot(x, xAt, y, yAt, columns);
    }

    /** Returns {@code W B}, rows x p for B of columns x p; {@code 2 rows columns p} flops. */
    public Matrix multiply(Matrix b) {
        if (columns != b.rows()) {
            throw new IllegalArgumentException(
                    "inner sizes differ: %d x %d and %d x %d".formatted(rows, columns, b.rows(), b.columns()));
        }
        Matrix product = Matrix.zeros(rows, b.columns());
        PackedMatrix factor = Kernels.pack(b.view(), rows);
        Cores.each((rows + BLOCK - 1) / BLOCK, part -> {
            int from = part * BLOCK;
            Matrix block = rowRange(from, Math.min(from + BLOCK, rows));
            factor.multiply(block.view(), product.values(), from * b.columns(), b.columns());
        });
        return product;
    }

    /** Returns the loops for float rows: those of the kernel for large weights, plain ones for small weights. */
    private FloatRowOps loops() {
        return rows * columns < LEAST_FOR_KERNEL ? PLAIN : OfProcess.LOOPS;
    }

    private static final class OfProcess {
        static final FloatRowOps LOOPS = UpdateKernels.kernel().floatRowOps();
    }

    /** Compares by content. */
    @Override
    public boolean equals(Object other) {
        return other instanceof Weights weights
                && rows == weights.rows
                && columns == weights.columns
                && Arrays.equals(floats, weights.floats)
                && Arrays.equals(doubles, weights.doubles);
    }

    @Override
    public int hashCode() {
        return 31 * (31 * rows + columns) + 31 * Arrays.hashCode(floats) + Arrays.hashCode(doubles);
    }

    @Override
    public String toString() {
        return "Weights[%d x %d, %s]".formatted(rows, columns, floats != null ? "float32" : "float64");
    }
}
