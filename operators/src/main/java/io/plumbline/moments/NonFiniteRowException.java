package io.plumbline.moments;

/**
 * Thrown when a batch is refused because one of its values is NaN, infinite, or so large that a sum of its squares
 * would be infinite. Nothing of the batch was added.
 */
public final class NonFiniteRowException extends IllegalArgumentException {

    private static final long serialVersionUID = 1L;

    private final int row;
    private final int column;
    private final double value;

    public NonFiniteRowException(int row, int column, double value) {
        super("row %d, column %d is %s%s; the batch was not added"
                .formatted(row, column, value, Double.isFinite(value) ? ", which is too large to square and sum" : ""));
        this.row = row;
        this.column = column;
        this.value = value;
    }

    /** Row of the first offending value within the batch, from 0. */
    public int row() {
        return row;
    }

    /** Returns the column that holds the value, from 0. */
    public int column() {
        return column;
    }

    public double value() {
        return value;
    }
}
