package io.plumbline.linalg.kernel;

import io.plumbline.parallel.Cores;
import io.plumbline.parallel.SharedWork;
import java.util.Arrays;

/**
 * Up to {@link #capacity} rows of floats, laid out as an {@link UpdateKernel} wants them, waiting to be added to a
 * second moment.
 *
 * <p>Writers fill it stretch by stretch: columns {@code k stretch .. (k + 1) stretch - 1} of a row lie side by side in
 * {@link #array}, from {@link #index} on. So a decoder of bytes writes straight into the kernel's layout.
 *
 * <p><b>Batches.</b> {@value #ROWS} rows are one batch. A wide moment is read and written once for several of them,
 * one added after the other: the moment is the same to the last bit, however many a panel holds.
 *
 * <p><b>Cores.</b> Of rows of some 280 columns and more other cores add parts of the moment, as far as they are free
 * and {@link Cores} lets them: the bits are the same.
 *
 * <p><b>Accuracy.</b> Products and their sums over the rows of one batch are float32, the sum over batches is float64.
 * Entry (i, j) of one batch errs by at most {@code 128 * 2^-24 Σ |x_i x_j|}, and by much less on average, since
 * rounding errors differ in sign. Sums of integers are exact while {@code Σ |x_i x_j| <= 2^24}, so for rows of integers
 * up to {@value #LARGEST_EXACT_INTEGER} in size.
 *
 * <p><b>Range.</b> Values beyond {@link #LARGEST} could leave float32 when multiplied and summed: whoever fills a panel
 * keeps them out. Products below {@code 2^-149} vanish.
 *
 * <p><b>Size.</b> {@code 512 d} bytes up to d = {@value #NARROW}, {@code 2,048 d} beyond. Not thread-safe; one owner.
 */
public abstract class FloatPanel {

    /** Rows of a batch: products of so many rows are summed in registers before they are added to the moment. */
    public static final int ROWS = 128;

    /** The width up to which a moment, of 1 MB, fits a second-level cache: rows that wait would be more than it is. */
    static final int NARROW = 512;

    /** Batches that a panel of wide rows holds. */
    static final int MOST_BATCHES = 4;

    /**
     * Rows of the moment that one core adds before it takes the next: some 50 microseconds' work for a batch. Whole
     * tiles of any kernel.
     */
    static final int ROWS_OF_PART = 48;

    /** The largest integer whose products are exact: {@code 128 * 362^2 <= 2^24}. */
    public static final int LARGEST_EXACT_INTEGER = 362;

    /** The largest value that is taken: {@code 128 * (2^60)^2 < 2^128}. */
    public static final float LARGEST = 0x1p60f;

    private final int dimension;
    private final int stretch;
    private final int capacity;
    private int rows;

    private final SharedWork shared = new SharedWork(this::addPart);

    // What is being added, and to what.
    private double[] batchState = {};
    private int batchRows;

    FloatPanel(int dimension, int stretch) {
        this.dimension = dimension;
        this.stretch = stretch;
        this.capacity = capacity(dimension);
    }

    /** Rows a panel of this width holds. */
    public static int capacity(int dimension) {
        return dimension <= NARROW ? ROWS : MOST_BATCHES * ROWS;
    }

    /** The array that holds a row. */
    public abstract float[] array(int row);

    /** Returns where in {@link #array} a column of a row is; {@code column} is the first of a stretch. */
    public abstract int index(int row, int column);

    /** Returns how many columns lie side by side. The last stretch of a row may be shorter. */
    public final int stretch() {
        return stretch;
    }

    final int dimension() {
        return dimension;
    }

    /** Rows that are filled, and so the number of the next one. */
    public final int rows() {
        return rows;
    }

    public final boolean isFull() {
        return rows == capacity;
    }

    /** Says that row number {@link #rows} has been written. */
    public final void rowWritten() {
        if (rows == capacity) {
            throw new IllegalStateException("a panel holds %d rows; drain it first".formatted(capacity));
        }
        rows++;
    }

    /** Writes the next row. */
    public final void add(float[] source, int from) {
        float[] target = array(rows);
        for (int column = 0; column < dimension; column += stretch) {
            System.arraycopy(source, from + column, target, index(rows, column), Math.min(stretch, dimension - column));
        }
        rowWritten();
    }

    /**
     * Adds the rows to {@code state}, which is {@code [ sum of rows (d) | packed lower triangle (d(d+1)/2) ]}, and
     * empties the panel.
     */
    public final void drainTo(double[] state) {
        int count = rows;
        rows = 0;
        if (count > 0) {
            if (count % 2 > 0) {
                clear(count);
            }
            batchState = state;
            batchRows = count;
            double flops = (double) count * dimension * (dimension + 1);
            shared.each(1 + parts(), Cores.areWorthSharing(flops) ? Cores.threads() : 1);
        }
    }

    /** Makes a row zeros: loops that take two rows at a time take it for the second of the last two. */
    private void clear(int row) {
        for (int column = 0; column < dimension; column += stretch) {
            int at = index(row, column);
            Arrays.fill(array(row), at, at + Math.min(stretch, dimension - column), 0f);
        }
    }

    private void addPart(int part) {
        if (part == 0) {
            addSums(batchState, batchRows);
        } else {
            addProducts(batchState, dimension, batchRows, part - 1);
        }
    }

    /**
     * Computes {@code sums[j] += x_j} of the first {@code count} rows, one row after the other: twins agree to the last
     * bit.
     */
    abstract void addSums(double[] sums, int count);

    /** Returns how many parts the products fall into: the same for all panels of this width. */
    abstract int parts();

    /**
     * Computes {@code packed[offset ..] += X^T X} of the first {@code count} rows, batch after batch: entry (i, j), j
     * <= i, at {@code i (i + 1) / 2 + j}. Every entry belongs to one part, and parts may be added at the same time.
     */
    abstract void addProducts(double[] packed, int offset, int count, int part);
}
