package io.plumbline.moments;

import io.plumbline.linalg.Matrix;
import io.plumbline.wire.EncodedRows;

/**
 * The few directions along which the rows of a request are added up: what is kept of it is {@code B sum x} with a basis {@code B} of p
 * rows.
 *
 * <p><b>Cost.</b> The rows are summed first, {@code n d} additions, and only their sum is multiplied, {@code 2 p d} flops a record: at
 * d = 768 and p = 128 some hundredth of what the second moment of 64 rows costs.
 * <p><b>Accuracy.</b> All in double; on integer-valued rows and basis every sum below {@code 2^53} is exact, in any order.
 * <p><b>Size.</b> {@code 8 p d} bytes. Immutable and thread-safe.
 */
public final class RequestProjection {

    /** The most directions: totals of as many requests as are kept stay a few megabytes. */
    public static final int MOST_COMPONENTS = 1_024;

    /** Larger entries are refused: sums of activations times them could leave the range of double. */
    private static final double LARGEST_ENTRY = 1e100;

    /** Rows of the transposed basis that are multiplied in one pass through the sums. */
    private static final int TOGETHER = 4;

    /**
     * Names a projection; sums under two of them must not be added up.
     *
     * @param hash of the bits of its basis
     * @param components how many numbers it gives
     */
    public record Id(long hash, int components) {
        public Id {
            if (components < 1 || components > MOST_COMPONENTS) {
                throw new IllegalArgumentException(
                        "a projection to %d components: expected 1 to %d".formatted(components, MOST_COMPONENTS));
            }
        }
    }

    private final Id id;
    private final int dimension;

    /** Column after column of the basis: so that the inner loop runs over the components, which do not depend on each other. */
    private final double[] byColumn;

    private RequestProjection(Id id, int dimension, double[] byColumn) {
        this.id = id;
        this.dimension = dimension;
        this.byColumn = byColumn;
    }

    /**
     * The projection {@code x -> basis x}; the matrix is copied.
     *
     * @param basis p x d, of any rows: orthonormal or not
     */
    public static RequestProjection of(Matrix basis) {
        long hash = SplitMix.mix(basis.columns());
        for (double value : basis.values()) {
            // Written so that NaN fails it.
            if (!(Math.abs(value) <= LARGEST_ENTRY)) {
                throw new IllegalArgumentException(
                        "a basis of requests holds %s: expected numbers up to 1e100 in size".formatted(value));
            }
            hash = SplitMix.mix(hash ^ Double.doubleToLongBits(value));
        }
        return new RequestProjection(
                new Id(hash, basis.rows()), basis.columns(), basis.transpose().values());
    }

    public Id id() {
        return id;
    }

    /** How many numbers it gives. */
    public int components() {
        return id.components();
    }

    /** The width of the rows it takes. */
    public int dimension() {
        return dimension;
    }

    /** Adds the projected sum of all {@code rows} to {@code sum}; nothing is allocated per row. */
    public void add(EncodedRows rows, double[] sum) {
        requireWidths(rows.columns(), sum);
        double[] total = new double[dimension];
        rows.addRowsTo(total);
        project(total, sum);
    }

    /** Adds the projected sum of all {@code rows} to {@code sum}. */
    public void add(Matrix rows, double[] sum) {
        requireWidths(rows.columns(), sum);
        double[] total = new double[dimension];
        double[] values = rows.values();
        for (int from = 0; from < values.length; from += dimension) {
            for (int j = 0; j < dimension; j++) {
                total[j] += values[from + j];
            }
        }
        project(total, sum);
    }

    private void project(double[] row, double[] sum) {
        int components = id.components();
        int column = 0;
        for (; column <= dimension - TOGETHER; column += TOGETHER) {
            addColumns(column * components, row[column], row[column + 1], row[column + 2], row[column + 3], sum);
        }
        for (; column < dimension; column++) {
            double value = row[column];
            for (int i = 0; i < components; i++) {
                sum[i] += value * byColumn[column * components + i];
            }
        }
    }

    private void addColumns(int at, double first, double second, double third, double fourth, double[] sum) {
        int components = id.components();
        double[] basis = byColumn;
        int at2 = at + components;
        int at3 = at2 + components;
        int at4 = at3 + components;
        for (int i = 0; i < components; i++) {
            sum[i] +=
                    first * basis[at + i] + second * basis[at2 + i] + third * basis[at3 + i] + fourth * basis[at4 + i];
        }
    }

    private void requireWidths(int columns, double[] sum) {
        if (columns != dimension || sum.length != id.components()) {
            throw new IllegalArgumentException(
                    "rows of %d values and a sum of %d: this projection takes rows of %d and gives %d; nothing was added"
                            .formatted(columns, sum.length, dimension, id.components()));
        }
    }
}
