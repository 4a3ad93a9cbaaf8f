package io.plumbline.linalg.kernel;

/**
 * Rows of doubles, laid out as an {@link UpdateKernel} wants them, waiting to be added to a second moment: the twin of
 * {@link FloatPanel} for values that are no floats, at half its speed.
 *
 * <p><b>Accuracy.</b> Entry (i, j) of a panel of n rows errs by at most {@code (n + 1) 2^-53 Σ |x_i x_j|}; sums of
 * integers below 2^53 are exact, in any order.
 *
 * <p><b>Size.</b> {@code 8 d} bytes for each row of its capacity. Not thread-safe; one owner.
 */
public abstract class DoublePanel {

    /** Most rows a panel may hold. */
    public static final int ROWS = 128;

    private final int dimension;
    private final int capacity;
    private final int stretch;
    private int rows;

    DoublePanel(int dimension, int capacity, int stretch) {
        if (capacity < 1 || capacity > ROWS) {
            throw new IllegalArgumentException("a panel of %d rows: expected 1 to %d".formatted(capacity, ROWS));
        }
        this.dimension = dimension;
        this.capacity = capacity;
        this.stretch = stretch;
    }

    /** The array that holds a row. */
    abstract double[] array(int row);

    /** Returns where in {@link #array} a column of a row is; {@code column} is the first of a stretch. */
    abstract int index(int row, int column);

    /** Returns how many columns lie side by side. The last stretch of a row may be shorter. */
    final int stretch() {
        return stretch;
    }

    final int dimension() {
        return dimension;
    }

    /** Rows that are filled, and so the number of the next one. */
    final int rows() {
        return rows;
    }

    final int capacity() {
        return capacity;
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
    public final void add(double[] source, int from) {
        double[] target = array(rows);
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
        if (rows > 0) {
            addSums(state);
            addProducts(state, dimension, rows);
            rows = 0;
        }
    }

    private void addSums(double[] sums) {
        for (int column = 0; column < dimension; column += stretch) {
            int length = Math.min(stretch, dimension - column);
            for (int row = 0; row < rows; row++) {
                double[] values = array(row);
                int at = index(row, column);
                for (int j = 0; j < length; j++) {
                    sums[column + j] += values[at + j];
                }
            }
        }
    }

    /**
     * Computes {@code packed[offset ..] += X^T X} of the first {@code count} rows: entry (i, j), j <= i, at
     * {@code i (i + 1) / 2 + j}.
     */
    abstract void addProducts(double[] packed, int offset, int count);
}
