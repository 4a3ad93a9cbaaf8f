package io.plumbline.linalg.kernel;

import io.plumbline.parallel.Cores;

/**
 * The right-hand matrix B (m x p) of products {@code bias + A B} whose rows are looked at once and never stored: B is
 * held as floats, which is what it was, and its products come in tiles.
 *
 * <p>Values of A are rounded to floats. Products of {@value #INNER} entries are summed in registers, and these sums are
 * added up one after the other. An entry errs by at most {@code (INNER + m / INNER + 3) 2^-24 (|bias| + Σ |a_h b_h|)}
 * plus what vanishes below {@code 2^-149}: adding up the sums of 128 products in float64 would take {@code m / INNER}
 * from the bracket, 6 of 137 at m = 768 and 16 of 147 at 2,048, so it is not done. The plain twin sums in float64 and
 * rounds the result.
 *
 * <p>Every entry is summed in the same order whatever rows are multiplied together and by however many threads: rows
 * are independent to the last bit.
 *
 * <p><b>Size.</b> {@code 4 m p} bytes, {@code p} rounded up to a multiple of 48. Immutable and thread-safe.
 */
public abstract class PackedFloatMatrix {

    /**
     * The number of products that are summed in registers; so much of a strip of B stays in a first-level cache of 32
     * KiB.
     */
    static final int INNER = 128;

    /** Most rows of A that are worked on together. */
    public static final int BLOCK_ROWS = 384;

    /**
     * Entries of A that are worked on together, 2.25 MiB: for each block all of B passes by, from memory. Larger blocks
     * were faster even at three times a second-level cache of 2 MiB; but they are read again for each strip of B, from
     * a cache that others may share.
     */
    private static final int BLOCK_ENTRIES = 288 * 2_048;

    private static final int LEAST_BLOCK_ROWS = 144;

    private static final int LEAST_ROWS = 48;

    /** Whole tiles of every shape. */
    private static final int STEP = 24;

    private final int rows;
    private final int columns;

    PackedFloatMatrix(int rows, int columns) {
        this.rows = rows;
        this.columns = columns;
    }

    final int rows() {
        return rows;
    }

    final int columns() {
        return columns;
    }

    /** Returns whether these are numbers, and small enough for their sums. */
    public static boolean holds(float[] values) {
        for (float value : values) {
            if (!(Math.abs(value) <= FloatPanel.LARGEST)) {
                return false;
            }
        }
        return true;
    }

    /**
     * Returns how many of {@code rows} to hand to {@link #multiply} together, so that each core has as many blocks as
     * the others. The bits do not depend on it.
     */
    public final int blockRows(int rows) {
        int threads = Cores.threads();
        int most = Math.min(BLOCK_ROWS, Math.max(LEAST_BLOCK_ROWS, BLOCK_ENTRIES / Math.max(1, this.rows)));
        int rounds = (rows + most * threads - 1) / (most * threads);
        int even = (rows + rounds * threads - 1) / Math.max(1, rounds * threads);
        return Math.min(most / STEP * STEP, Math.max(LEAST_ROWS, (even + STEP - 1) / STEP * STEP));
    }

    /** Takes what was made of a few columns of one row. */
    @FunctionalInterface
    public interface Sink {
        /**
         * Takes columns {@code column .. column + count - 1} of {@code row}, which are {@code values[at ..]}; they are
         * overwritten next.
         */
        void take(int row, int column, float[] values, int at, int count);

        /** Returns a level for a row: columns may be left out where none of their values is above it. */
        default float level(int row) {
            return Float.NEGATIVE_INFINITY;
        }
    }

    /**
     * Hands {@code bias + A B} to {@code sink}, every row from its first column to its last, rows in between each
     * other, but for what {@link Sink#level} leaves out. Values of A beyond {@link FloatPanel#LARGEST} leave float32.
     * {@code 2 n m p} flops.
     *
     * @param a at most {@value #BLOCK_ROWS} rows
     */
    public final void multiply(MatrixView a, float[] bias, Sink sink) {
        if (a.columns() != rows || bias.length != columns || a.rows() > BLOCK_ROWS) {
            throw new IllegalArgumentException("a product of %d x %d and %d x %d, %d biases, at most %d rows"
                    .formatted(a.rows(), a.columns(), rows, columns, bias.length, BLOCK_ROWS));
        }
        tiles(a, bias, sink);
    }

    abstract void tiles(MatrixView a, float[] bias, Sink sink);
}
