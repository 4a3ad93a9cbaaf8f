package io.plumbline.records;

import io.plumbline.linalg.Matrix;
import io.plumbline.linalg.kernel.BrainPanel;
import io.plumbline.linalg.kernel.FloatPanel;
import io.plumbline.wire.DType;
import io.plumbline.wire.Tensor;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.VarHandle;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.FloatBuffer;
import org.jspecify.annotations.Nullable;

/**
 * Rows of floating-point numbers as they lie in a record, F64, F32, F16 or BF16. Nothing is decoded before somebody
 * asks for it, and then into the asker's own array: on their way into a moment the rows are never copied as a whole.
 *
 * <p><b>Cost.</b> {@link #fitFloatPanel} reads the bytes once, eight at a time, and remembers the answer. {@link #copy}
 * of F32 is a copy of bytes.
 *
 * <p><b>Threads.</b> The bytes are not copied and must not be changed; then any number of threads may read.
 */
public final class EncodedRows {

    private static final VarHandle LONGS = MethodHandles.byteArrayViewVarHandle(long[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle SHORTS =
            MethodHandles.byteArrayViewVarHandle(short[].class, ByteOrder.LITTLE_ENDIAN);
    private static final VarHandle INTS = MethodHandles.byteArrayViewVarHandle(int[].class, ByteOrder.LITTLE_ENDIAN);

    /** The number of rows whose sum is taken in float32. */
    private static final int TOGETHER = 16;

    private final Tensor tensor;
    private final byte[] bytes;
    private final int offset;
    private final int columns;
    private final @Nullable FloatBuffer floats;
    private final int @Nullable [] kept;
    private @Nullable Boolean fits;
    private @Nullable Boolean fitsBrains;

    private EncodedRows(Tensor tensor, byte[] bytes, int offset, @Nullable FloatBuffer floats, int @Nullable [] kept) {
        this.tensor = tensor;
        this.bytes = bytes;
        this.offset = offset;
        this.columns = tensor.size(1);
        this.floats = floats;
        this.kept = kept;
    }

    /** @param tensor of two dimensions and a floating-point type, in memory */
    static EncodedRows of(Tensor tensor) {
        ByteBuffer memory = tensor.memory();
        return new EncodedRows(
                tensor,
                memory.array(),
                memory.arrayOffset(),
                tensor.dtype() == DType.F32 ? memory.asFloatBuffer() : null,
                null);
    }

    /** Returns these rows alone, in this order; still nothing is decoded. */
    EncodedRows keep(int[] rows) {
        int[] of = new int[rows.length];
        for (int i = 0; i < rows.length; i++) {
            of[i] = number(rows[i]);
        }
        return new EncodedRows(tensor, bytes, offset, floats, of);
    }

    public int rows() {
        return kept == null ? tensor.size(0) : kept.length;
    }

    public int columns() {
        return columns;
    }

    /** Returns whether the numbers are of 16 bits. */
    public boolean isShort() {
        return tensor.dtype() == DType.F16 || tensor.dtype() == DType.BF16;
    }

    /** All rows as doubles, which is exact. */
    public Matrix toMatrix() {
        if (kept == null) {
            return tensor.toMatrix();
        }
        Matrix matrix = Matrix.zeros(kept.length, columns);
        for (int row = 0; row < kept.length; row++) {
            copy(row, matrix.values(), row * columns);
        }
        return matrix;
    }

    /** Returns a row as floats; F64 rounds to nearest. */
    public float[] row(int row) {
        float[] values = new float[columns];
        copy(row, 0, values, 0, columns);
        return values;
    }

    /** Decodes {@code count} values of a row from {@code column} on; F64 rounds to nearest. */
    public void copy(int row, int column, float[] target, int at, int count) {
        int from = number(row) * columns + column;
        switch (tensor.dtype()) {
            case F32 -> floats().get(from, target, at, count);
            case F16 -> {
                for (int j = 0; j < count; j++) {
                    target[at + j] = DType.fromHalf(shortAt(from + j));
                }
            }
            case BF16 -> {
                for (int j = 0; j < count; j++) {
                    target[at + j] = DType.fromBrain(shortAt(from + j));
                }
            }
            case F64 -> {
                for (int j = 0; j < count; j++) {
                    target[at + j] = (float) doubleAt(from + j);
                }
            }
            case I64, I32 -> throw notFloating();
        }
    }

    /** Copies a row of 16-bit numbers as its bytes. */
    public void copyBytes(int row, byte[] target, int at) {
        System.arraycopy(bytes, offset + Short.BYTES * number(row) * columns, target, at, Short.BYTES * columns);
    }

    /** Decodes a row as doubles, which is exact. */
    public void copy(int row, double[] target, int at) {
        int from = number(row) * columns;
        for (int j = 0; j < columns; j++) {
            target[at + j] = value(from + j);
        }
    }

    /**
     * Adds all rows, in their order, to {@code sum[at ..]}.
     *
     * <p><b>Cost.</b> {@code n d} additions and two rows of memory. <b>Accuracy.</b> Rows that {@link #fitFloatPanel}
     * are added up in float32 by {@value #TOGETHER} at most and then in double, which is several times as fast: an
     * error of at most {@code 2^-20} of the values' mean size, and none on integers up to {@code 2^20}. Others are
     * added in double.
     */
    public void addRowsTo(double[] sum, int at) {
        if (!fitFloatPanel()) {
            double[] row = new double[columns];
            for (int i = 0; i < rows(); i++) {
                copy(i, row, 0);
                for (int j = 0; j < columns; j++) {
                    sum[at + j] += row[j];
                }
            }
            return;
        }
        float[] row = new float[columns];
        float[] few = new float[columns];
        for (int from = 0; from < rows(); from += TOGETHER) {
            int to = Math.min(from + TOGETHER, rows());
            copy(from, 0, few, 0, columns);
            for (int i = from + 1; i < to; i++) {
                copy(i, 0, row, 0, columns);
                addTo(few, row);
            }
            for (int j = 0; j < columns; j++) {
                sum[at + j] += few[j];
            }
        }
    }

    /** Adds a row in a loop of its own, which the compiler turns into vector instructions. */
    private static void addTo(float[] sum, float[] row) {
        for (int j = 0; j < row.length; j++) {
            sum[j] += row[j];
        }
    }

    /** Returns one value, exactly. */
    public double value(int row, int column) {
        return value(number(row) * columns + column);
    }

    /**
     * Returns whether every value can enter a {@link FloatPanel}: it is a float, finite, and at most
     * {@link FloatPanel#LARGEST} in size. Never so for F64.
     */
    public boolean fitFloatPanel() {
        Boolean known = fits;
        if (known == null) {
            known = computeFit();
            fits = known;
        }
        return known;
    }

    /** Returns whether every value is of bfloat16 and can enter a {@link BrainPanel}. Two passes, where it is. */
    public boolean fitBrainPanel() {
        Boolean known = fitsBrains;
        if (known == null) {
            known = tensor.dtype() == DType.BF16
                    && areAtMost(Float.floatToIntBits(BrainPanel.LARGEST) >>> Short.SIZE, Short.SIZE)
                    && areZeroOrNormal();
            fitsBrains = known;
        }
        return known;
    }

    /**
     * Returns whether no 16-bit magnitude is between 0 and that of {@link BrainPanel#SMALLEST}: the sum with the first
     * number reaches the sign bit if it is not 0, with the second if it is large enough.
     */
    private boolean areZeroOrNormal() {
        long ones = 0x0001_0001_0001_0001L;
        long magnitudes = ones * Short.MAX_VALUE;
        long large = ones * ((1 << (Short.SIZE - 1)) - (Float.floatToIntBits(BrainPanel.SMALLEST) >>> Short.SIZE));
        long small = 0;
        for (int row = 0; row < rows(); row++) {
            int at = offset + Short.BYTES * number(row) * columns;
            int end = at + Short.BYTES * columns;
            for (; at <= end - Long.BYTES; at += Long.BYTES) {
                long sizes = (long) LONGS.get(bytes, at) & magnitudes;
                small |= (sizes + magnitudes) & ~(sizes + large);
            }
            for (; at < end; at += Short.BYTES) {
                long size = (short) SHORTS.get(bytes, at) & Short.MAX_VALUE;
                small |= (size + Short.MAX_VALUE) & ~(size + large) & (1L << (Short.SIZE - 1));
            }
        }
        return (small & ~magnitudes) == 0;
    }

    private boolean computeFit() {
        return switch (tensor.dtype()) {
            case F32 -> areAtMost(Float.floatToIntBits(FloatPanel.LARGEST), Integer.SIZE);
            // The largest finite one: far below what a panel takes.
            case F16 -> areAtMost(0x7BFF, Short.SIZE);
            case BF16 -> areAtMost(Float.floatToIntBits(FloatPanel.LARGEST) >>> Short.SIZE, Short.SIZE);
            case F64 -> false;
            case I64, I32 -> throw notFloating();
        };
    }

    /**
     * Returns whether no magnitude is above {@code largest}, as integers, which order floats as they are. The sum of a
     * magnitude and {@code excess} reaches the sign bit exactly if it is above, and never the next value: so eight
     * bytes are looked at in one go.
     */
    private boolean areAtMost(long largest, int bits) {
        long ones = bits == Integer.SIZE ? 0x0000_0001_0000_0001L : 0x0001_0001_0001_0001L;
        long signs = ones << (bits - 1);
        long excess = ones * ((1L << (bits - 1)) - 1 - largest);
        int width = bits / Byte.SIZE;
        if (kept == null) {
            return (seen(0, rows() * columns * width, width, ~signs, excess) & signs) == 0;
        }
        long seen = 0;
        for (int row : kept) {
            seen |= seen(row * columns * width, columns * width, width, ~signs, excess);
        }
        return (seen & signs) == 0;
    }

    private long seen(int from, int length, int width, long magnitudes, long excess) {
        long seen = 0;
        int at = offset + from;
        int end = at + length;
        for (; at <= end - Long.BYTES; at += Long.BYTES) {
            seen |= ((long) LONGS.get(bytes, at) & magnitudes) + excess;
        }
        for (; at < end; at += width) {
            long one = width == Integer.BYTES
                    ? Integer.toUnsignedLong((int) INTS.get(bytes, at))
                    : Short.toUnsignedLong((short) SHORTS.get(bytes, at));
            seen |= (one & magnitudes) + excess;
        }
        return seen;
    }

    /** The first value, row after row, that is NaN or larger than {@code largest} in size, or -1. */
    public long firstBeyond(double largest) {
        for (int row = 0; row < rows(); row++) {
            for (int column = 0; column < columns; column++) {
                // Written so that NaN fails it.
                if (!(Math.abs(value(row, column)) <= largest)) {
                    return (long) row * columns + column;
                }
            }
        }
        return -1;
    }

    private int number(int row) {
        return kept == null ? row : kept[row];
    }

    private double value(int index) {
        return switch (tensor.dtype()) {
            case F64 -> doubleAt(index);
            case F32 -> floats().get(index);
            case F16 -> DType.fromHalf(shortAt(index));
            case BF16 -> DType.fromBrain(shortAt(index));
            case I64, I32 -> throw notFloating();
        };
    }

    private short shortAt(int index) {
        return (short) SHORTS.get(bytes, offset + Short.BYTES * index);
    }

    private double doubleAt(int index) {
        return Double.longBitsToDouble((long) LONGS.get(bytes, offset + Double.BYTES * index));
    }

    private FloatBuffer floats() {
        FloatBuffer view = floats;
        if (view == null) {
            throw new IllegalStateException(tensor + " is not of F32");
        }
        return view;
    }

    private IllegalStateException notFloating() {
        return new IllegalStateException(tensor + ": expected a floating-point type");
    }
}
